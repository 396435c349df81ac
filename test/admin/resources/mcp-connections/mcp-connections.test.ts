import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpConnections } from '../../../../admin/resources/mcp-connections/entity.ts';
import { createTokenService } from '../../../../admin/resources/mcp-connections/serve-tokens.ts';
import { browse, type OAuthUpstream } from '../../../support/tool-servers/oauth-upstream.ts';
import { until } from '../../../support/until.ts';
import { machine, type OAuthPlane, startOAuthPlane } from '../../support/oauth-plane.ts';
import { newPerson, type Person } from '../../support/people.ts';
import type { Plane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('connections to MCP servers with OAuth, on %s', (database) => {
  let oauth: OAuthPlane;
  let plane: Plane;
  let upstream: OAuthUpstream;
  let ada: Person;
  let bob: Person;
  let server: string;
  beforeAll(async () => {
    oauth = await startOAuthPlane(database);
    ({ plane, upstream } = oauth);
    const places = [{ id: plane.workspaceId, role: 'member' as const }];
    [ada, bob] = [await newPerson(plane, 'member', places), await newPerson(plane, 'member', places)];
    server = await addServer('issues', {});
  });
  afterAll(async () => {
    await oauth?.close();
  });

  const addServer: OAuthPlane['addServer'] = (slug, fields) => oauth.addServer(slug, fields);
  const tokenFor = (userId: string | null, rejected?: string | null, of = server, scope?: string, isInvalid?: boolean) =>
    oauth.tokenFor(of, userId, rejected, scope, isInvalid);
  const plain: OAuthPlane['plain'] = (document) => oauth.plain(document);
  const expire = (userId: string | null, of = server) => oauth.expire(of, userId);
  const cookieOf = (person: Person) => ({ svc_session: person.token });
  const connectUrl = (id = server) => `${plane.url}/v1/oauth/connect/${id}`;
  const connect = (person: Person, account: string, id = server) => {
    upstream.account = account;
    return browse(connectUrl(id), cookieOf(person));
  };

  it('a user connects an account: discovery, registration, PKCE, and a token for this server', async () => {
    expect(await tokenFor(ada.id)).toEqual({ state: 'required', url: connectUrl() });
    const done = await connect(ada, 'ada-upstream');
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('Your account at issues is connected')]);
    const sent = Object.fromEntries(upstream.tokenRequests.at(-1) ?? []);
    expect(sent).toMatchObject({ grant_type: 'authorization_code', resource: upstream.url });
    expect(sent.code_verifier).toMatch(/^.{43,}$/);
    const { state, document } = await tokenFor(ada.id);
    expect([state, document.userId, document.serverId]).toEqual(['connected', ada.id, server]);
    const reply = await fetch(upstream.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${plain(document)}` },
      body: '{}',
    });
    expect([reply.status === 401, upstream.accounts.at(-1)]).toEqual([false, 'ada-upstream']);
    const read = await plane.internal('GET', `/documents/mcp-connection/${server}%2F${ada.id}`);
    expect(read.body.document).toMatchObject({ tokenId: document.tokenId, userId: ada.id });
    expect(plane.notices.at(-1)).toMatchObject({ kind: 'mcp-connection', id: `${server}/${ada.id}`, op: 'upsert' });
    const row = await plane.control.services.database.em().findOneOrFail(mcpConnections, { userId: ada.id });
    expect(JSON.stringify(row)).not.toContain(plain(document));
    expect(await plane.lastAudit()).toMatchObject({ userId: ada.id, resourceType: 'mcp_connections', action: 'connect' });
  });

  it('a token is refreshed once per expiry, whatever the number of processes', async () => {
    const before = (await tokenFor(ada.id)).document;
    await expire(ada.id);
    const requests = upstream.tokenRequests.length;
    const processes = Array.from({ length: 4 }, () => createTokenService(plane.control.services));
    const asked = processes.flatMap((ask) => [1, 2].map(() => ask({ serverId: server, userId: ada.id, rejected: null })));
    const replies = await Promise.all(asked);
    const ids = replies.map((reply) => (reply.state === 'connected' ? reply.document.tokenId : reply));
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).not.toBe(before.tokenId);
    expect(upstream.tokenRequests.slice(requests).map((one) => [one.get('grant_type'), one.get('resource')])).toEqual([
      ['refresh_token', upstream.url],
    ]);
    expect(plane.notices.at(-1)).toMatchObject({ kind: 'mcp-connection', id: `${server}/${ada.id}`, op: 'upsert' });
  });

  it('a token that the server rejects is replaced, unless it has just been issued', async () => {
    const { document } = await tokenFor(ada.id);
    expect(await tokenFor(ada.id, document.tokenId)).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('rejects'),
    });
    await plane.control.services.database
      .em()
      .nativeUpdate(mcpConnections, { userId: ada.id }, { lastUpdatedAt: new Date(Date.now() - 60_000) });
    const replaced = await tokenFor(ada.id, document.tokenId);
    expect(replaced.state).toBe('connected');
    expect(replaced.document.tokenId).not.toBe(document.tokenId);
    expect(plain(replaced.document)).not.toBe(plain(document));
  });

  it('a failure of the authorisation server keeps the connection; a rejected refresh token ends it', async () => {
    await expire(ada.id);
    upstream.intercept = (request, response) => {
      if (request.url !== '/token') return false;
      response.writeHead(503).end('busy');
      return true;
    };
    expect((await tokenFor(ada.id)).state).toBe('failed');
    upstream.intercept = null;
    expect((await tokenFor(ada.id)).state).toBe('connected');
    await expire(ada.id);
    upstream.intercept = (request, response) => {
      if (request.url !== '/token') return false;
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      return true;
    };
    expect(await tokenFor(ada.id)).toEqual({ state: 'required', url: connectUrl() });
    upstream.intercept = null;
    expect(plane.notices.at(-1)).toMatchObject({ kind: 'mcp-connection', id: `${server}/${ada.id}`, op: 'delete' });
    expect((await tokenFor(ada.id)).state).toBe('required');
  });

  it('the users of a server have connections of their own, which they alone and managers can see and delete', async () => {
    await connect(ada, 'ada-upstream');
    await connect(bob, 'bob-upstream');
    const [one, other] = [plain((await tokenFor(ada.id)).document), plain((await tokenFor(bob.id)).document)];
    for (const token of [one, other]) {
      await fetch(upstream.url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' });
    }
    expect(upstream.accounts.slice(-2)).toEqual(['ada-upstream', 'bob-upstream']);
    const path = `/mcp-servers/${server}/connections`;
    const all = (await plane.ask('GET', path)).body;
    expect(all).toMatchObject({ total: 2, has_more: false, data: [{ user_id: ada.id, connected: true }, { user_id: bob.id }] });
    expect(JSON.stringify(all)).not.toContain(one);
    expect((await plane.ask('GET', path, { key: bob.token })).body.data.map((row: { user_id: string }) => row.user_id)).toEqual([
      bob.id,
    ]);
    expect((await plane.ask('GET', `${path}?user_id=${ada.id}`, { key: bob.token })).body.data.message).toMatch(/^user_id: /);
    expect((await plane.ask('DELETE', `${path}?user_id=${ada.id}`, { key: bob.token })).status).toBe(403);
    const access = (await plane.ask('GET', `/mcp-servers/${server}/user-access`)).body.data;
    expect(access.find((row: { user_id: string }) => row.user_id === bob.id).connection_status).toBe('connected');
    expect((await plane.ask('DELETE', path, { key: bob.token })).body).toEqual({ success: true });
    expect(plane.notices.at(-1)).toMatchObject({ kind: 'mcp-connection', id: `${server}/${bob.id}`, op: 'delete' });
    expect((await tokenFor(bob.id)).state).toBe('required');
    expect((await plane.ask('DELETE', `${path}?user_id=${bob.id}`)).status).toBe(404);
    expect((await tokenFor(ada.id)).state).toBe('connected');
  });

  describe('an attack is refused', () => {
    /** The callback address of an authorisation that this person has begun. */
    const callbackOf = async (person: Person) => {
      upstream.account = 'mallory-upstream';
      const isCallback = (address: string) => address.startsWith(`${plane.url}/oauth/upstream-callback`);
      return (await browse(connectUrl(), cookieOf(person), isCallback)).address;
    };

    it('the authorisation of another user: the state belongs to the user who began', async () => {
      const address = await callbackOf(ada);
      const stolen = await browse(address, cookieOf(bob));
      expect([stolen.status, (await tokenFor(bob.id)).state]).toEqual([400, 'required']);
      expect(stolen.text).toContain('belongs to another user');
      expect((await browse(address)).text).toContain('Sign in');
    });

    it('a second use of one state, and an unknown state', async () => {
      const address = await callbackOf(ada);
      expect((await browse(address, cookieOf(ada))).status).toBe(200);
      const [requests, again] = [upstream.tokenRequests.length, await browse(address, cookieOf(ada))];
      expect([again.status, upstream.tokenRequests.length]).toEqual([400, requests]);
      expect((await browse(`${plane.url}/oauth/upstream-callback?state=made-up&code=c`, cookieOf(ada))).status).toBe(400);
    });

    it('a response of another issuer (mix-up), a refusal, and a wrong code', async () => {
      const altered = async (change: (url: URL) => void) => {
        const url = new URL(await callbackOf(bob));
        change(url);
        const done = await browse(url.href, cookieOf(bob));
        expect((await tokenFor(bob.id)).state).toBe('required');
        return [done.status, done.text] as const;
      };
      const mixed = await altered((url) => url.searchParams.set('iss', 'https://attacker.example.com'));
      expect(mixed).toEqual([502, expect.stringContaining('invalid response')]);
      for (const change of [
        (url: URL) => url.searchParams.delete('as'),
        (url: URL) => url.searchParams.set('as', '0123456789abcdef'),
      ]) {
        const other = await altered((url) => {
          url.searchParams.delete('iss');
          change(url);
        });
        expect(other).toEqual([502, expect.stringContaining('another authorisation server')]);
      }
      const denied = await altered((url) => {
        url.searchParams.delete('code');
        url.searchParams.set('error', 'access_denied<script>');
      });
      expect(denied).toEqual([502, expect.not.stringContaining('<script>')]);
      const wrong = await altered((url) => url.searchParams.set('code', 'wrong'));
      expect(wrong).toEqual([502, expect.stringContaining('invalid_grant')]);
      // Refusals are written after the reply.
      await until(async () => (await plane.lastAudit()).action === 'connect', { what: 'the audit entry of the refusal' });
      expect(await plane.lastAudit()).toMatchObject({ userId: bob.id, responseStatusCode: 502 });
    });

    it('metadata for another resource, endpoints without PKCE, and private addresses', async () => {
      const onlyDocuments = { client_id_metadata_document_supported: true };
      const reasons: [Record<string, unknown> | null, Record<string, unknown> | null, RegExp][] = [
        [{ resource: 'https://other.example.com/mcp' }, null, /another resource/],
        [null, { code_challenge_methods_supported: ['plain'] }, /does not support PKCE with S256/],
        [null, { issuer: 'https://other.example.com' }, /not valid/],
        [null, { authorization_endpoint: 'http://169.254.169.254/authorize' }, /authorization_endpoint: must/],
        [{ authorization_servers: ['http://10.0.0.1'] }, null, /public address/],
        [null, onlyDocuments, /does not name itself in responses \(iss\) and registers no clients/],
      ];
      for (const [resource, metadata, reason] of reasons) {
        upstream.alter = { resource, metadata };
        const done = await browse(connectUrl(), cookieOf(bob));
        expect([done.status, done.text]).toEqual([502, expect.stringMatching(reason)]);
      }
      upstream.alter = { resource: null, metadata: null };
    });

    it('a user without access to the server, and one of another organisation', async () => {
      const outsider = await newPerson(plane);
      expect((await connect(outsider, 'x')).status).toBe(404);
      const body = { user_access: [{ user_id: bob.id, enabled: false }] };
      await plane.ask('PUT', `/mcp-servers/${server}/user-access`, { body });
      expect((await connect(bob, 'x')).status).toBe(404);
      await plane.ask('PUT', `/mcp-servers/${server}/user-access`, {
        body: { user_access: [{ user_id: bob.id, enabled: true }] },
      });
      expect((await connect(bob, 'bob-upstream', '00000000-0000-4000-8000-000000000000')).status).toBe(404);
    });
  });

  it('an authorisation server that leaves out the end of a client secret', async () => {
    const of = await addServer('without-expiry', {});
    let registered = '';
    upstream.intercept = (request, response) => {
      if (request.url !== '/reg') return false;
      request.on('data', (chunk) => {
        registered += chunk;
      });
      request.on('end', () => {
        response.writeHead(201, { 'content-type': 'application/json' });
        response.end('{"client_id":"made-here","client_secret":"s"}');
      });
      return true;
    };
    const begun = await browse(connectUrl(of), cookieOf(bob), (address) => address.includes('client_id='));
    upstream.intercept = null;
    expect(new URL(begun.address).searchParams.get('client_id')).toBe('made-here');
    expect(JSON.parse(registered)).toMatchObject({
      application_type: 'native',
      redirect_uris: [expect.stringMatching(/\/oauth\/upstream-callback\?as=[0-9a-f]{16}$/)],
    });
  });

  it('a changed URL of the integration ends the use of its tokens', async () => {
    const integration = (await plane.ask('GET', `/mcp-servers/${server}`)).body.mcp_integration_id;
    const move = (url: string) =>
      plane.ask('PUT', `/mcp-integrations/${integration}?workspace_id=${plane.workspaceId}`, { body: { url } });
    expect((await move('https://mcp.example.com/mcp')).status).toBe(200);
    expect((await tokenFor(ada.id)).state).toBe('required');
    expect((await plane.internal('GET', `/documents/mcp-connection/${server}%2F${ada.id}`)).body.document).toBeNull();
    await move(upstream.url);
    expect((await tokenFor(ada.id)).state).toBe('connected');
  });

  it('client credentials: one token for all callers, and a secret that never leaves for another host', async () => {
    const fields = { auth_type: 'oauth_client_credentials', slug: 'of-machine', configurations: { oauth_metadata: machine } };
    const without = { ...fields, configurations: { oauth_metadata: { client_id: 'machine' } } };
    const refused = await plane.ask('POST', '/mcp-integrations', {
      body: { name: 'M', url: upstream.url, transport: 'http', ...without },
    });
    expect(refused.body.data.message).toMatch(/^configurations.oauth_metadata: client_id and client_secret are required/);
    const of = await addServer('of-machine', fields);
    let authorization = '';
    upstream.intercept = (request) => {
      if (request.url === '/token') authorization = String(request.headers.authorization);
      return false;
    };
    const [one, other] = await Promise.all([tokenFor(ada.id, null, of), tokenFor(null, null, of)]);
    upstream.intercept = null;
    // Servers that do not decode the pair accept it too.
    expect(Buffer.from(authorization.replace('Basic ', ''), 'base64').toString()).toBe(`machine:${machine.client_secret}`);
    expect([one.state, other.document.userId]).toEqual(['connected', null]);
    expect(upstream.tokenRequests.at(-1)?.get('grant_type')).toBe('client_credentials');
    await fetch(upstream.url, { method: 'POST', headers: { authorization: `Bearer ${plain(other.document)}` }, body: '{}' });
    expect(upstream.accounts.at(-1)).toBe('client machine');
    // A server that demands a further scope gets a token with it, once.
    const { tokenId } = other.document;
    const wider = await tokenFor(null, tokenId, of, 'admin');
    expect((await upstream.scopeOf(plain(wider.document)))?.split(' ').sort()).toEqual(['admin', 'mcp']);
    expect((await tokenFor(null, tokenId, of, 'admin')).document.tokenId).toBe(wider.document.tokenId);
    const again = await tokenFor(null, wider.document.tokenId, of, 'admin');
    expect(again).toMatchObject({ state: 'failed', message: expect.stringContaining('demands admin') });
    const item = `/mcp-integrations/of-machine?workspace_id=${plane.workspaceId}`;
    const shown = (await plane.ask('GET', item)).body.configurations;
    expect(shown).toEqual({ oauth_metadata: { client_id: 'machine', client_secret: '****' } });
    expect((await plane.ask('PUT', item, { body: { configurations: shown } })).status).toBe(200);
    const moved = await plane.ask('PUT', item, { body: { url: 'https://attacker.example.com/mcp' } });
    expect(moved.body.data.message).toMatch(/^url: a new host requires the client secret again/);
    const token_endpoint = 'https://attacker.example.com/token';
    const other_ = { configurations: { oauth_metadata: { ...shown.oauth_metadata, token_endpoint } } };
    expect((await plane.ask('PUT', item, { body: other_ })).body.data.message).toMatch(/token_endpoint: a new host requires/);
    expect((await connect(ada, 'ada-upstream', of)).status).toBe(404);
  });

  it('a demanded scope leads to an authorisation, also if the rejected token has been refreshed', async () => {
    const { document } = await tokenFor(ada.id);
    await expire(ada.id);
    expect((await tokenFor(ada.id)).document.tokenId).not.toBe(document.tokenId);
    expect(await tokenFor(ada.id, document.tokenId, server, 'admin')).toEqual({ state: 'required', url: connectUrl() });
    expect((await tokenFor(ada.id)).state).toBe('connected');
    await connect(ada, 'ada-upstream');
    const wider = await tokenFor(ada.id, document.tokenId, server, 'admin');
    expect((await upstream.scopeOf(plain(wider.document)))?.split(' ').sort()).toEqual(['admin', 'mcp']);
    // A further authorisation of the same account would not help.
    const refused = await tokenFor(ada.id, wider.document.tokenId, server, 'admin');
    const text = `the token that was obtained for it does not suffice. Connect an account that has this permission: ${connectUrl()}`;
    expect(refused).toEqual({ state: 'failed', message: `the MCP server demands admin, and ${text}` });
  });

  it('a scope that is demanded with 401 leads to an authorisation if a renewed token does not suffice', async () => {
    await plane.control.services.database.em().nativeDelete(mcpConnections, { serverId: server, userId: ada.id });
    await connect(ada, 'ada-upstream');
    const { document } = await tokenFor(ada.id);
    const renewed = await tokenFor(ada.id, document.tokenId, server, 'admin', true);
    expect([renewed.state, renewed.document.tokenId === document.tokenId]).toEqual(['connected', false]);
    const { tokenId } = renewed.document;
    expect(await tokenFor(ada.id, tokenId, server, 'admin', true)).toEqual({ state: 'required', url: connectUrl() });
    await connect(ada, 'ada-upstream');
    const wider = (await tokenFor(ada.id, tokenId, server, 'admin', true)).document;
    expect((await upstream.scopeOf(plain(wider)))?.split(' ').sort()).toEqual(['admin', 'mcp']);
    // The token may just have ended, so it is renewed.
    const again = await tokenFor(ada.id, wider.tokenId, server, 'admin', true);
    expect([again.state, again.document.tokenId === wider.tokenId]).toEqual(['connected', false]);
  });

  it('a removed user has no connection any more', async () => {
    expect((await plane.ask('DELETE', `/admin/users/${ada.id}`)).status).toBe(200);
    expect(plane.notices.map(({ id, op }) => `${id} ${op}`)).toContain(`${server}/${ada.id} delete`);
    expect((await tokenFor(ada.id)).state).toBe('required');
  });
});
