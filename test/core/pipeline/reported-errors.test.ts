import { describe, expect, it } from 'vitest';
import { toGatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, providerDocument, replyWith, type Script, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const refusal = { message: 'slow down', type: 'rate_limit_error', param: 'model', code: 'rate_limit_exceeded' };
const { message: _message, ...fields } = refusal;
const event = { ...fields, type: 'upstream_error' };
const overload = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
const exhausted = { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED' };

const cases: [string, string, string, Script, number, JsonObject][] = [
  ['the first event of a stream', 'openai', '/v1/chat/completions', first({ error: refusal }), 429, fields],
  ['the first event of a stream', 'openai', '/v1/responses', first({ ...refusal, type: 'error' }), 429, event],
  [
    'an accepted reply',
    'openrouter',
    '/v1/chat/completions',
    replyWith(200, { error: refusal }, ['content-type', 'application/json', 'x-request-id', 'req_1']),
    429,
    fields,
  ],
  [
    'the first event of a stream',
    'anthropic',
    '/v1/messages',
    first(overload),
    529,
    { message: 'anthropic error: Overloaded', type: 'overloaded_error', param: null, code: null },
  ],
  ...['/v1/messages', '/v1/chat/completions'].map((path): (typeof cases)[number] => [
    ...(['an accepted reply', 'anthropic', path] as const),
    replyWith(200, overload, ['content-type', 'application/json', 'x-request-id', 'req_1']),
    529,
    { message: 'anthropic error: Overloaded', type: 'overloaded_error', param: null, code: null },
  ]),
  ...(['cohere', 'reka-ai'] as const).map((type): (typeof cases)[number] => [
    ...(['an accepted reply', type, '/v1/chat/completions'] as const),
    replyWith(200, { error: refusal }, ['content-type', 'application/json', 'x-request-id', 'req_1']),
    429,
    { message: `${type} error: slow down` },
  ]),
  [
    ...(['an accepted reply', 'cohere', '/v1/embeddings'] as const),
    replyWith(200, { error: refusal }, ['content-type', 'application/json', 'x-request-id', 'req_1']),
    429,
    { message: 'cohere error: slow down' },
  ],
  ...['/v1/messages', '/v1/chat/completions'].map((path): (typeof cases)[number] => [
    ...(['an accepted reply', 'google', path] as const),
    replyWith(200, { error: exhausted }, ['content-type', 'application/json', 'x-request-id', 'req_1']),
    429,
    { message: 'google error: Quota exceeded.', param: null, code: null },
  ]),
  [
    'the first event of a stream',
    'google',
    '/v1/chat/completions',
    first({ error: exhausted }),
    429,
    { message: 'google error: Quota exceeded.', type: 'RESOURCE_EXHAUSTED', param: null, code: null, provider_error: exhausted },
  ],
];

it.each(cases)(
  'an error in %s of %s on %s has the form of an error response',
  async (where, type, path, script, status, error) => {
    const gateway = createHarness();
    gateway.documents.set(`provider ${workspaceId}/p`, providerDocument('p', type));
    gateway.script(script);
    const stream = where !== 'an accepted reply';
    const body = { model: '@p/m', messages: [{ role: 'user', content: 'hello' }], input: 'hello', max_tokens: 9, stream };
    const reply = await gateway.send({ path, body });
    expect([reply.status, reply.json]).toMatchObject([status, { error, provider: type }]);
    expect(reply.header('x-request-id')).toBe('req_1');
    expect(reply.header('content-type')).toBe('application/json');
  },
);

it('an error in the first event of a stream with objects where texts are expected is an error reply', async () => {
  const gateway = createHarness();
  gateway.script(first({ error: { message: { text: 'no' }, type: ['x'], code: {} } }));
  const reply = await gateway.send({ body: { model: '@one/m', messages: [], stream: true } });
  expect([reply.status, reply.json.error]).toMatchObject([502, { type: 'upstream_error', code: null }]);
});

it.each([
  [{ message: 'flagged', code: 'invalid_prompt' }],
  [{ message: 'bad', type: 'invalid_request_error' }],
  [{ message: 'long', type: 'error', code: 'context_length_exceeded' }],
])('an error of the request in the first event of a stream (%j) is a 400, which is not repeated', async (error) => {
  const gateway = createHarness();
  gateway.script(first({ error }), first({ error }));
  const config = JSON.stringify({ provider: '@one', retry: { attempts: 1 } });
  const body = { model: 'm', messages: [], stream: true };
  const reply = await gateway.send({ headers: { 'x-svc-config': config }, body });
  expect([reply.status, reply.header('x-svc-retry-attempt-count'), gateway.calls.length]).toEqual([400, '0', 1]);
});

describe('a call that the provider refuses in an accepted response', () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'a long prompt '.repeat(50) }], stream: true };
  const held = { output_guardrails: [{ 'default.contains': { words: ['absent'], operator: 'none' }, deny: true }] };

  it.each<[string, object, Script]>([
    ['the first event of a stream', {}, first({ error: refusal })],
    ['the first event of a stream that is held', held, first({ error: refusal })],
    ['the first event of a stream that is held, before its end mark', held, first({ error: refusal }, '[DONE]')],
    ['the first event of a stream, before its end mark', {}, first({ error: refusal }, '[DONE]')],
    ['a reply with status 200', {}, replyWith(200, { error: refusal })],
    ['a reply with status 200 and a list of errors', {}, replyWith(200, { error: [{ ...refusal, msg: 'rate_limit' }] })],
    ['a reply with status 200 and an error without a text', {}, replyWith(200, { error: true })],
  ])('counts no tokens, as an error response counts none: %s', async (_, config, script) => {
    const gateway = createHarness();
    gateway.script(script, script);
    const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', retry: { attempts: 1 }, ...config }) };
    const reply = await gateway.send({ headers, body });
    expect([429, 502]).toContain(reply.status);
    expect(gateway.calls).toHaveLength(2);
    expect(gateway.records[0]).toMatchObject({ inputTokens: 0, outputTokens: 0, discarded: undefined });
  });

  it.each<[string, object]>([
    ['passes', {}],
    ['is held', held],
  ])('counts its input and content if the error follows content in the same bytes of a stream that %s', async (_, config) => {
    const gateway = createHarness();
    const content = { choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] };
    gateway.script(first(...new Array(50).fill(content), { error: refusal }));
    const reply = await gateway.send({ headers: { 'x-svc-config': JSON.stringify({ provider: '@one', ...config }) }, body });
    expect(reply.status).toBe(429);
    const [discarded] = gateway.records[0]?.discarded ?? [];
    expect(discarded?.inputTokens).toBeGreaterThan(100);
    expect(discarded?.outputTokens).toBeGreaterThanOrEqual(50);
  });

  it('counts no characters of speech', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, { error: refusal }));
    const reply = await gateway.send({ path: '/v1/audio/speech', body: { model: '@one/m', input: 'a long text', voice: 'v' } });
    expect(reply.status).toBe(429);
    const [record] = gateway.records;
    expect([record?.media ?? null, record?.discarded]).toEqual([null, undefined]);
  });

  it('counts the tokens that the provider reports', async () => {
    const gateway = createHarness();
    const failed = {
      id: 'r',
      status: 'failed',
      error: { code: 'server_error', message: 'no' },
      usage: { input_tokens: 7, output_tokens: 2 },
    };
    gateway.script(first({ type: 'response.failed', response: failed }));
    const reply = await gateway.send({ path: '/v1/responses', body: { model: '@one/m', input: 'hello', stream: true } });
    expect(reply.status).toBe(502);
    expect(gateway.records[0]?.discarded).toMatchObject([{ inputTokens: 7, outputTokens: 2 }]);
  });
});

it('an error in one of several exchanges has the form of an error response', async () => {
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/p`, providerDocument('p', 'cohere'));
  gateway.script(replyWith(429, refusal, ['content-type', 'application/json', 'retry-after', '9']));
  const reply = await gateway.send({ method: 'GET', path: '/v1/batches', headers: { 'x-svc-provider': '@p' } });
  const error = { message: 'cohere error: slow down', provider_error: refusal };
  expect([reply.status, reply.json]).toMatchObject([429, { error, provider: 'cohere' }]);
  expect(reply.header('retry-after')).toBe('9');
});

/** A stream that arrives at once. */
function first(...events: (JsonObject | string)[]): Script {
  return (_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream', 'x-request-id', 'req_1']);
    const data = events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
    handler.onData(Buffer.from(data.map((text) => `data: ${text}\n\n`).join('')));
    handler.onEnd();
  };
}

it('an error of another copy of the package keeps what the provider reported', () => {
  const reported = { error: { message: 'no', code: 'insufficient_quota' } };
  const other = { [Symbol.for('svc-gateway.GatewayError')]: true, code: 'upstream_status', message: 'no', status: 429, reported };
  expect(toGatewayError(other)).toMatchObject({ status: 429, reported });
});
