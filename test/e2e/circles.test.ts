import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';

let gateway: SharedGatewayWithUpstream;
let provider: string;
let key: string;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  provider = await gateway.admin.createUpstream('circle', gateway.baseUrl);
  // A call of the provider is a request with this key, whose config names the provider again.
  key = await gateway.keyFor({ provider });
  await gateway.admin.call('PUT', `/integrations/${gateway.admin.integrationOf('circle')}`, {
    key,
    configurations: { custom_host: gateway.baseUrl },
  });
});
afterAll(() => gateway?.close());

const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };

it.each([
  ['a translated call', '/chat/completions', {}],
  ['a pass-through call', '/proxy/chat/completions', {}],
  ['a stream', '/chat/completions', { stream: true }],
])('%s that leads back to the gateway ends at its second pass with 508', async (_what, path, more) => {
  const reply = await gateway.call(path, { headers: { 'x-svc-api-key': key }, body: { ...body, ...more } });
  expect([reply.status, (await reply.json()).error.code]).toEqual([508, 'loop_detected']);
});

it('a call that leads to the control plane gets its reply', async () => {
  const reply = await gateway.call('/proxy/configs', { method: 'GET', headers: { 'x-svc-api-key': key } });
  expect([reply.status, (await reply.json()).data?.errorCode]).toEqual([403, 'AB03']);
});

it('a request that passed other networks is served', async () => {
  const reply = await gateway.call('/models', { headers: { 'cdn-loop': 'cloudflare; loops=1, svc-gateway-0123456789abcdef' } });
  expect(reply.status).toBe(200);
});
