import { type CheckContext, defineCheck, definePlugin, type Extension, type PluginCheck } from 'svc-gateway/plugin';
import { chatReply, chatStream, createTestGateway, messagesReply, providerReply, type TestGateway } from 'svc-gateway/test-kit';
import * as v from 'valibot';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { checkPlugin } from '../../../core/plugin-host/check-plugin.ts';
import { checks as builtInChecks } from '../../../plugins/guardrails/checks/index.ts';

const started: TestGateway[] = [];
afterAll(() => Promise.all(started.map((gateway) => gateway.close())));

function start(check: Partial<PluginCheck>, hookTimeoutMs = 50): TestGateway {
  const whole = {
    id: 'topics',
    about: 'Rejects topics.',
    sides: ['input', 'output'],
    check: () => true,
    ...check,
  } as PluginCheck;
  const gateway = createTestGateway({ plugins: [{ apiVersion: 1, name: 'acme', checks: [whole] }], hookTimeoutMs });
  started.push(gateway);
  return gateway;
}
const input = (parameters: object = {}, more: object = { deny: true }) => ({
  input_guardrails: [{ 'acme.topics': parameters, ...more }],
});
const output = (parameters: object = {}, more: object = { deny: true }) => ({
  output_guardrails: [{ 'acme.topics': parameters, ...more }],
});
const withoutWar: Partial<PluginCheck> = { check: (text) => !text.includes('war') };

describe('checks of plugins', () => {
  it('pass and deny requests, with the record and the results of other checks', async () => {
    const gateway = start({ check: (text) => ({ verdict: !text.includes('war'), data: { found: 'war' } }) });
    expect((await gateway.send({ config: input(), text: 'peace' })).status).toBe(200);
    const denied = await gateway.send({ config: input(), text: 'war' });
    expect(denied.status).toBe(446);
    expect(denied.json).toMatchObject({
      hook_results: { before_request_hooks: [{ checks: [{ id: 'acme.topics', data: { found: 'war' } }] }] },
    });
    expect(denied.record.guardrails).toMatchObject([
      { verdict: false, deny: true, checks: [{ id: 'acme.topics', verdict: false }] },
    ]);
    expect(gateway.providerCalls).toHaveLength(1);
  });

  it('deny responses and streams before the first byte', async () => {
    const gateway = start(withoutWar);
    gateway.provider(providerReply(200, chatReply('a war')), chatStream(['a w', 'ar']));
    for (const stream of [false, true]) {
      const { status, text } = await gateway.send({ config: output(), stream });
      expect([status, text.includes('a w')]).toEqual([446, false]);
    }
  });

  it('replace each text for itself', async () => {
    const gateway = start({ changes: true, check: (text) => ({ verdict: true, text: text.replaceAll('war', '***') }) });
    gateway.provider(providerReply(200, chatReply('a war')));
    const content = [
      { type: 'text', text: 'one war' },
      { type: 'text', text: 'two' },
    ];
    const body = { model: '@openai/gpt-5', messages: [{ role: 'user', content }] };
    const reply = await gateway.send({ config: { ...input(), ...output() }, body });
    expect(reply.content).toBe('a ***');
    expect(gateway.providerCalls[0]?.body).toContain('[{"type":"text","text":"one ***"},{"type":"text","text":"two"}]');
  });

  it.each([
    ['the last message', {}, ['a war', 'a war', 'a ***']],
    ['every message and the system, with the scope all_messages', { scope: 'all_messages' }, ['a ***', 'a ***', 'a ***']],
  ])('change %s of a request of any format', async (_texts, parameters, expected) => {
    const gateway = start({ changes: true, check: (text) => ({ verdict: true, text: text.replaceAll('war', '***') }) });
    gateway.provider(providerReply(200, messagesReply('done')));
    const messages = ['user', 'user'].map((role) => ({ role, content: 'a war' }));
    const body = { model: 'claude', max_tokens: 10, system: 'a war', messages };
    const config = { provider: '@anthropic', ...input(parameters) };
    expect((await gateway.send({ config, path: '/v1/messages', body })).status).toBe(200);
    const sent = JSON.parse(gateway.providerCalls[0]?.body ?? '');
    expect([sent.system, ...sent.messages.map(({ content }: { content: string }) => content)]).toEqual(expected);
  });

  it('receive parameters, texts, model, metadata and services', async () => {
    const seen: CheckContext[] = [];
    const gateway = start({
      parameters: v.strictObject({ words: v.optional(v.array(v.string()), ['war']) }),
      async check(_text, context) {
        seen.push(context);
        const { body } = await context.services.fetch({ url: 'https://topics.example/' });
        return Buffer.from(body).toString() === 'yes';
      },
    });
    gateway.service('https://topics.example', () => ({ status: 200, body: 'yes' }));
    expect((await gateway.send({ config: input(), metadata: { team: 'red' } })).status).toBe(200);
    expect(seen).toMatchObject([
      { parameters: { words: ['war'] }, side: 'input', texts: ['hi'], requestType: 'chatComplete', metadata: { team: 'red' } },
    ]);
    expect(Object.keys(seen[0]?.services ?? {})).not.toContain('journal');
  });
});

