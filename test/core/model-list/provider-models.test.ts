import { describe, expect, it } from 'vitest';
import { findHeader } from '../../../core/contract/values/http/http.ts';
import { createHarness, providerDocument, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

async function list(config: object, headers: Record<string, string>) {
  const harness = createHarness();
  harness.documents.set(`provider ${workspaceId}/cloud`, {
    ...providerDocument('cloud', 'openai'),
    secrets: '{"api_key":"key"}',
  });
  harness.script(replyWith(200, { object: 'list', data: [{ id: 'm', object: 'model', created: 5, owned_by: 'org' }] }));
  const all = { 'x-svc-config': JSON.stringify({ provider: '@cloud', ...config }), ...headers };
  const sink = await harness.send({ method: 'GET', path: '/v1/models', headers: all, body: '' });
  return { status: sink.status, sent: harness.calls[0]?.headers ?? [], calls: harness.calls.length };
}

describe('GET /models of a provider', () => {
  it.each([
    ['the config names', { forward_headers: ['x-tenant'] }, {}],
    ['the request names', {}, { 'x-svc-forward-headers': 'x-tenant' }],
  ])('forwards the client headers that %s', async (_, config, headers) => {
    const { status, sent } = await list(config, { 'x-tenant': 'blue', 'x-other': 'red', ...headers });
    expect([status, findHeader(sent, 'x-tenant'), findHeader(sent, 'x-other')]).toEqual([200, 'blue', undefined]);
    expect(findHeader(sent, 'authorization')).toBe('Bearer key');
  });

  it('rejects a header that must not be forwarded, without a call', async () => {
    const { status, calls } = await list({}, { 'x-svc-forward-headers': 'metadata-flavor', 'metadata-flavor': 'Google' });
    expect([status, calls]).toEqual([400, 0]);
  });
});

it('a list of the provider of GET /models with too many values is not parsed', async () => {
  const harness = createHarness();
  harness.script(replyWith(200, { data: [], more: Array.from({ length: 400_001 }, () => ({})) }));
  const reply = await harness.send({ method: 'GET', path: '/v1/models', headers: { 'x-svc-provider': '@one' }, body: '' });
  expect([reply.status, JSON.stringify(reply.json)]).toEqual([502, expect.stringContaining('no list of models')]);
});

describe('an error of the provider of GET /models', () => {
  const error = { message: 'Incorrect API key', type: 'invalid_request_error', code: 'invalid_api_key', param: null };
  const shown = { ...error, message: 'openai error: Incorrect API key', provider_error: error };
  const headers = ['content-type', 'application/json', 'x-request-id', 'req_1', 'request-id', 'req_1'];
  const failed = async (more: Record<string, string>) => {
    const harness = createHarness();
    harness.script(replyWith(401, { error }, headers));
    const all = { 'x-svc-provider': '@one', ...more };
    const reply = await harness.send({ method: 'GET', path: '/v1/models', headers: all, body: '' });
    return { reply, record: harness.records[0] };
  };

  it('has the form of every other error of a provider, and its request id', async () => {
    const { reply, record } = await failed({});
    expect([reply.status, reply.json, reply.header('x-request-id')]).toEqual([
      401,
      { error: shown, provider: 'openai' },
      'req_1',
    ]);
    expect(record).toMatchObject({ status: 401, errorCode: 'upstream_status', outcome: 'failed' });
  });

  it('has the form of Anthropic for its clients', async () => {
    const { reply } = await failed({ 'anthropic-version': '2023-06-01' });
    expect(reply.json).toMatchObject({ type: 'error', error: { type: 'authentication_error' }, request_id: 'req_1' });
  });
});
