import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browse, type OAuthUpstream, startOAuthUpstream } from '../support/oauth-upstream.ts';
import { type SharedGateway, shareGateway } from '../support/shared-gateway.ts';
import { until } from '../support/until.ts';

/** OAuth of MCP servers, with gateway, control plane and `oidc-provider` as processes and servers of their own. */
let gateway: SharedGateway;
let upstream: OAuthUpstream;
let workspaceSlug: string;
let serverId: string;

interface User {
  readonly id: string;
  readonly key: string;
  readonly cookie: string;
}

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([shareGateway(), startOAuthUpstream()]);
  const workspace_id = gateway.workspaceId;
  workspaceSlug = (await gateway.admin.get(`/admin/workspaces/${workspace_id}`)).body.slug;
  const fields = { name: 'Issues', url: upstream.url, transport: 'http', auth_type: 'oauth_auto', workspace_id };
  const { id } = await gateway.admin.create('/mcp-integrations', { ...fields, slug: `oauth-${workspaceSlug}` });
  const made = await gateway.admin.create('/mcp-servers', {
    name: 'Issues',
    slug: 'issues',
    workspace_id,
    mcp_integration_id: id,
  });
  serverId = String(made.id);
});
afterAll(async () => {
  await upstream?.close();
});

/** A user of the workspace who has signed in with a browser. */
async function newUser(email: string): Promise<User> {
  const password = 'correct horse battery staple';
  const sent = { email, role: 'member', workspaces: [{ id: gateway.workspaceId, role: 'member' }] };
  const invited = await gateway.admin.post('/admin/users/invites', sent);
  const token = new URL(invited.body.invite_link).hash.replace('#accept-invite=', '');
  const reply = await fetch(`${gateway.baseUrl}/auth/invites/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.origin },
    body: JSON.stringify({ token, password }),
  });
  const cookie = /svc_session=([^;]+)/.exec(reply.headers.get('set-cookie') ?? '')?.[1] as string;
  const users = (await gateway.admin.get(`/admin/users?email=${encodeURIComponent(email)}`)).body.data;
  const id = users.find((one: { email: string }) => one.email === email).id;
  const made = await gateway.admin.post('/api-keys/workspace/user', {
    ...{ name: email, user_id: id, workspace_id: gateway.workspaceId, scopes: ['mcp.invoke'] },
  });
  return { id, key: made.body.key, cookie };
}

async function post(key: string, method: string, params: object = {}) {
  const reply = await fetch(`${gateway.origin}/${workspaceSlug}/issues/mcp`, {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', 'x-svc-api-key': key },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await reply.text();
  return { status: reply.status, message: JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null')) };
}

describe('an MCP server with OAuth', () => {
  it('is used by each user with an account of their own', async () => {
    const [ada, bob] = [await newUser('ada@oauth.example.com'), await newUser('bob@oauth.example.com')];
    const first = await post(ada.key, 'tools/list');
    const url = first.message.error.data.authorizationUrl;
    expect(first).toMatchObject({ status: 200, message: { id: 1, error: { code: -32000, data: { type: 'oauth_required' } } } });
    expect(new URL(url).pathname).toBe(`/v1/oauth/connect/${serverId}`);
    for (const [user, account] of [
      [ada, 'ada-upstream'],
      [bob, 'bob-upstream'],
    ] as const) {
      upstream.account = account;
      const begin = await browse(`${gateway.origin}${new URL(url).pathname}`, { svc_session: user.cookie }, (next) =>
        next.includes('/oauth/upstream-callback?'),
      );
      const callback = new URL(begin.address);
      const done = await browse(`${gateway.origin}${callback.pathname}${callback.search}`, { svc_session: user.cookie });
      expect([done.status, done.text]).toEqual([200, expect.stringContaining('is connected')]);
      const client = new Client({ name: 'test', version: '1' });
      const transport = new StreamableHTTPClientTransport(new URL(`${gateway.origin}/${workspaceSlug}/issues/mcp`), {
        requestInit: { headers: { 'x-svc-api-key': user.key } },
      });
      await until(async () => (await post(user.key, 'tools/list')).message.result, { what: 'the token at the gateway' });
      const before = upstream.accounts.length;
      await client.connect(transport as Parameters<Client['connect']>[0]);
      expect((await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).content).toEqual([{ type: 'text', text: '3' }]);
      await client.close();
      expect(new Set(upstream.accounts.slice(before))).toEqual(new Set([account]));
    }

    // A token that the authorisation server has ended is replaced within the request, also when the session must be opened again.
    const tokens = new Set(upstream.received.map(({ headers }) => headers.authorization?.slice(7)).filter(Boolean));
    for (const token of tokens) await upstream.revoke(token as string);
    const renewed = await Promise.all(
      [1, 2, 3].map(() => post(ada.key, 'tools/call', { name: 'echo', arguments: { text: 'a' } })),
    );
    expect(renewed.map(({ message }) => message.error?.message ?? message.result.content[0].text)).toEqual(['a', 'a', 'a']);
    expect(upstream.accounts.at(-1)).toBe('ada-upstream');

    // A deleted connection is not used again.
    await gateway.admin.delete(`/mcp-servers/${serverId}/connections?user_id=${ada.id}&workspace_id=${gateway.workspaceId}`);
    await until(async () => (await post(ada.key, 'tools/list')).message.error?.code === -32000, {
      what: 'the end of the connection',
    });
    expect((await post(bob.key, 'tools/list')).message.result.tools.length).toBeGreaterThan(0);

    // A key without a user has no account.
    const machine = await post(gateway.workspaceKey, 'tools/list');
    expect(machine.message.error.message).toMatch(/needs the account of a user/);
  });
});