describe('checks of plugins that cannot decide', () => {
  const faults: [string, PluginCheck['check']][] = [
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('broken');
      },
    ],
    ['takes too long', () => new Promise(() => {})],
    ['returns nothing', (() => undefined) as never],
    ['returns another type', (() => ({ verdict: 'yes' })) as never],
    ['replaces text without changes: true', () => ({ verdict: true, text: 'other' })],
    ['changes the metadata', (_text, { metadata }) => Object.assign(metadata, { team: 5 }) !== null],
    ['returns too much data', () => ({ verdict: true, data: { text: 'x'.repeat(20_000) } })],
  ];

  it.each(faults)('a check that %s fails if its guardrail denies, and is logged', async (_, check) => {
    const gateway = start({ check });
    const { status, record } = await gateway.send({ config: input(), metadata: { team: 'red' } });
    expect([status, record.guardrails?.[0]?.checks[0]?.error, record.metadata]).toEqual([446, 'Check error', { team: 'red' }]);
    expect(gateway.logs).toMatchObject([{ level: 'error', fields: { check: 'acme.topics' } }]);
  });

  it('the log of an exception in a check has its stack', async () => {
    const gateway = start({
      check: function broken() {
        throw new Error('no rules');
      },
    });
    await gateway.send({ config: input() });
    expect(gateway.logs).toMatchObject([{ fields: { reason: 'no rules', stack: expect.stringContaining('broken') } }]);
  });

  it.each(faults)('a check that %s passes if its guardrail does not deny', async (_, check) => {
    expect((await start({ check }).send({ config: input({}, {}) })).status).toBe(200);
  });
});

describe('parameters of checks', () => {
  const jsonSchema = {
    type: 'object',
    properties: { words: { type: 'array', items: { type: 'string' }, minItems: 1 }, mode: { default: 'any' } },
    required: ['words'],
    additionalProperties: false,
  } as const;

  it.each([
    ['valibot', v.strictObject({ words: v.pipe(v.array(v.string()), v.minLength(1)), mode: v.optional(v.string(), 'any') })],
    ['JSON Schema', jsonSchema],
  ])('are validated with %s, with the path of the field', async (_, parameters) => {
    const seen: unknown[] = [];
    const gateway = start({
      parameters: parameters as PluginCheck['parameters'],
      check: (_text, { parameters: given }) => seen.push(given) > 0,
    });
    expect((await gateway.send({ config: input({ words: ['war'] }) })).status).toBe(200);
    expect(seen).toEqual([{ words: ['war'], mode: 'any' }]);
    for (const [given, path] of [
      [{}, 'words'],
      [{ words: [7] }, 'words[0]'],
      [{ words: ['war'], more: 1 }, 'more'],
    ] as const) {
      const { status, json } = await gateway.send({ config: input(given) });
      expect([status, json.errors]).toEqual([400, [expect.stringMatching(`acme.topics.${path.replace(/[[\]]/g, '\\$&')}: `)]]);
    }
  });

  it('an unknown check is rejected, and the message suggests one of a plugin', async () => {
    const { status, text } = await start({}).send({ config: { input_guardrails: [{ 'acme.topic': {} }] } });
    expect([status, text]).toEqual([400, expect.stringContaining('there is no check acme.topic; did you mean acme.topics?')]);
  });
});

