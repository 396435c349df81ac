import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminClient } from '../support/clients/admin-client.ts';
import { openRawClient } from '../support/clients/raw-client.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';

/** Changes of a key reach every running gateway process. Two of them share the port here. */
let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream('pair');
});
afterAll(() => gateway?.close());

const body = JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] });

/** One call on its own connection. Twenty of them reach both processes almost certainly. */
async function call(key: string): Promise<{ status: number; code: unknown }> {
  const client = await openRawClient(gateway.port);
  try {
    const head = ['host: a', 'content-type: application/json', `content-length: ${body.length}`, `x-svc-api-key: ${key}`];
    client.send(`POST /v1/chat/completions HTTP/1.1\r\n${head.join('\r\n')}\r\nx-svc-provider: @oai\r\n\r\n${body}`);
    const reply = await client.reply();
    return { status: reply.status, code: JSON.parse(reply.body.toString()).error?.code ?? null };
  } finally {
    client.destroy();
  }
}

const everywhere = (key: string) => Promise.all(Array.from({ length: 20 }, () => call(key)));

async function settles(what: string, key: string, status: number, code?: string) {
  const isNew = (reply: { status: number; code: unknown }) =>
    reply.status === status && (code === undefined || reply.code === code);
  await until(async () => (await everywhere(key)).every(isNew), { what });
  expect((await everywhere(key)).every(isNew)).toBe(true);
}

it('API keys: a key loses the scopes that its granting key loses, and gets them back', async () => {
  const { admin } = gateway;
  const scopes = ['workspace_service_api_keys.create', 'completions.write'];
  const grantor = await admin.createKey({ scopes });
  const mine = adminClient(gateway.origin, grantor.key, gateway.workspaceId);
  const { key } = await mine.createKey();
  await settles('the new key', key, 200);
  expect((await admin.put(`/api-keys/${grantor.id}`, { scopes: scopes.slice(0, 1) })).status).toBe(200);
  await settles('the lost scope', key, 403);
  expect((await admin.put(`/api-keys/${grantor.id}`, { scopes })).status).toBe(200);
  await settles('the scope that came back', key, 200);
});

it('API keys: both secrets of a rotated key work, and neither after deletion', async () => {
  const { admin } = gateway;
  const { id, key } = await admin.createKey();
  await settles('the first secret', key, 200);
  const rotated = await admin.post(`/api-keys/${id}/rotate`, {});
  expect(rotated.status).toBe(200);
  await settles('the new secret', String(rotated.body.key), 200);
  await settles('the old secret', key, 200);
  expect((await admin.delete(`/api-keys/${id}`)).status).toBe(200);
  await settles('the end of the new secret', String(rotated.body.key), 401);
  await settles('the end of the old secret', key, 401);
});

it('API keys: a key expires at its time, and works again with a later end', async () => {
  const { admin } = gateway;
  const { id, key } = await admin.createKey({ expires_at: new Date(Date.now() + 3_000).toISOString() });
  await settles('the end of the key', key, 401, '01');
  expect((await admin.put(`/api-keys/${id}`, { expires_at: '2099-01-01T00:00:00Z' })).status).toBe(200);
  await settles('the key', key, 200);
});
