import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';

/** People through the gateway's own address: they sign in with a browser there, and their keys end with them. */
let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
});
afterAll(() => gateway?.close());

async function invitee(email: string, role: string) {
  const invited = await gateway.admin.post('/admin/users/invites', {
    email,
    role: 'member',
    workspaces: [{ id: gateway.workspaceId, role }],
    workspace_api_key_details: { scopes: ['completions.write'] },
  });
  expect(invited.status, JSON.stringify(invited.body)).toBe(200);
  const token = new URL(invited.body.invite_link).hash.split('=')[1];
  const reply = await fetch(`${gateway.baseUrl}/auth/invites/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.origin },
    body: JSON.stringify({ token, password: 'correct horse battery' }),
  });
  expect(reply.status).toBe(200);
  const body = (await reply.json()) as { user: { id: string }; api_keys: { key: string }[]; auth_token: string };
  return {
    userId: body.user.id,
    key: body.api_keys[0]?.key ?? '',
    token: body.auth_token,
    cookie: reply.headers.get('set-cookie')?.split(';')[0] ?? '',
  };
}

async function chat(headers: Record<string, string>): Promise<number> {
  const reply = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-provider': '@oai', ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
  });
  await reply.text();
  return reply.status;
}

it('users: a key stops when its owner may no longer call models, works again, and is deleted with its owner', async () => {
  const { userId, key, token } = await invitee('leaver@example.com', 'member');
  const becomes = (status: number) =>
    until(async () => (await chat({ 'x-svc-api-key': key })) === status, { what: `status ${status}` });
  await becomes(200);
  const path = `/workspaces/${gateway.workspaceId}/users/${userId}`;
  expect((await gateway.admin.put(path, { role: 'viewer' })).status).toBe(200);
  await becomes(403);
  expect((await gateway.admin.put(path, { role: 'member' })).status).toBe(200);
  await becomes(200);
  expect((await gateway.admin.delete(`/admin/users/${userId}`)).status).toBe(200);
  await becomes(401);
  const self = await fetch(`${gateway.baseUrl}/auth/self`, { headers: { authorization: `Bearer ${token}` } });
  expect(self.status).toBe(401);
});

it('users: a browser uses its cookie through the gateway, on pages of the gateway only', async () => {
  const { cookie, userId } = await invitee('browser@example.com', 'manager');
  expect(cookie).toMatch(/^svc_session=svc_session_/);
  const self = await fetch(`${gateway.baseUrl}/auth/self`, { headers: { cookie } });
  expect(((await self.json()) as { user: { id: string } }).user.id).toBe(userId);
  const make = (origin: string) =>
    fetch(`${gateway.baseUrl}/configs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie, origin },
      body: JSON.stringify({ name: 'C', config: { provider: '@mock' } }),
    }).then((reply) => reply.status);
  expect(await make(gateway.origin)).toBe(200);
  expect(await make('http://evil.example')).toBe(403);
  const page = await fetch(`${gateway.baseUrl}/auth/link`);
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
});

it('users: a session is no key for models, and is not sent to providers', async () => {
  const { key, token, cookie } = await invitee('careless@example.com', 'member');
  expect(await chat({ authorization: `Bearer ${token}` })).toBe(401);
  expect(await chat({ 'x-svc-api-key': token })).toBe(401);
  expect(await chat({ cookie })).toBe(401);
  const config = JSON.stringify({ provider: '@oai', forward_headers: ['cookie', 'x-extra'] });
  const before = gateway.upstream.requests.length;
  const status = await chat({ 'x-svc-api-key': key, 'x-svc-config': config, cookie, 'x-extra': `Bearer ${token}` });
  expect(status).toBe(200);
  expect(gateway.upstream.requests.length).toBe(before + 1);
  const sent = JSON.stringify(gateway.upstream.requests.slice(before));
  expect(sent).not.toContain('svc_session');
});