describe('declarations of checks', () => {
  const good: PluginCheck = { id: 'a', about: 'x', sides: ['input'], check: () => true };
  const plugin = (checks: unknown, name = 'acme') => ({ apiVersion: 1, name, checks }) as unknown as Extension;

  it.each([
    [{}, 'checks: expected a list'],
    [[null], 'checks[0]: expected an object'],
    [[{ ...good, id: 'A b' }], 'checks[0]: id: expected letters'],
    [[good, good], 'checks[1]: id: there are two checks a'],
    [[{ ...good, about: '' }], 'checks[0]: (a) has no about'],
    [[{ ...good, sides: ['both'] }], 'checks[0]: (a) sides: expected a list'],
    [[{ ...good, check: undefined }], 'checks[0]: (a) has no check function'],
    [[{ ...good, parameters: { type: 'string' } }], 'checks[0]: (a) parameters: expected a valibot schema'],
    [[{ ...good, parameters: { type: 'object', properties: 7 } }], 'checks[0]: (a) parameters: schema is invalid'],
    [
      [{ ...good, parameters: v.strictObject({ n: v.number() }), example: { n: 'x' } }],
      'checks[0]: (a) its schema rejects its example: n:',
    ],
    [[{ ...good, timeoutMs: 0 }], 'checks[0]: (a) timeoutMs:'],
    [[{ ...good, paramters: {} }], 'checks[0]: (a) paramters: unknown field; did you mean parameters?'],
    [[{ ...good, changes: false }], 'checks[0]: (a) changes: expected true'],
  ])('%j stop the start', (checks, issue) => {
    expect(checkPlugin(plugin(checks))).toContain(`(acme) ${issue}`);
  });

  it('cannot have a prefix of built-in checks', () => {
    expect(checkPlugin(plugin([good], 'default'))).toContain('the prefix default belongs to the gateway');
  });

  it('cannot have the id of a built-in check', () => {
    const [id = ''] = [...builtInChecks.keys()].filter((each) => !/^(default|svc)\./.test(each));
    const [prefix = '', ...rest] = id.split('.');
    const taken = { ...good, id: rest.join('.') };
    expect(() => createTestGateway({ plugins: [plugin([taken], prefix)] })).toThrow(`the check ${id} is a built-in check`);
  });

  it('may have a JSON Schema with the $id of another one, and formats, which are not checked', () => {
    const written = vi.spyOn(console, 'warn');
    const parameters = { $id: 'words', type: 'object', properties: { url: { type: 'string', format: 'uri' } } } as const;
    const checks = ['a', 'b'].map((id) => ({ ...good, id, parameters: { ...parameters }, example: { url: 'no url' } }));
    expect([checkPlugin(plugin(checks)), written.mock.calls]).toEqual([null, []]);
    written.mockRestore();
  });

  it('need no hooks', () => {
    const check = defineCheck({
      ...good,
      parameters: v.strictObject({ n: v.number() }),
      check: (_text, { parameters }) => parameters.n > 1,
    });
    expect(checkPlugin(definePlugin({ apiVersion: 1, name: 'acme', checks: [check] }))).toBeNull();
    expect(checkPlugin({ ...plugin([good]), stage: 'limits' })).toContain('has no onConfig function');
  });
});
