import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type CoreHooks, type CorePlugin, defineCorePlugin } from '../../../../core/contract/plugin/core-plugin.ts';
import { chatReply, chatStream, createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';

const body = { model: '@one/gpt-5', messages: [{ role: 'user', content: 'x'.repeat(40) }] };

function plugin(hooks: CoreHooks): CorePlugin {
  const config = v.optional(v.strictObject({}));
  return defineCorePlugin({
    ...{ name: 'own', stage: 'output-guardrails', config },
    reads: { response: 'chunks' },
    onConfig: () => hooks,
  }) as CorePlugin;
}

/** Sends a request whose provider replies, and returns its record. */
async function recordWith(hooks: CoreHooks, stream: boolean) {
  const harness = createHarness({ plugins: [plugin(hooks)] });
  harness.script(stream ? chatStream(['a', 'b', 'c']) : replyWith(200, chatReply('hello')));
  await harness.send({ method: 'POST', path: '/v1/chat/completions', body: { ...body, stream } });
  expect(harness.records).toHaveLength(1);
  return harness.records[0];
}

const boom = (): never => {
  throw new Error('boom');
};
const replies = (status: number) => () => ({ status, headers: ['content-type', 'text/plain'], body: 'instead' });
const later = (status: number) => async () => replies(status)();

describe('a response that no client receives has its usage and its price, if a plugin', () => {
  it.each<[string, CoreHooks]>([
    ['replaces it by an error', { onReply: replies(451) }],
    ['replaces it by an error later', { onReply: later(451) }],
    ['throws in onReply', { onReply: boom }],
    ['rejects in onReply', { onReply: async () => boom() }],
    ['throws in onReply and replies with an error', { onReply: boom, onError: replies(418) }],
    ['throws in onChunk', { onChunk: boom }],
    ['throws in onAttemptResponse', { onAttemptResponse: boom }],
  ])('%s', async (_title, hooks) => {
    for (const stream of [false, true]) {
      const record = await recordWith(hooks, stream);
      expect(record, String(stream)).toMatchObject({ outcome: 'failed' });
      expect(record?.inputTokens, String(stream)).toBeGreaterThanOrEqual(3);
      const call = { provider: 'openai', model: 'gpt-5', inputTokens: record?.inputTokens };
      expect(record?.discarded, String(stream)).toMatchObject([call]);
    }
  });
});

it('a request whose plugin replies with an error before the provider is called is refused', async () => {
  const record = await recordWith({ onAttempt: replies(451) }, false);
  expect(record).toMatchObject({ outcome: 'refused', status: 451, inputTokens: 0 });
});

it.each([
  ['at once', replies(203)],
  ['later', later(203)],
])('a response that a plugin replaces by another one %s has its usage', async (_title, onReply) => {
  expect(await recordWith({ onReply }, false)).toMatchObject({ outcome: 'success', status: 203, inputTokens: 3 });
  const streamed = await recordWith({ onReply }, true);
  expect(streamed).toMatchObject({ outcome: 'success', status: 203 });
  expect(streamed?.inputTokens).toBeGreaterThanOrEqual(3);
});

it.each([429, 500])('an error of the provider (%s) that a plugin replaces has no usage', async (status) => {
  const harness = createHarness({ plugins: [plugin({ onReply: replies(451) })] });
  harness.script(replyWith(status, { error: { message: 'no' } }));
  await harness.send({ method: 'POST', path: '/v1/proxy/v1/other', headers: { 'x-svc-provider': '@one' }, body });
  expect(harness.records).toMatchObject([{ status: 451, inputTokens: 0 }]);
  expect(harness.records[0]?.discarded).toBeUndefined();
});
