import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatStream, createHarness, type FakeSink } from '../../../core/test-kit/pipeline-harness.ts';
import { responsesStream, streamOf } from '../../../core/test-kit/provider-scripts.ts';
import { openAiOver } from '../../support/clients/clients-over-harness.ts';

const failing = { 'default.contains': { words: ['never said'], operator: 'any' }, id: 'must-say' };
const strict = { 'x-svc-strict-open-ai-compliance': 'false' };
const user = [{ role: 'user', content: 'hi' }];
const routes: [string, JsonObject, typeof chatStream][] = [
  ['/v1/chat/completions', { messages: user }, chatStream],
  ['/v1/messages', { messages: user, max_tokens: 9 }, chatStream],
];

async function ask(
  guardrail: JsonObject,
  [path, body, stream]: (typeof routes)[number] = routes[0] as (typeof routes)[number],
  { headers = strict, config = {} }: { headers?: Record<string, string>; config?: JsonObject } = {},
) {
  const gateway = createHarness();
  gateway.script(stream(['a fine', ' day']));
  const all = { provider: '@one', output_guardrails: [guardrail], ...config };
  const sent = {
    path,
    headers: { 'x-svc-config': JSON.stringify(all), ...headers },
    body: { model: 'm', stream: true, ...body },
  };
  return { text: (await gateway.send(sent)).text, record: gateway.records[0] };
}

/** The last event of a stream. */
const last = (text: string) => text.trimEnd().split('\n\n').at(-1) ?? '';
const resultsIn = (event: string) => JSON.parse(event.slice(event.indexOf('data: ') + 6)).hook_results;

describe('results of a stream', () => {
  it.each(routes)('%s: follow its last event', async (...route) => {
    const { text, record } = await ask(failing, route);
    const event = last(text);
    expect(text).toContain('fine');
    expect(event.startsWith('event: hook_results\n')).toBe(route[0] === '/v1/messages');
    expect(resultsIn(event)).toMatchObject({ after_request_hooks: [{ id: 'must-say', verdict: false, deny: false }] });
    expect(record).toMatchObject({ outcome: 'success', guardrails: [{ side: 'output', verdict: false }] });
  });

  it.each([
    ['buffer', { ...failing, deny: true, 'default.contains': { words: ['fine'], operator: 'any' }, stream: 'buffer' }],
    ['window', { 'default.contains': { words: ['never said'], operator: 'none' }, id: 'must-say', stream: 'window' }],
    ['observe', { ...failing, deny: true, stream: 'observe' }],
  ])('follow a stream in the mode %s', async (_mode, guardrail) => {
    const { text, record } = await ask(guardrail);
    expect(resultsIn(last(text)).after_request_hooks).toMatchObject([{ id: 'must-say' }]);
    expect(record?.guardrails).toHaveLength(1);
  });

  it.each([
    ['header', {}],
    ['config', { headers: {}, config: { strict_open_ai_compliance: false } }],
  ])('are shown if strict compliance is off in the %s', async (_where, options) => {
    expect((await ask(failing, undefined, options)).text).toContain('after_request_hooks');
  });

  it.each([
    ['by default', { headers: {} }],
    [
      'if the header turns it on again',
      { headers: { 'x-svc-strict-open-ai-compliance': 'true' }, config: { strict_open_ai_compliance: false } },
    ],
  ])('are not shown to strict clients %s', async (_when, options) => {
    const { text, record } = await ask(failing, undefined, options);
    expect(last(text)).toBe('data: [DONE]');
    expect(record?.guardrails).toMatchObject([{ verdict: false }]);
  });

  it.each(['observe', 'buffer'])(
    'do not follow Responses, whose clients throw for unknown events, in the mode %s',
    async (stream) => {
      const { text, record } = await ask({ ...failing, stream }, ['/v1/responses', { input: 'hi' }, responsesStream]);
      expect(last(text)).toContain('response.completed');
      expect(record?.guardrails).toHaveLength(1);
    },
  );

  it('are not shown for asynchronous guardrails', async () => {
    expect(last((await ask({ ...failing, async: true })).text)).toBe('data: [DONE]');
  });
});

