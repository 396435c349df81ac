import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../admin/audit/entity.ts';
import { oauthGrants } from '../../../../admin/resources/oauth-grants/entity.ts';
import { until } from '../../../support/until.ts';
import { newPerson, type Person } from '../../support/people.ts';
import type { Plane, Reply } from '../../support/plane.ts';
import { startPlaneWithGateway } from '../../support/plane-gateway.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const redirectUri = 'https://client.example.com/callback';
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');

describe.each(ruleDatabases)('the authorisation server for MCP clients, on %s', (database) => {
  let plane: Plane;
  let ada: Person;
  let bob: Person;
  let clientId: string;
  let serverId: string;
  /** Serves metadata documents of clients. */
  let host: Server;
  let origin: string;
  let document: (url: string) => { status?: number; body: string };
  beforeAll(async () => {
    host = createServer((request, response) => {
      const { status = 200, body } = document(`${origin}${request.url}`);
      response.writeHead(status, { location: '/other.json' }).end(body);
    }).listen(0, '127.0.0.1');
    await once(host, 'listening');
    origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    plane = await startPlaneWithGateway(database, { TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
    // MCP servers have a host name of their own.
    Object.assign(plane.settings, { publicUrl: plane.url, mcpPublicUrl: 'https://mcp.example.com' });
    const places = [{ id: plane.workspaceId, role: 'member' as const }];
    [ada, bob] = [await newPerson(plane, 'member', places), await newPerson(plane, 'member', places)];
    clientId = (await register({ redirect_uris: [redirectUri, 'http://127.0.0.1/back'] })).body.client_id;
    const fields = { name: 'Issues', slug: 'issues', url: 'https://mcp.example.com/mcp', transport: 'http', auth_type: 'none' };
    const made = await plane.ask('POST', '/mcp-integrations', { body: { ...fields, workspace_id: plane.workspaceId } });
    const server = { name: 'Issues', slug: 'issues', workspace_id: plane.workspaceId, mcp_integration_id: made.body.id };
    serverId = (await plane.ask('POST', '/mcp-servers', { body: server })).body.id;
  });
  afterAll(async () => {
    await plane?.close();
    host?.close();
  });

  const register = (body: object) =>
    plane.ask('POST', '/oauth/register', { key: null, body: { client_name: 'Editor', ...body } });
  const resource = (slug = 'issues') => `https://mcp.example.com/ws-default/${slug}/mcp`;

  async function authorise(person: Person | null, change: Record<string, string | undefined> = {}) {
    const parameters = {
      ...{ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state: 'xyz', resource: resource() },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', ...change },
    };
    const sent = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const headers: Record<string, string> = person ? { cookie: `svc_session=${person.token}` } : {};
    const reply = await fetch(`${plane.url}/oauth/authorize?${new URLSearchParams(sent)}`, { redirect: 'manual', headers });
    const text = await reply.text();
    const resumeState = /name="resume_state" value="([^"]+)"/.exec(text)?.[1] ?? '';
    return { status: reply.status, text, resumeState, location: reply.headers.get('location'), headers: reply.headers };
  }

  /** Address of the link with which a page reports an error to the client. */
  function linkOf({ text }: { readonly text: string }): URL {
    return new URL(/<a href="([^"]+)">Return to /.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '');
  }

  async function decide(person: Person, resumeState: string, approved = true, headers: Record<string, string> = {}) {
    const reply = await plane.ask('POST', '/oauth/authorize', {
      key: null,
      body: { approved, resume_state: resumeState },
      headers: { cookie: `svc_session=${person.token}`, 'sec-fetch-site': 'same-origin', ...headers },
    });
    const url = URL.parse(String(reply.body.redirect_uri));
    return { ...reply, url, code: url?.searchParams.get('code') ?? '' };
  }

  const codeOf = async (person = ada, change: Record<string, string | undefined> = {}) =>
    (await decide(person, (await authorise(person, change)).resumeState)).code;

  async function post(path: string, form: Record<string, string>) {
    const reply = await fetch(`${plane.url}/oauth/${path}`, { method: 'POST', body: new URLSearchParams(form) });
    return { status: reply.status, body: (await reply.json()) as Reply['body'] };
  }
  const exchange = (code: string, change: Record<string, string> = {}) => {
    const form = {
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    };
    return post('token', { ...form, ...change });
  };
  const refresh = (token: string, change: Record<string, string> = {}) =>
    post('token', { grant_type: 'refresh_token', refresh_token: token, client_id: clientId, ...change });
  const introspect = async (token: string) => (await post('introspect', { token })).body;
  const grantOf = (token: string) => token.replace(/^svc_[a-z]+_(.{8})(.{4})(.{4})(.{4})(.{12})_.*$/, '$1-$2-$3-$4-$5');
  const documentOf = async (token: string) =>
    (await plane.internal('GET', `/documents/oauth-grant/${grantOf(token)}`)).body.document;

  it('a user gives a client access to one MCP server: metadata, registration, consent, code, tokens', async () => {
    const metadata = await (await fetch(`${plane.url}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).toMatchObject({
      ...{ issuer: plane.url, code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'] },
      ...{ authorization_response_iss_parameter_supported: true, client_id_metadata_document_supported: true },
    });
    expect((await authorise(null)).location).toMatch(/sign-in\?.*oauth%2Fauthorize/);
    const page = await authorise(ada);
    for (const shown of ['client.example.com', 'Editor', 'not verified', ada.email, 'Issues in'])
      expect(page.text).toContain(shown);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const decided = await decide(ada, page.resumeState);
    expect(decided.url?.origin).toBe('https://client.example.com');
    expect(Object.fromEntries(decided.url?.searchParams ?? [])).toEqual({
      code: expect.any(String),
      state: 'xyz',
      iss: plane.url,
    });
    expect(await plane.lastAudit()).toMatchObject({ userId: ada.id, resourceType: 'oauth_grants', action: 'decide' });
    const { status, body } = await exchange(decided.code);
    expect([status, body]).toEqual([
      200,
      {
        ...{ access_token: expect.stringMatching(/^svc_oauth_/), refresh_token: expect.stringMatching(/^svc_refresh_/) },
        ...{ token_type: 'Bearer', expires_in: 600, scope: 'mcp.invoke' },
      },
    ]);
    expect(await introspect(body.access_token)).toMatchObject({
      ...{ active: true, sub: ada.id, client_id: clientId, aud: resource(), iss: plane.url, username: ada.email },
      ...{ organisation_id: plane.organisationId, workspace_id: plane.workspaceId, resource_id: serverId },
    });
    expect(await documentOf(body.access_token)).toMatchObject({ userId: ada.id, serverId, scopes: ['mcp.invoke'] });
    const listed = await plane.ask('GET', '/oauth/grants', { key: ada.token });
    expect(listed.body.data).toMatchObject([{ client_name: 'Editor', mcp_server_id: serverId }]);
    expect((await plane.ask('GET', '/oauth/grants', { key: bob.token })).body.data).toEqual([]);
    expect((await plane.ask('DELETE', `/oauth/grants/${listed.body.data[0].id}`, { key: bob.token })).status).toBe(404);
    expect((await plane.ask('DELETE', `/oauth/grants/${listed.body.data[0].id}`, { key: ada.token })).body).toEqual({
      success: true,
    });
    expect(plane.notices.at(-1)).toMatchObject({ kind: 'oauth-grant', op: 'delete' });
    expect([await introspect(body.access_token), await documentOf(body.access_token)]).toEqual([{ active: false }, null]);
  });

  it('a virtual server has tokens of its own, until it is archived or the user loses the workspace', async () => {
    const body = { workspace_id: plane.workspaceId, name: 'Support', slug: 'support' };
    const made = await plane.ask('POST', '/mcp-virtual-servers', {
      body: { ...body, tools: [{ mcp_server_id: 'issues', tool: '*' }] },
    });
    const page = await authorise(ada, { resource: resource('support') });
    expect(page.text).toContain('Support in');
    const { code } = await decide(ada, page.resumeState);
    const { access_token, refresh_token } = (await exchange(code, { resource: resource('support') })).body;
    expect(await introspect(access_token)).toMatchObject({ active: true, aud: resource('support'), resource_id: made.body.id });
    expect(await documentOf(access_token)).toMatchObject({ serverId: made.body.id, userId: ada.id });
    // The address of this service is another resource than the host of MCP servers.
    const elsewhere = await authorise(ada, { resource: `${plane.url}/ws-default/support/mcp` });
    expect(linkOf(elsewhere).searchParams.get('error')).toBe('invalid_target');
    await plane.ask('DELETE', `/mcp-virtual-servers/support?workspace_id=${plane.workspaceId}`);
    expect(await documentOf(access_token)).toBeNull();
    expect((await refresh(refresh_token)).body.error).toBe('invalid_grant');
    const gone = await authorise(ada, { resource: resource('support') });
    expect(linkOf(gone).searchParams.get('error')).toBe('access_denied');
  });

  it('refresh tokens rotate, and a second use of one ends the grant', async () => {
    const first = (await exchange(await codeOf())).body;
    expect((await refresh(first.refresh_token, { client_id: 'other' })).body.error).toBe('invalid_grant');
    expect((await refresh(first.refresh_token, { resource: 'https://other.example.com/mcp' })).body.error).toBe('invalid_target');
    const second = (await refresh(first.refresh_token)).body;
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect((await introspect(second.access_token)).active).toBe(true);
    const again = await refresh(first.refresh_token);
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    expect((await refresh(second.refresh_token)).body.error).toBe('invalid_grant');
    expect(await introspect(second.access_token)).toEqual({ active: false });
    expect(plane.notices.at(-1)).toMatchObject({ kind: 'oauth-grant', id: grantOf(first.access_token), op: 'delete' });
    // At most one of several concurrent uses of one token succeeds.
    const { refresh_token } = (await exchange(await codeOf())).body;
    const replies = await Promise.all([1, 2, 3, 4].map(() => refresh(refresh_token)));
    expect(replies.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect((await refresh(refresh_token)).status).toBe(400);
  });

  it('a code is used once; its replay ends what the first use gave', async () => {
    const code = await codeOf();
    const { access_token } = (await exchange(code)).body;
    expect((await exchange(code)).body).toMatchObject({ error: 'invalid_grant', error_description: 'code: already used' });
    expect(await introspect(access_token)).toEqual({ active: false });
    const raced = await codeOf();
    const replies = await Promise.all([1, 2, 3].map(() => exchange(raced)));
    expect(replies.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  it.each<[string, Record<string, string>, string, string?]>([
    ['without the verifier', { code_verifier: '' }, 'code_verifier'],
    ['with another verifier', { code_verifier: randomBytes(32).toString('base64url') }, 'code_verifier'],
    ['with the challenge as verifier (PKCE downgrade)', { code_verifier: challenge }, 'code_verifier'],
    ['of another client', { client_id: 'other' }, 'client_id'],
    ['for another redirect URI', { redirect_uri: 'https://client.example.com/other' }, 'redirect_uri'],
    ['for another resource', { resource: 'https://other.example.com/mcp' }, 'resource', 'invalid_target'],
  ])('a code is refused %s', async (_, change, field, error = 'invalid_grant') => {
    const reply = await exchange(await codeOf(), change);
    expect([reply.status, reply.body.error, reply.body.error_description]).toEqual([400, error, expect.stringContaining(field)]);
  });

  it.each<[string, Record<string, string | undefined>, string]>([
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['PKCE plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
    ['no resource', { resource: undefined }, 'invalid_target'],
    ['a resource of another service', { resource: 'https://other.example.com/ws-default/issues/mcp' }, 'invalid_target'],
    ['an unknown server', { resource: 'unknown' }, 'access_denied'],
  ])('a request with %s is reported to the client, to another host only if the user follows a link', async (_, change, error) => {
    const sent = change.resource === 'unknown' ? { resource: resource('none') } : change;
    const page = await authorise(ada, sent);
    expect([page.status, page.location]).toEqual([400, null]);
    const local = await authorise(ada, { ...sent, redirect_uri: 'http://127.0.0.1:4711/back' });
    expect(local.status).toBe(302);
    for (const [url, origin] of [
      [linkOf(page), 'https://client.example.com'],
      [new URL(local.location ?? ''), 'http://127.0.0.1:4711'],
    ] as const) {
      expect([url.origin, url.searchParams.get('error')]).toEqual([origin, error]);
      expect([url.searchParams.get('state'), url.searchParams.get('iss')]).toEqual(['xyz', plane.url]);
    }
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['an unknown client', { client_id: 'svc_client_made_up' }],
    ['another host', { redirect_uri: 'https://attacker.example.com/callback' }],
    ['a path below the registered one', { redirect_uri: `${redirectUri}/more` }],
    ['a user name', { redirect_uri: 'https://client.example.com@attacker.example.com/callback' }],
    ['a fragment', { redirect_uri: `${redirectUri}#x` }],
    ['a script', { redirect_uri: 'javascript:alert(1)' }],
    ['another loopback path', { redirect_uri: 'http://127.0.0.1:4711/other' }],
    ['another spelling of a loopback host', { redirect_uri: 'http://2130706433:4711/back' }],
    ['another spelling of a path', { redirect_uri: 'http://127.0.0.1:4711/x/../back' }],
    ['no redirect URI', { redirect_uri: undefined }],
  ])('the browser is never sent on with %s', async (_, change) => {
    const { status, location, text, headers } = await authorise(ada, change);
    expect([status, location]).toEqual([400, null]);
    expect(text).toContain('Access cannot be given');
    const requestId = headers.get('x-request-id') ?? '';
    const em = () => plane.control.services.database.em();
    const entry = await until(() => em().findOne(auditEntries, { requestId }), { what: 'the audit entry' });
    expect(entry).toMatchObject({ action: 'authorise', userId: ada.id, requestBody: { message: expect.any(String) } });
  });

  it('the port of a loopback redirect is free, and the page warns of it', async () => {
    const page = await authorise(ada, { redirect_uri: 'http://127.0.0.1:4711/back' });
    expect(page.text).toContain('a program on the computer of this browser');
    expect((await decide(ada, page.resumeState)).url?.host).toBe('127.0.0.1:4711');
  });

  it.each([1_211, 2_045])('a client with a state of %i characters gets it back, also after a sign-in', async (length) => {
    const state = JSON.stringify({ page: '"/:"'.repeat((length - 11) / 6) });
    const page = await fetch(plane.url + (await authorise(null, { state })).location);
    const return_to = /name="return_to" value="([^"]+)"/.exec(await page.text())?.[1]?.replaceAll('&amp;', '&') ?? '';
    const body = new URLSearchParams({ email: ada.email, password: ada.password, return_to });
    const sent = { method: 'POST', body, headers: { 'sec-fetch-site': 'same-origin' }, redirect: 'manual' } as const;
    expect((await fetch(`${plane.url}/v1/auth/sign-in`, sent)).headers.get('location')).toBe(return_to);
    const { resumeState } = await authorise(ada, Object.fromEntries(new URL(return_to, plane.url).searchParams));
    expect((await decide(ada, resumeState)).url?.searchParams.get('state')).toBe(state);
  });

  it('consent belongs to the session that asked, and to a page of this service', async () => {
    const { resumeState } = await authorise(ada);
    expect((await decide(bob, resumeState)).body).toMatchObject({ error: 'invalid_request' });
    expect((await decide(ada, resumeState, true, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const denied = await decide(ada, resumeState, false);
    expect(Object.fromEntries(denied.url?.searchParams ?? [])).toEqual({ error: 'access_denied', state: 'xyz', iss: plane.url });
    const altered = resumeState.slice(0, -6) + (resumeState.endsWith('AAAAAA') ? 'BBBBBB' : 'AAAAAA');
    expect((await decide(ada, altered)).status).toBe(400);
  });

  it('a client with a metadata document shows its host; a document that lies is refused', async () => {
    const uri = 'https://app.example.com/back';
    const valid = (url: string) => ({ client_id: url, client_name: 'My App <b>', redirect_uris: [uri] });
    document = (url) => ({ body: JSON.stringify(valid(url)) });
    const page = await authorise(ada, { client_id: `${origin}/good.json`, redirect_uri: uri });
    for (const shown of [new URL(origin).host, 'app.example.com', 'My App &lt;b&gt;']) expect(page.text).toContain(shown);
    const lies: [string, (url: string) => { status?: number; body: string }][] = [
      ['names another client_id', () => ({ body: JSON.stringify(valid('https://other.example.com/client.json')) })],
      [
        'must have at most 5120 bytes',
        (url) => ({ body: JSON.stringify({ ...valid(url), client_name: 'x', tos: 'x'.repeat(6_000) }) }),
      ],
      ['is a redirect, which is not followed', () => ({ status: 302, body: '' })],
      ['cannot be read: status 500.', () => ({ status: 500, body: '' })],
      ['client_secret: not allowed', (url) => ({ body: JSON.stringify({ ...valid(url), client_secret: 's' }) })],
      [
        'token_endpoint_auth_method: none is expected',
        (url) => ({ body: JSON.stringify({ ...valid(url), token_endpoint_auth_method: 'private_key_jwt' }) }),
      ],
      [
        'redirect_uris[0]: must begin',
        (url) => ({ body: JSON.stringify({ ...valid(url), redirect_uris: ['http://a.example/'] }) }),
      ],
      ['a JSON object is expected', () => ({ body: 'hello' })],
    ];
    for (const [index, [reason, lie]] of lies.entries()) {
      document = lie;
      const refused = await authorise(ada, { client_id: `${origin}/lie-${index}.json`, redirect_uri: uri });
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(reason)]);
    }
    const internal = [
      'http://10.0.0.1/c.json',
      'https://169.254.169.254/latest',
      'http://localhost:22/c',
      `${origin}/`,
      `${origin}/a/../b.json`,
    ];
    for (const client_id of internal) expect((await authorise(ada, { client_id, redirect_uri: uri })).status).toBe(400);
  });

  it('registration refuses unsafe redirect URIs, and floods', async () => {
    const unsafe = [
      'http://client.example.com/back',
      'myapp://back',
      'https://*.example.com/',
      'https://a@b.example.com/',
      'javascript:x',
      'x',
    ];
    for (const uri of unsafe) {
      const { status, body } = await register({ redirect_uris: [uri] });
      expect([status, body.error, body.error_description]).toEqual([
        400,
        'invalid_redirect_uri',
        expect.stringContaining('redirect_uris[0]'),
      ]);
    }
    for (const [body, text] of [
      [{}, 'redirect_uris: required'],
      [{ redirect_uris: [] }, 'redirect_uris: at least 1 entry'],
      [{ redirect_uris: [5] }, 'redirect_uris[0]: expected string, received number'],
    ] as const) {
      const reply = await register(body);
      expect([reply.status, reply.body]).toEqual([400, { error: 'invalid_client_metadata', error_description: text }]);
    }
    const unread = await plane.ask('POST', '/oauth/register', { key: null, body: '{' });
    expect([unread.status, unread.body]).toEqual([
      400,
      { error: 'invalid_request', error_description: expect.stringContaining('body: invalid JSON') },
    ]);
  });

  it('a caller with an API key learns about the tokens of its own organisation only', async () => {
    const { access_token, refresh_token } = (await exchange(await codeOf())).body;
    const other = await plane.newTenant();
    const ask = async (key: string, token: string, header = 'x-svc-api-key') => {
      const init = { method: 'POST', headers: { [header]: key }, body: new URLSearchParams({ token }) };
      const reply = await fetch(`${plane.url}/oauth/introspect`, init);
      return { status: reply.status, body: (await reply.json()) as Reply['body'], caching: reply.headers.get('cache-control') };
    };
    expect(await ask(plane.workspaceKey, access_token)).toMatchObject({
      status: 200,
      body: { active: true, organisation_id: plane.organisationId, aud: resource() },
      caching: 'no-store',
    });
    expect(await ask(`Bearer ${plane.adminKey}`, access_token, 'authorization')).toMatchObject({ body: { active: true } });
    for (const key of [other.adminKey, other.workspaceKey])
      expect((await ask(key, access_token)).body).toEqual({ active: false });
    expect(await ask('svc_ws_unknown', access_token)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    for (const token of [refresh_token, `${access_token}x`, '', 'x'.repeat(4_000)]) {
      expect((await ask(plane.workspaceKey, token)).body).toEqual({ active: false });
    }
  });

  it('revocation ends a grant, and so do a lost membership and a removed user', async () => {
    const revoked = (await exchange(await codeOf())).body;
    expect(await post('revoke', { token: 'unknown' })).toEqual({ status: 200, body: {} });
    expect(await post('revoke', { token: revoked.refresh_token })).toEqual({ status: 200, body: {} });
    expect(await documentOf(revoked.access_token)).toBeNull();
    const left = (await exchange(await codeOf(bob))).body;
    await plane.ask('DELETE', `/admin/workspaces/${plane.workspaceId}/users/${bob.id}`);
    expect(plane.notices.map(({ kind, id }) => `${kind} ${id}`)).toContain(`oauth-grant ${grantOf(left.access_token)}`);
    expect([await documentOf(left.access_token), await introspect(left.access_token)]).toEqual([null, { active: false }]);
    expect((await refresh(left.refresh_token)).body.error).toBe('invalid_grant');
    const gone = (await exchange(await codeOf(ada))).body;
    expect((await plane.ask('DELETE', `/admin/users/${ada.id}`)).status).toBe(200);
    expect(await documentOf(gone.access_token)).toBeNull();
    expect(await plane.control.services.database.em().count(oauthGrants, { userId: ada.id })).toBe(0);
  });

  // Last, because it leaves few requests to the address of the tests.
  it('one address can register some clients only', async () => {
    const replies = [];
    for (let i = 0; i < 30; i++) replies.push(await register({ redirect_uris: [redirectUri] }));
    const last = replies.at(-1);
    expect([last?.status, last?.body.error]).toEqual([429, 'temporarily_unavailable']);
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
