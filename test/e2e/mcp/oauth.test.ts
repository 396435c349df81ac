import { createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initialize } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { connectAccount, newMcpUser } from '../../support/samples/mcp-users.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { browse, type OAuthUpstream, startOAuthUpstream } from '../../support/tool-servers/oauth-upstream.ts';
import { until, within } from '../../support/until.ts';

/** OAuth of MCP servers, with gateway, control plane and `oidc-provider` as processes and servers of their own. */
let gateway: SharedGateway;
let upstream: OAuthUpstream;
let workspaceSlug: string;
let serverId: string;

let plain: McpUpstream;
const accepting = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

beforeAll(async () => {
  [gateway, upstream, plain] = await Promise.all([shareGateway(), startOAuthUpstream(), startMcpUpstream()]);
  const workspace_id = gateway.workspaceId;
  workspaceSlug = (await gateway.admin.get(`/admin/workspaces/${workspace_id}`)).body.slug;
  // The identity of the caller goes to the server beside its OAuth token.
  const configurations = { user_identity_forwarding: { method: 'bearer', header_name: 'x-caller' } };
  const fields = { name: 'Issues', url: upstream.url, transport: 'http', auth_type: 'oauth_auto', workspace_id, configurations };
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
  await plain?.close();
});

async function post(key: string, method: string, params: object = {}) {
  const reply = await fetch(`${gateway.origin}/${workspaceSlug}/issues/mcp`, {
    method: 'POST',
    headers: { ...accepting, 'x-svc-api-key': key },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await reply.text();
  return { status: reply.status, message: JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null')) };
}

describe('an OAuth client of an MCP server', () => {
  it('finds the authorisation server, and calls with an access token until it is revoked', async () => {
    const { cookie } = await newMcpUser(gateway, 'eve@oauth.example.com');
    const path = `/${workspaceSlug}/plain/mcp`;
    const workspace_id = gateway.workspaceId;
    for (const slug of ['plain', 'other']) {
      const fields = { name: slug, url: plain.url, transport: 'http', auth_type: 'none', workspace_id };
      const { id } = await gateway.admin.create('/mcp-integrations', { ...fields, slug: `${slug}-${workspaceSlug}` });
      await gateway.admin.create('/mcp-servers', { name: slug, slug, workspace_id, mcp_integration_id: id });
    }
    const call = async (token: string, to = path) => {
      const reply = await fetch(`${gateway.origin}${to}`, {
        method: 'POST',
        headers: { ...accepting, authorization: `Bearer ${token}` },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
      return { status: reply.status, challenge: reply.headers.get('www-authenticate') ?? '', text: await reply.text() };
    };
    const json = async (to: string, init: RequestInit = {}) =>
      (await (await fetch(`${gateway.origin}${to}`, init)).json()) as Record<string, string>;

    const { challenge } = await call('svc_oauth_made_up');
    const metadataUrl = new URL(/resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '');
    const { resource, authorization_servers } = await json(metadataUrl.pathname);
    const server = await json('/.well-known/oauth-authorization-server');
    expect(authorization_servers).toEqual([server.issuer]);
    const redirect_uri = 'http://127.0.0.1:9999/back';
    const posted = (body: object, headers = {}) => ({
      ...{ method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) },
    });
    const { client_id } = await json(
      new URL(server.registration_endpoint as string).pathname,
      posted({ redirect_uris: [redirect_uri] }),
    );
    const code_verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      ...{ client_id: client_id as string, redirect_uri, resource: resource as string },
      ...{ response_type: 'code', code_challenge_method: 'S256' },
      code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    });
    const page = await browse(`${gateway.origin}/oauth/authorize?${query}`, { svc_session: cookie });
    const resume_state = /name="resume_state" value="([^"]+)"/.exec(page.text)?.[1];
    const ofPage = { cookie: `svc_session=${cookie}`, origin: gateway.origin };
    const decided = await json('/oauth/authorize', posted({ approved: true, resume_state }, ofPage));
    const code = new URL(decided.redirect_uri as string).searchParams.get('code') as string;
    const exchanged = { grant_type: 'authorization_code', code, client_id, redirect_uri, code_verifier, resource } as Record<
      string,
      string
    >;
    const tokens = await json('/oauth/token', { method: 'POST', body: new URLSearchParams(exchanged) });

    const access_token = tokens.access_token as string;
    expect((await call(access_token)).status).toBe(200);
    expect(plain.received.map(({ headers }) => JSON.stringify(headers)).join()).not.toContain(access_token);
    // The token is for this server only, and for nothing else.
    const elsewhere = await call(access_token, `/${workspaceSlug}/other/mcp`);
    expect([elsewhere.status, elsewhere.text, elsewhere.challenge]).toEqual([
      401,
      expect.stringContaining('The access token is for another MCP server'),
      expect.stringMatching(/^Bearer error="invalid_token", .*resource_metadata="[^"]*\/other\/mcp"/),
    ]);
    const models = await fetch(`${gateway.baseUrl}/models`, { headers: { authorization: `Bearer ${access_token}` } });
    expect(models.status).toBe(403);
    const altered = await call(access_token.replace(/_(\d+)_/, (_: string, time: string) => `_${Number(time) + 1}_`));
    expect([altered.status, altered.challenge]).toEqual([
      401,
      expect.stringMatching(/^Bearer error="invalid_token", .*resource_metadata=/),
    ]);

    const begun = await fetch(`${gateway.origin}${path}`, {
      method: 'POST',
      headers: { ...accepting, authorization: `Bearer ${access_token}` },
      body: JSON.stringify(initialize),
    });
    const session = { 'mcp-session-id': String(begun.headers.get('mcp-session-id')), 'mcp-protocol-version': '2025-11-25' };
    const stream = await fetch(`${gateway.origin}${path}`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${access_token}`, ...session },
    });
    expect(stream.status).toBe(200);
    await json('/oauth/revoke', { method: 'POST', body: new URLSearchParams({ token: tokens.refresh_token as string }) });
    await until(async () => (await call(access_token)).status === 401, { what: 'the end of the token at the gateway' });
    // The stream is cut or ends.
    await within(
      stream.text().catch(() => ''),
      'the end of the stream',
    );
  });
});

describe('an MCP server with OAuth', () => {
  it('is used by each user with an account of their own', async () => {
    const [ada, bob] = [await newMcpUser(gateway, 'ada@oauth.example.com'), await newMcpUser(gateway, 'bob@oauth.example.com')];
    const first = await post(ada.key, 'tools/list');
    const url = first.message.error.data.authorizationUrl;
    expect(first).toMatchObject({ status: 200, message: { id: 1, error: { code: -32000, data: { type: 'oauth_required' } } } });
    expect(new URL(url).pathname).toBe(`/v1/oauth/connect/${serverId}`);
    for (const [user, account] of [
      [ada, 'ada-upstream'],
      [bob, 'bob-upstream'],
    ] as const) {
      await connectAccount(gateway, upstream, { user, account, url });
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
      const { authorization, 'x-caller': caller } = upstream.received.at(-1)?.headers ?? {};
      expect(await upstream.accountOf(String(authorization).replace('Bearer ', ''))).toBe(account);
      const claims = JSON.parse(Buffer.from(String(caller).split('.')[1] ?? '', 'base64url').toString());
      expect([String(caller).slice(0, 10), claims.user_id]).toEqual(['Bearer eyJ', user.id]);
    }

    // A token that the authorisation server has ended is replaced within the request, also when the session must be opened again.
    const tokens = new Set(upstream.received.map(({ headers }) => headers.authorization?.slice(7)).filter(Boolean));
    for (const token of tokens) await upstream.revoke(token as string);
    const renewed = await Promise.all(
      [1, 2, 3].map(() => post(ada.key, 'tools/call', { name: 'echo', arguments: { text: 'a' } })),
    );
    expect(renewed.map(({ message }) => message.error?.message ?? message.result.content[0].text)).toEqual(['a', 'a', 'a']);
    expect(upstream.accounts.at(-1)).toBe('ada-upstream');

    // A call that needs a further scope leads to an authorisation with it. The connection serves other calls meanwhile.
    const scopes: string[] = [];
    upstream.override = async (request, response) => {
      const scope = await upstream.scopeOf(request.headers.authorization?.slice(7) ?? '');
      if (scope === undefined) return void response.writeHead(401).end();
      scopes.push(scope);
      if (scope.split(' ').includes('admin')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        return void response.end('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}');
      }
      const challenge = 'Bearer error="insufficient_scope", scope="admin"';
      response.writeHead(403, { 'www-authenticate': challenge }).end();
    };
    const erase = () => post(ada.key, 'tools/call', { name: 'erase' });
    const missing = (await erase()).message.error;
    expect(missing).toMatchObject({ code: -32000, message: expect.stringContaining('further permissions (admin)') });
    expect(missing.data).toMatchObject({ type: 'oauth_required', scope: 'admin', authorizationUrl: url });
    await connectAccount(gateway, upstream, { user: ada, account: 'ada-upstream', url });
    await until(async () => (await erase()).message.result, { what: 'the token with the scope' });
    expect([scopes[0], scopes.at(-1)?.split(' ').sort()]).toEqual(['mcp', ['admin', 'mcp']]);

    // A server that is never content with its scope does not lead to a further authorisation.
    const forAll = (status: number, error: string) => (_: unknown, response: ServerResponse) =>
      void response.writeHead(status, { 'www-authenticate': `Bearer error="${error}", scope="admin"` }).end();
    upstream.override = forAll(403, 'insufficient_scope');
    expect((await erase()).message.error).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^No token .* demands admin, .* Connect an account that has this permission: http/),
    });

    // The scope may be demanded with 401, also when a session is opened. A renewed token is tried first.
    upstream.override = forAll(401, 'invalid_token');
    const demanded = (await post(bob.key, 'tools/call', { name: 'erase' })).message.error;
    expect(demanded).toMatchObject({ code: -32000, data: { type: 'oauth_required', scope: 'admin', authorizationUrl: url } });
    upstream.override = null;
    expect((await post(ada.key, 'tools/list')).message).toMatchObject({
      result: { tools: [{ name: 'echo' }, ...new Array(6).fill({})] },
    });

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
