import { expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { messagesErrorType } from '../../../core/contract/values/errors/messages-errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { errorReply } from '../../../core/http/write-error.ts';
import { createHarness, failWith, providerDocument, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const bedrockSettings = { aws_auth_type: 'accessKey', aws_region: 'us-east-1' };
const bedrockSecrets = { aws_access_key_id: 'AKIAABCDEFGHIJKLMNOP', aws_secret_access_key: 'secret' };
const question = { model: '@one/m', messages: [{ role: 'user', content: 'hello' }], max_tokens: 10 };

it('provider errors: the client gets them whole, with the fields that every error has', async () => {
  const gateway = createHarness();
  const error = {
    message: 'Failed to call a function.',
    type: 'invalid_request_error',
    code: 'tool_use_failed',
    failed_generation: '<f>',
  };
  gateway.script(replyWith(400, { error }));
  const reply = await gateway.send({ body: question });
  expect([reply.status, reply.json]).toEqual([
    400,
    {
      error: {
        message: 'openai error: Failed to call a function.',
        type: error.type,
        param: null,
        code: error.code,
        provider_error: error,
      },
      provider: 'openai',
    },
  ]);
});

it('errors of the gateway: clients of Google get its form on its paths, those of Anthropic theirs', async () => {
  const gateway = createHarness({ errorReply });
  gateway.script(failWith(new GatewayError('upstream_connect')), failWith(new GatewayError('upstream_connect')));
  const path = '/v1/proxy/v1beta/models/gemini-3-flash:generateContent';
  const google = await gateway.send({ path, headers: { 'x-svc-provider': '@one' }, body: {} });
  expect(google.json).toMatchObject({ error: { code: 502, status: 'UNAVAILABLE', name: 'upstream_connect' } });
  const headers = { 'x-svc-provider': '@one', 'anthropic-version': '2023-06-01' };
  const claude = await gateway.send({ path, headers, body: {} });
  expect(claude.json).toMatchObject({ type: 'error', error: { type: 'api_error', name: 'upstream_connect' } });
  const lost = await gateway.send({ path: '/v1beta/models/gemini-3-flash:generateContent', body: {} });
  expect(lost.json).toMatchObject({ error: { code: 404, status: 'NOT_FOUND', name: 'not_found' } });
});

it('provider errors: clients of Anthropic get its form on routes that they share with those of OpenAI', async () => {
  const gateway = createHarness();
  gateway.script(replyWith(404, { error: { message: 'No such file', type: 'invalid_request_error' } }));
  const headers = { 'x-svc-provider': '@one', 'anthropic-version': '2023-06-01' };
  const reply = await gateway.send({ method: 'GET', path: '/v1/files/f', headers });
  expect([reply.status, reply.json]).toMatchObject([404, { type: 'error', error: { type: 'not_found_error' } }]);
});

it('provider errors: fields beside the error are kept', async () => {
  const gateway = createHarness();
  const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_1' };
  gateway.script(replyWith(529, body));
  const reply = await gateway.send({ body: question });
  expect((reply.json.error as { provider_error: unknown }).provider_error).toEqual({
    error: body.error,
    request_id: 'req_1',
    type: 'error',
  });
});

it.each(['/v1/chat/completions', '/v1/messages', '/v1/proxy/any/path'])(
  'an error of a provider on %s has the request id of the provider, else that of the gateway',
  async (path) => {
    const gateway = createHarness();
    const given = path === '/v1/messages' ? 'request-id' : 'x-request-id';
    for (const id of [[], [given, 'req_1']]) {
      gateway.script(replyWith(400, { error: { message: 'no' } }, ['content-type', 'application/json', ...id]));
      const reply = await gateway.send({ path, body: question, headers: { 'x-svc-provider': '@one' } });
      expect(reply.status).toBe(400);
      expect(reply.header(given)).toBe(id[1] ?? reply.header('x-svc-trace-id'));
      if (path === '/v1/messages') expect(reply.json.request_id).toBe(reply.header(given));
    }
  },
);

it.each([
  ['/v1/chat/completions', 'x-request-id', {}],
  ['/v1/chat/completions', 'x-request-id', { stream: true }],
  ['/v1/messages', 'request-id', {}],
  ['/v1/proxy/any/path', 'x-request-id', {}],
])('a reply on %s has %s of the provider, else that of the gateway %j', async (path, name, more) => {
  const gateway = createHarness();
  for (const id of [[], [name, 'req_1']]) {
    gateway.script(replyWith(200, {}, ['content-type', 'application/json', ...id]));
    const reply = await gateway.send({ path, body: { ...question, ...more }, headers: { 'x-svc-provider': '@one' } });
    expect([reply.status, reply.header(name)]).toEqual([200, id[1] ?? reply.header('x-svc-trace-id')]);
  }
});

it.each([
  ['is not JSON', '<html>bad gateway</html>', 'text/html'],
  ['has no type', '{"error":{"message":"bad gateway"}}', 'application/json'],
])('provider errors: one that %s has a type, which the clients of OpenAI require', async (_, body, type) => {
  const gateway = createHarness();
  gateway.script(replyWith(502, body, ['content-type', type]));
  const reply = await gateway.send({ body: question });
  expect([reply.status, reply.json.error]).toMatchObject([502, { type: 'upstream_error', param: null, code: null }]);
});

it.each([
  [400, 'INVALID_ARGUMENT', 'invalid_request_error'],
  [429, 'tokens', 'rate_limit_error'],
  [429, null, 'rate_limit_error'],
  [500, 'server_error', 'api_error'],
  [529, 'overloaded_error', 'overloaded_error'],
  [403, 'permission_error', 'permission_error'],
  [402, 'insufficient_quota', 'billing_error'],
  [400, 'invalid_request_error', 'invalid_request_error'],
  [401, 'invalid_request_error', 'authentication_error'],
  [404, 'invalid_request_error', 'not_found_error'],
  [413, 'invalid_request_error', 'request_too_large'],
  [424, 'ModelErrorException', 'api_error'],
])('provider errors: status %i with type %s has the Messages type %s', async (status, given, type) => {
  expect(messagesErrorType(status, given)).toBe(type);
  const gateway = createHarness();
  gateway.script(replyWith(status, { error: { message: 'no', ...(given === null ? {} : { type: given }) } }));
  const reply = await gateway.send({ path: '/v1/messages', body: question });
  expect([reply.status, reply.json.type, (reply.json.error as { type: string }).type]).toEqual([status, 'error', type]);
});

it('a failed call: the log has the reason, provider, origin and trace; the client and the record have none of the reason', async () => {
  const gateway = createHarness();
  const detail = 'ENOTFOUND: getaddrinfo ENOTFOUND api.openai.com';
  gateway.script(failWith(new GatewayError('upstream_connect', { detail })));
  const reply = await gateway.send({ body: question });
  expect([reply.status, reply.json.error]).toMatchObject([502, { code: 'upstream_connect' }]);
  expect(gateway.logs).toContainEqual({
    level: 'info',
    message: 'call to a provider failed',
    fields: {
      code: 'upstream_connect',
      provider: 'one',
      origin: 'https://api.openai.com',
      reason: detail,
      traceId: gateway.records[0]?.traceId,
    },
  });
  expect(reply.text + JSON.stringify(gateway.records)).not.toContain('ENOTFOUND');
});

it('a failed call: errors that the client receives whole are not logged again', async () => {
  const gateway = createHarness();
  gateway.script(replyWith(500, { error: { message: 'no' } }));
  await gateway.send({ body: question });
  gateway.script(failWith(new GatewayError('request_timeout')));
  await gateway.send({ body: question });
  expect(gateway.logs).toEqual([]);
});

it.each([
  [
    'anthropic',
    400,
    { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' } },
  ],
  [
    'anthropic',
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'input length and `max_tokens` exceed context limit: 1 + 2 > 2' },
    },
  ],
  [
    'google',
    400,
    { error: { code: 400, message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' } },
  ],
  ['bedrock', 400, { message: 'Input is too long for requested model.' }],
  ['cohere', 400, { message: 'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.' }],
  [
    'mistral-ai',
    400,
    {
      object: 'error',
      message: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
      code: '3051',
    },
  ],
  ['openai', 400, { error: { message: "This model's maximum context length is 8192 tokens.", code: null } }],
])('a prompt that is too long for a model of %s has the code of OpenAI (%i %j)', async (provider, status, body) => {
  expect((await failedAt(provider, status, body)).json).toMatchObject({ error: { code: 'context_length_exceeded' } });
});

it.each([
  ['bedrock', 429, { message: 'Too many tokens, please wait before trying again.' }, null],
  ['openai', 400, { error: { message: 'max_tokens is too large: 9', code: 'invalid_value' } }, 'invalid_value'],
])('another error of %s (%i) has its own code', async (provider, status, body, code) => {
  expect((await failedAt(provider, status, body)).json).toMatchObject({ error: { code } });
});

it('a delay that a provider names in the body is the retry-after of the reply', async () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12.5s' }];
  const body = { error: { code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED', details } };
  expect((await failedAt('google', 429, body)).header('retry-after')).toBe('13');
  const headers = ['content-type', 'application/json', 'retry-after', '7'];
  expect((await failedAt('google', 429, body, headers)).header('retry-after')).toBe('7');
});

it('a credential that a provider refuses is not worth a retry of the client, unless the provider states otherwise', async () => {
  const body = { error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' } };
  expect((await failedAt('openai', 401, body)).header('x-should-retry')).toBe('false');
  const headers = ['content-type', 'application/json', 'x-should-retry', 'true'];
  expect((await failedAt('openai', 401, body, headers)).header('x-should-retry')).toBe('true');
  expect((await failedAt('openai', 503, body)).header('x-should-retry')).toBeUndefined();
});

/** Returns the reply for an error of a stored provider of this type. */
async function failedAt(type: string, status: number, body: JsonObject, headers = ['content-type', 'application/json']) {
  const gateway = createHarness();
  const settings = type === 'bedrock' ? bedrockSettings : {};
  const secrets = JSON.stringify(type === 'bedrock' ? bedrockSecrets : { api_key: 'k' });
  gateway.documents.set(`provider ${workspaceId}/p`, { ...providerDocument('p', type), settings, secrets });
  gateway.script(replyWith(status, body, headers));
  return await gateway.send({ body: { model: '@p/anthropic.claude-sonnet-4-5', messages: question.messages } });
}

it.each([
  ['google', '@gemini', 'google error: Quota exceeded.', 'RESOURCE_EXHAUSTED', '12'],
  // Google's servers have OpenAI's API too.
  ['openai', '@one', 'openai error: Quota exceeded.', null, undefined],
])('provider errors: a list of one error is read like the error, from %s', async (_, provider, message, type, retryAfter) => {
  const gateway = createHarness({ providers: { one: 'openai', gemini: 'google' } });
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12s' }];
  const error = { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED', details };
  gateway.script(replyWith(429, JSON.stringify([{ error }]), ['content-type', 'application/json']));
  const reply = await gateway.send({ body: { ...question, model: `${provider}/m`, stream: true } });
  expect([reply.status, reply.json.error]).toMatchObject([429, { message, ...(type === null ? {} : { type }) }]);
  expect(reply.header('retry-after')).toBe(retryAfter);
});