describe('results in streams for the helpers of OpenAI’s SDK', () => {
  const guarded = { 'default.contains': { words: ['hi'], operator: 'any' }, id: 'says-hi' };
  const client = (stream: typeof chatStream) => {
    const gateway = createHarness();
    gateway.script(stream(['a fine', ' day']));
    const config = { provider: '@one', cache: { mode: 'simple' }, input_guardrails: [guarded] };
    return openAiOver(gateway, { 'x-svc-config': JSON.stringify(config), ...strict });
  };
  const shown = { hook_results: { before_request_hooks: [{ id: 'says-hi', verdict: true }] } };

  it('chat completions have an event without choices', async () => {
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    const message = { role: 'assistant', content: 'a fine day' };
    const choice = { ...chunk, choices: [{ index: 0, delta: message, finish_reason: 'stop' }] };
    const whole = () => streamOf([`data: ${JSON.stringify(choice)}\n\n`, 'data: [DONE]\n\n']);
    const stream = client(whole).chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
    const chunks: unknown[] = [];
    stream.on('chunk', (chunk) => chunks.push(chunk));
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('a fine day');
    expect(chunks[0]).toMatchObject({ ...shown, choices: [] });
  });

  it('the first event of Responses has a member, also from the cache', async () => {
    const openai = client(responsesStream);
    for (const _from of ['provider', 'cache']) {
      const stream = openai.responses.stream({ model: 'm', input: 'hi' });
      const events: unknown[] = [];
      stream.on('event', (event) => events.push(event));
      expect((await stream.finalResponse()).output_text).toBe('a fine day');
      expect(events[0]).toMatchObject({ type: 'response.created', ...shown });
      expect(events.filter((event) => JSON.stringify(event).includes('hook_results'))).toHaveLength(1);
    }
  });
});

it.each<[string, (sink: FakeSink) => void]>([
  ['its client leaves', (sink) => sink.leave()],
  ['its process stops', (sink) => sink.shutDown()],
])('a stream that waits for its results is complete if %s', async (_, interrupt) => {
  let interrupted: () => void = () => {};
  const service = {
    send: () => {
      setImmediate(() => interrupted());
      return { resume: () => {}, abort: () => {} };
    },
    close: async () => {},
  };
  const gateway = createHarness({ services: service });
  gateway.script(chatStream(['a fine', ' day']));
  const webhook = { 'default.webhook': { webhookURL: 'https://8.8.8.8/check' }, stream: 'observe' };
  const reply = await gateway.send({
    headers: { 'x-svc-config': JSON.stringify({ provider: '@one', output_guardrails: [webhook] }), ...strict },
    body: { model: 'm', stream: true, messages: user },
    prepare: (sink) => {
      interrupted = () => interrupt(sink);
    },
  });
  expect([last(reply.text), reply.destroyed]).toEqual(['data: [DONE]', false]);
  expect(gateway.records).toMatchObject([{ outcome: 'success', status: 200 }]);
});

const onFailed = { on_status_codes: [246] };
it.each<[string, JsonObject, number, string]>([
  [
    'fallback',
    { strategy: { mode: 'fallback', ...onFailed }, targets: [failsInput('one'), { provider: '@two' }] },
    200,
    'config.targets[1]',
  ],
  ['retry', { ...failsInput('one'), retry: { attempts: 1, ...onFailed } }, 246, 'config'],
])('a stream whose input failed continues with the %s that lists 246', async (_, config, status, path) => {
  const gateway = createHarness();
  gateway.script(chatStream(['first']), chatStream(['second']));
  const headers = { 'x-svc-config': JSON.stringify(config) };
  const reply = await gateway.send({ headers, body: { model: 'm', stream: true, messages: user } });
  expect([reply.status, reply.header('x-svc-last-used-option-index'), gateway.calls.length]).toEqual([status, path, 2]);
  expect(reply.text).toContain('second');
  expect(reply.text).not.toContain('first');
});

function failsInput(provider: string): JsonObject {
  return { provider: `@${provider}`, input_guardrails: [failing] };
}
