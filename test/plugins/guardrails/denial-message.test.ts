import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const body = { model: 'm', messages: [{ role: 'user', content: 'a secret' }] };
const common = /^The guardrail checks defined in the config failed\. You can find more/;
const contains = { 'default.contains': { words: ['secret'], operator: 'none' } };

async function send(guardrails: JsonObject, path = '/v1/chat/completions') {
  const gateway = createHarness();
  gateway.script(replyWith(200, chatReply('the secret')));
  const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', ...guardrails }) };
  return await gateway.send({ path, headers, body });
}

describe('message of a guardrail', () => {
  it.each([['input_guardrails'], ['output_guardrails']])('%s: is the text of a denial', async (list) => {
    const sink = await send({ [list]: [{ ...contains, deny: true, message: 'Ask the help desk.' }] });
    expect(sink.status).toBe(446);
    expect(sink.json).toMatchObject({ error: { message: 'Ask the help desk.', type: 'hooks_failed' } });
  });

  it.each([['input_guardrails'], ['output_guardrails']])(
    '%s: a denied Messages call has the body of an Anthropic error',
    async (list) => {
      const { status, json } = await send(
        { [list]: [{ ...contains, deny: true, message: 'Ask the help desk.' }] },
        '/v1/messages',
      );
      expect(status).toBe(446);
      expect(json).toMatchObject({ type: 'error', error: { type: 'hooks_failed', message: 'Ask the help desk.' } });
    },
  );

  it('has the members of a Google error on paths of Google', async () => {
    const { status, json } = await send(
      { input_guardrails: [{ ...contains, deny: true, message: 'Ask the help desk.' }] },
      '/v1/v1beta/models/m:generateContent',
    );
    expect(status).toBe(446);
    const details = [{ reason: 'HOOKS_FAILED' }];
    expect(json.error).toMatchObject({ code: 446, status: 'FAILED_PRECONDITION', message: 'Ask the help desk.', details });
    expect(json).toHaveProperty('hook_results');
  });

  it('is the text of a denial with soft_deny_200', async () => {
    const sink = await send({
      input_guardrails: [{ ...contains, deny: true, soft_deny_200: true, message: 'Ask the help desk.' }],
    });
    expect(sink.status).toBe(200);
    expect(sink.json).toMatchObject({ choices: [{ message: { content: 'Ask the help desk.' } }] });
  });

  it.each<[string, JsonObject[], string | RegExp]>([
    [
      'that of the first guardrail that denies counts',
      [{ message: 'first' }, { deny: true }, { deny: true, message: 'second' }],
      'second',
    ],
    ['an empty one is not set', [{ deny: true, message: '' }], common],
    ['without one the common text stays', [{ deny: true }], common],
  ])('%s', async (_, rules, expected) => {
    const sink = await send({ input_guardrails: rules.map((rule) => ({ ...contains, ...rule })) });
    expect(sink.status).toBe(446);
    expect((sink.json.error as JsonObject).message).toMatch(expected);
  });

  it('is rejected above 1,000 characters, with its path', async () => {
    const sink = await send({ input_guardrails: [{ ...contains, deny: true, message: 'x'.repeat(1001) }] });
    expect(sink.status).toBe(400);
    expect(JSON.stringify(sink.json)).toContain('input_guardrails[0].message');
  });
});
