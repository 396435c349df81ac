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
