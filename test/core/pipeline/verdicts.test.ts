import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { CorePlugin } from '../../../core/contract/plugin/core-plugin.ts';
import type { AttemptResponse, Hooks, Plugin, Verdict } from '../../../core/contract/plugin/plugin.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { guardPlugin } from '../../../core/plugin-host/guard-plugin.ts';
import { chatReply, chatStream, createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const denial = {
  status: 446,
  headers: ['content-type', 'application/json'],
  body: '{"error":{"message":"denied by a check"}}',
};

function judge(onAttemptResponse: NonNullable<Hooks['onAttemptResponse']>, reads: NonNullable<Plugin['reads']> = {}): CorePlugin {
  const plugin: Plugin = {
    apiVersion: 1,
    name: 'judge',
    stage: 'output-guardrails',
    reads,
    config: v.optional(v.unknown()),
    onConfig: () => ({ onAttemptResponse }),
  };
  return guardPlugin(plugin, { hookTimeoutMs: 5000 });
}

const whole = { response: 'body' } as const;
const text = ({ body }: AttemptResponse): string => (body === null ? '' : Buffer.from(body).toString());
/** Denies every response that contains the word. */
const denyWord =
  (word: string) =>
  (_ctx: unknown, response: AttemptResponse): Verdict | undefined =>
    text(response).includes(word) ? { action: 'deny', reply: denial, reason: `holds ${word}` } : undefined;

const twoTargets: JsonObject = {
  strategy: { mode: 'fallback', on_status_codes: [446] },
  targets: [{ provider: '@one' }, { provider: '@two' }],
};
const ask = (config: JsonObject, stream = false) => ({
  headers: { 'x-svc-config': JSON.stringify(config) },
  body: { model: 'gpt-5', messages: [], stream },
});

describe('a verdict about a whole response', () => {
  it('deny: the fallback continues with the next target, and the record holds both', async () => {
    const gateway = createHarness({ plugins: [judge(denyWord('secret'))] });
    gateway.script(replyWith(200, chatReply('a secret')), replyWith(200, chatReply('fine')));
    const sink = await gateway.send(ask(twoTargets));
    expect([sink.status, JSON.parse(sink.text).choices[0].message.content]).toEqual([200, 'fine']);
    expect(gateway.records).toMatchObject([
      {
        outcome: 'success',
        attempts: [
          { targetPath: 'config.targets[0]', status: 446, errorCode: 'response_denied' },
          { targetPath: 'config.targets[1]', status: 200, errorCode: null },
        ],
        verdicts: [
          { plugin: 'judge', targetPath: 'config.targets[0]', attempt: 0, action: 'deny', status: 446, reason: 'holds secret' },
        ],
      },
    ]);
  });

  it('deny: counts the tokens of the denied response in addition to those of the sent one', async () => {
    const sent = async (plugins: CorePlugin[], ...replies: JsonObject[]) => {
      const gateway = createHarness({ plugins });
      gateway.script(...replies.map((reply) => replyWith(200, reply)));
      await gateway.send(ask(twoTargets));
      const { inputTokens, outputTokens } = gateway.records[0] as { inputTokens: number; outputTokens: number };
      return { inputTokens, outputTokens };
    };
    const one = await sent([], chatReply('fine'));
    const both = await sent([judge(denyWord('secret'))], chatReply('secret'), chatReply('fine'));
    expect(one.inputTokens).toBeGreaterThan(0);
    expect(both).toEqual({ inputTokens: 2 * one.inputTokens, outputTokens: 2 * one.outputTokens });
  });

  it('deny: is retried if the status is listed', async () => {
    const gateway = createHarness({
      plugins: [judge(denyWord('secret'))],
      timers: {
        after: (_ms, go) => {
          const next = setImmediate(go);
          return () => clearImmediate(next);
        },
      },
    });
    gateway.script(replyWith(200, chatReply('secret')), replyWith(200, chatReply('fine')));
    const sink = await gateway.send(ask({ provider: '@one', retry: { attempts: 1, on_status_codes: [446] } }));
    expect([sink.status, gateway.calls.length, sink.header('x-svc-retry-attempt-count')]).toEqual([200, 2, '1']);
  });

  it('deny: sends the reply of the plugin if no target is left', async () => {
    const gateway = createHarness({ plugins: [judge(denyWord('secret'))] });
    gateway.script(replyWith(200, chatReply('secret')));
    const sink = await gateway.send(ask({ provider: '@one' }));
    expect([sink.status, sink.text]).toEqual([446, denial.body]);
    expect(gateway.records).toMatchObject([{ outcome: 'failed', status: 446, errorCode: 'response_denied' }]);
  });

  it('fail: ends with the error of the plugin if no target is left', async () => {
    const error = new GatewayError('upstream_invalid', { message: 'not the JSON that was asked for' });
    const gateway = createHarness({ plugins: [judge(() => ({ action: 'fail', error }))] });
    gateway.script(replyWith(200, chatReply('x')));
    const sink = await gateway.send(ask(twoTargets));
    expect([sink.status, JSON.parse(sink.text).error.message]).toEqual([502, 'not the JSON that was asked for']);
    expect(gateway.records[0]?.verdicts).toMatchObject([{ action: 'fail', status: 502 }]);
  });

  it('change: sends the changed body with its status', async () => {
    const masked = (_ctx: unknown, response: AttemptResponse): Verdict => ({
      action: 'change',
      body: text(response).replace('secret', '***'),
      status: 246,
    });
    const gateway = createHarness({ plugins: [judge(masked)] });
    gateway.script(replyWith(200, chatReply('a secret')));
    const sink = await gateway.send(ask({ provider: '@one' }));
    expect([sink.status, JSON.parse(sink.text).choices[0].message.content]).toEqual([246, 'a ***']);
    expect(gateway.records[0]?.verdicts).toMatchObject([{ action: 'change', status: 246 }]);
  });

  it('several plugins judge from the end of the chain to its beginning, each the result of the one before', async () => {
    const add = (name: string): CorePlugin => ({
      ...judge((_ctx, response) => ({ action: 'change', body: `${text(response)}${name}` })),
      name,
    });
    const gateway = createHarness({ plugins: [add('first'), add('second')] });
    gateway.script(replyWith(200, chatReply('x')));
    expect((await gateway.send(ask({ provider: '@one' }))).text).toMatch(/secondfirst$/);
  });

  it('is not requested for an error of the provider', async () => {
    const gateway = createHarness({ plugins: [judge(() => ({ action: 'deny', reply: denial }))] });
    gateway.script(replyWith(500, { error: { message: 'down' } }));
    expect((await gateway.send(ask({ provider: '@one' }))).status).toBe(500);
  });

  it('is not needed if the client leaves while a plugin decides: the record holds the attempt', async () => {
    let leave = (): void => {};
    const decide = (): Promise<Verdict> =>
      new Promise((resolve) => {
        leave();
        setImmediate(() => resolve({ action: 'pass' }));
      });
    const gateway = createHarness({ plugins: [judge(decide)] });
    gateway.script(replyWith(200, chatReply('x')));
    await gateway.send({
      ...ask({ provider: '@one' }),
      prepare: (sink) => {
        leave = () => sink.leave();
      },
    });
    expect(gateway.records).toMatchObject([{ outcome: 'aborted', status: 499, attempts: [{ status: 200 }] }]);
  });
});

describe('a verdict about a stream', () => {
  it('reads.response "body": denies it before the first byte, and the fallback continues', async () => {
    const gateway = createHarness({ plugins: [judge(denyWord('secret'), whole)] });
    gateway.script(chatStream(['a ', 'secret']), chatStream(['fine']));
    const sink = await gateway.send(ask(twoTargets, true));
    expect(sink.status).toBe(200);
    expect(sink.text).toContain('fine');
    expect(sink.text).not.toContain('secret');
    expect(gateway.records[0]?.verdicts).toMatchObject([{ action: 'deny' }]);
  });

  for (const [when, decide] of [
    ['at once', (verdict: Verdict) => verdict],
    ['later', (verdict: Verdict) => new Promise<Verdict>((resolve) => setImmediate(() => resolve(verdict)))],
  ] as const) {
    it(`judges a stream that is not held by its head, ${when}`, async () => {
      const bodies: unknown[] = [];
      const gateway = createHarness({
        plugins: [
          judge((ctx, { body }) => {
            bodies.push(body);
            return ctx.attempts.length === 0 ? decide({ action: 'deny', reply: denial }) : decide({ action: 'pass' });
          }),
        ],
      });
      gateway.script(chatStream(['first']), chatStream(['second']));
      const sink = await gateway.send(ask(twoTargets, true));
      expect(sink.text).toContain('second');
      expect(sink.text).not.toContain('first');
      expect(bodies).toEqual([null, null]);
      expect(gateway.records[0]).toMatchObject({ outcome: 'success', verdicts: [{ action: 'deny' }, { action: 'pass' }] });
    });
  }

  it('change of a stream that is not held is an error that names the plugin', async () => {
    const gateway = createHarness({ plugins: [judge(() => ({ action: 'change', body: 'x' }))] });
    gateway.script(chatStream(['secret']));
    const sink = await gateway.send(ask({ provider: '@one' }, true));
    expect([sink.status, sink.text]).toEqual([500, expect.stringContaining('plugin judge')]);
  });
});

describe('the services of third-party plugins', () => {
  it('are those of the contract and no others', async () => {
    let names: string[] = [];
    const plugin: Plugin = {
      apiVersion: 1,
      name: 'curious',
      stage: 'limits',
      config: v.optional(v.unknown()),
      onConfig(_config, _scope, services) {
        names = Object.keys(services).sort();
        const slot = services.slot<number>();
        return {
          onRequest: (ctx) => slot.set(ctx, 7),
          onReply: (ctx, head) => void head.headers.push('x-slot', String(slot.get(ctx))),
        };
      },
    };
    const gateway = createHarness({ plugins: [guardPlugin(plugin, { hookTimeoutMs: 1000 })] });
    const sink = await gateway.send(ask({ provider: '@one' }));
    expect(names).toEqual(['clock', 'countTokens', 'documents', 'fetch', 'log', 'newId', 'random', 'slot']);
    expect(sink.header('x-slot')).toBe('7');
  });
});
