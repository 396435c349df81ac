import { createLocalJWKSet, generateKeyPair, type JSONWebKeySet, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { signInAttempts } from '../../../admin/resources/sso-connections/entity.ts';
import { type FakeOidcProvider, type Lies, startFakeOidcProvider } from '../../support/fakes/fake-oidc-provider.ts';
import { until } from '../../support/until.ts';
import { claimsOf, newBrowser } from '../support/oidc-sign-in.ts';
import type { Plane, Reply } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { addVerifiedDomain } from '../support/sign-in.ts';
import { ruleDatabases } from '../support/test-database.ts';

const clientSecret = 'the secret of the client, long enough';

describe.each(ruleDatabases)('sign-in with OpenID Connect, on %s', (database) => {
  let provider: FakeOidcProvider;
  let plane: Plane;
  let mainId: string;
  beforeAll(async () => {
    provider = await startFakeOidcProvider();
    const { host } = new URL(provider.issuer);
    const unlimited = { ADMIN_REQUESTS_PER_ADDRESS: '0', ADMIN_REQUESTS_PER_KEY: '0' };
    plane = await startPlaneWithGateway(database, { TRUSTED_CUSTOM_HOSTS: host, ...unlimited });
    mainId = await connect('gateway');
    await addVerifiedDomain(plane, 'example.com');
  });
  afterAll(async () => {
    await plane?.close();
    await provider?.close();
  });

  async function connect(clientId: string, more: object = {}): Promise<string> {
    const oidc = { issuer: provider.issuer, client_id: clientId, client_secret: clientSecret, ...more };
    const made = await plane.ask('POST', '/admin/sso-connections', {
      body: { name: clientId, slug: clientId, type: 'oidc', oidc },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    return made.body.id;
  }

  async function lying<T>(lies: Lies, work: () => Promise<T>): Promise<T> {
    provider.lies = lies;
    try {
      return await work();
    } finally {
      provider.lies = {};
    }
  }

  /** Expects a refusal with its reason in the audit trail. */
  async function expectRefusal(reply: Reply, reason: string, text: RegExp): Promise<void> {
    expect({ status: reply.status, text: reply.body.data?.message }).toEqual({ status: 401, text: expect.stringMatching(text) });
    expect(reply.headers.get('set-cookie')).toBeNull();
    const requestId = reply.headers.get('x-request-id') ?? '';
    const em = () => plane.control.services.database.em();
    const entry = await until(() => em().findOne(auditEntries, { requestId }), { what: 'the audit entry' });
    expect(entry).toMatchObject({
      action: 'login',
      responseStatusCode: 401,
      requestBody: { reason, message: reply.body.data.message },
    });
  }

  const signIn = (name: string, more: object = {}, body?: object) =>
    newBrowser(plane).signIn(provider, { ...claimsOf(name), ...more }, body ?? { email: claimsOf(name).email });

  it('creates the user, signs them in, and finds them again by subject, whatever the e-mail', async () => {
    const first = await signIn('ada', { given_name: 'Ada' });
    expect(first.status, JSON.stringify(first.body)).toBe(200);
    expect(first.body).toMatchObject({
      object: 'session',
      user: { email: 'ada@example.com', role: 'member', first_name: 'Ada' },
    });
    expect(first.body.user.workspace_ids).toEqual([plane.workspaceId]);
    expect(await plane.lastAudit()).toMatchObject({ action: 'login', userId: first.body.user.id });
    const self = await plane.ask('GET', '/auth/self', { key: first.body.auth_token });
    expect(self.body.user.id).toBe(first.body.user.id);
    const renamed = { email: 'ada@elsewhere.example', email_verified: false };
    const second = await signIn('ada', renamed);
    expect(second.body.user?.id, JSON.stringify(second.body)).toBe(first.body.user.id);
    const entry = await plane.lastAudit();
    expect(entry).toMatchObject({ action: 'login', userId: first.body.user.id, responseStatusCode: 200 });
    expect(JSON.stringify(entry)).not.toMatch(/code=|svc_session_[\w-]{20}/);
  });

  it('redirects browsers to the path they asked for, with the cookie of a new session', async () => {
    const browser = newBrowser(plane);
    const url = await browser.begin({ email: 'ada@example.com', return_to: '/console?tab=1' });
    const { pathname, search } = new URL(provider.authorize(url, claimsOf('ada')));
    // A cookie that someone else planted before the sign-in is replaced.
    const planted = `svc_session=svc_session_${'A'.repeat(43)}`;
    const cookie = `${await cookieOf(browser)}; ${planted}`;
    const headers = { cookie, accept: 'text/html', 'sec-fetch-site': 'cross-site' };
    const reply = await fetch(plane.url + pathname + search, { headers, redirect: 'manual' });
    expect({ status: reply.status, location: reply.headers.get('location') }).toEqual({
      status: 303,
      location: '/console?tab=1',
    });
    const set = reply.headers.getSetCookie().join('\n');
    expect(set).toMatch(/^svc_session=svc_session_[\w-]{43}; .*HttpOnly; SameSite=Lax/);
    expect(set).not.toContain('A'.repeat(43));
  });

  it('shows browsers a page with the reason for a rejected sign-in, without markup of others', async () => {
    const browser = newBrowser(plane);
    const { searchParams } = new URL(await browser.begin({ email: 'ada@example.com' }));
    const error = encodeURIComponent('<b>bold</b>');
    const { pathname } = new URL(searchParams.get('redirect_uri') ?? '');
    const query = `error=${error}&state=${searchParams.get('state')}&iss=${provider.issuer}`;
    const headers = { cookie: await cookieOf(browser), accept: 'text/html' };
    const reply = await fetch(`${plane.url}${pathname}?${query}`, { headers });
    const html = await reply.text();
    expect([reply.status, reply.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
    expect(html).toContain('The sign-in was rejected');
    expect(html).not.toContain('<b>');
    expect(reply.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
  });

  /** The cookie of a browser's attempts, as a page would send it. */
  async function cookieOf(browser: ReturnType<typeof newBrowser>): Promise<string> {
    let sent = '';
    const original = plane.ask;
    Object.assign(plane, {
      ask: (method: string, path: string, ask: { headers?: Record<string, string> }) => {
        sent = ask.headers?.cookie ?? '';
        return original(method, path, ask);
      },
    });
    await browser.open('http://x/v1/auth/callback?state=none').finally(() => Object.assign(plane, { ask: original }));
    return sent;
  }

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'evil', '/a b', '/a\nb', ''])(
    'rejects %j as the path to return to',
    async (path) => {
      const reply = await plane.ask('POST', '/auth/login', { key: null, body: { email: 'a@example.com', return_to: path } });
      expect({ status: reply.status, message: reply.body.data.message }).toEqual({
        status: 400,
        message: expect.stringMatching(/^return_to: /),
      });
    },
  );

  const hour = 3_600;
  const now = () => Math.floor(Date.now() / 1_000);
  const attacks: readonly (readonly [string, () => Lies | Promise<Lies>, RegExp])[] = [
    ['a wrong issuer', () => ({ claims: { iss: 'https://evil.example' } }), /"iss"/],
    ['another audience', () => ({ claims: { aud: 'another-client' } }), /"aud"/],
    ['one audience, issued for another client', () => ({ claims: { azp: 'another-client' } }), /"azp"|azp: /],
    ['several audiences without azp', () => ({ claims: { aud: ['gateway', 'other'] } }), /"aud"|"azp"/],
    ['another nonce', () => ({ claims: { nonce: 'another' } }), /"nonce"/],
    ['no nonce', () => ({ claims: { nonce: undefined } }), /"nonce"/],
    ['an expired ID token', () => ({ claims: { exp: now() - hour } }), /"exp"/],
    ['no issue time', () => ({ claims: { iat: undefined } }), /"iat"/],
    ['an issue time in the future', () => ({ claims: { iat: now() + 60, exp: now() + hour } }), /^iat: /],
    ['no subject', () => ({ claims: { sub: undefined } }), /"sub"/],
    ['an empty subject', () => ({ claims: { sub: '' } }), /^sub: empty/],
    ['a blank subject', () => ({ claims: { sub: ' ' } }), /^sub: empty/],
    ['a subject with a zero byte', () => ({ claims: { sub: 'a\u0000b' } }), /^sub: /],
    ['a subject with half a surrogate pair', () => ({ claims: { sub: 'a\ud800b' } }), /^sub: /],
    ['a subject that is too long for an index', () => ({ claims: { sub: 'a'.repeat(513) } }), /^sub: /],
    ['a session with a zero byte', () => ({ claims: { sid: 'a\u0000b' } }), /^sid: /],
    ['another access token (at_hash)', () => ({ claims: { at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' } }), /^at_hash: /],
    [
      'an unsigned ID token',
      () => ({ forge: async (claims) => new UnsecuredJWT(claims).encode() }),
      /alg|compact|signature|JWT/i,
    ],
    [
      'a symmetric signature with the client secret',
      () => ({
        forge: (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(clientSecret)),
      }),
      /alg/,
    ],
    [
      'a foreign key',
      async () => {
        const { privateKey } = await generateKeyPair('RS256');
        return { forge: (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(privateKey) };
      },
      /signature/,
    ],
    [
      'a key in the header of the token',
      async () => {
        const { privateKey } = await generateKeyPair('RS256');
        const header = { alg: 'RS256', kid: 'evil', jku: 'https://evil.example/jwks' };
        return { forge: (claims) => new SignJWT(claims).setProtectedHeader(header).sign(privateKey) };
      },
      /key|jku/i,
    ],
    ['no keys at all', () => ({ jwks: [] }), /key/],
    ['the response of another provider (mix-up)', () => ({ responseIssuer: 'https://evil.example' }), /"iss"/],
    ['user info about another user', () => ({ claims: { email: undefined }, userInfo: { sub: 'sub-other' } }), /"sub"/],
    ['metadata of another issuer', () => ({ metadata: { issuer: 'https://evil.example' } }), /issuer/],
  ];
  it.each(attacks)('rejects %s', async (_, lies, text) => {
    // Reads metadata and keys anew.
    await plane.ask('PUT', '/admin/sso-connections/gateway', { body: { name: 'Main' } });
    const browser = newBrowser(plane);
    const url = await browser.begin({ email: 'eve@example.com', sso_client_id: 'gateway' });
    await plane.ask('PUT', '/admin/sso-connections/gateway', { body: { name: 'Main' } });
    const reply = await lying(await lies(), () => browser.open(provider.authorize(url, claimsOf('eve'))));
    await expectRefusal(reply, 'invalid_response', text);
  });

  it.each([undefined, 'javascript:alert(1)'])(
    'does not send browsers to the authorization_endpoint %j',
    async (authorization_endpoint) => {
      await plane.ask('PUT', '/admin/sso-connections/gateway', { body: { name: 'Main' } });
      const body = { email: 'endpoint@example.com', sso_client_id: 'gateway' };
      const begin = () => plane.ask('POST', '/auth/login', { key: null, body });
      await expectRefusal(await lying({ metadata: { authorization_endpoint } }, begin), 'invalid_response', /is not valid/);
      await plane.ask('PUT', '/admin/sso-connections/gateway', { body: { name: 'Main' } });
    },
  );

  it('does not call a private address that the provider names', async () => {
    await plane.ask('PUT', '/admin/sso-connections/gateway', { body: { name: 'Main' } });
    const metadata = { token_endpoint: 'http://169.254.169.254/token' };
    const reply = await lying({ metadata }, () => signIn('ada', {}, { email: 'ada@example.com', sso_client_id: 'gateway' }));
    const shown = { status: reply.status, message: reply.body.data.message };
    expect(shown).toEqual({
      status: 503,
      message: expect.stringMatching(/could not be called: .*must not be a metadata service/),
    });
    await plane.ask('PUT', '/admin/sso-connections/gateway', { body: { name: 'Main' } });
  });

  it('rejects a code without its verifier, and a code for another attempt even if the provider ignores the verifier', async () => {
    const [victim, attacker] = [newBrowser(plane), newBrowser(plane)];
    const codeOf = (address: string) => new URL(address).searchParams.get('code') ?? '';
    const inject = async () => {
      const stolen = codeOf(provider.authorize(await victim.begin({ email: 'ada@example.com' }), claimsOf('ada')));
      const own = new URL(provider.authorize(await attacker.begin({ email: 'eve@example.com' }), claimsOf('eve')));
      own.searchParams.set('code', stolen);
      return attacker.open(own.href);
    };
    await expectRefusal(await inject(), 'provider_error', /invalid_grant/);
    const reply = await lying({ ignoresVerifier: true }, inject);
    await expectRefusal(reply, 'invalid_response', /"nonce"/);
  });

  it('rejects a state of another browser, a used state, an unknown state, and an expired one', async () => {
    const [victim, attacker] = [newBrowser(plane), newBrowser(plane)];
    const theirs = provider.authorize(await attacker.begin({ email: 'eve@example.com' }), claimsOf('eve'));
    // The victim follows a link of the attacker and would be signed in as the attacker.
    await expectRefusal(await victim.open(theirs), 'other_browser', /another browser/);
    await victim.begin({ email: 'ada@example.com' });
    await expectRefusal(await victim.open(theirs), 'other_browser', /another browser/);
    expect((await attacker.open(theirs)).status).toBe(200);
    const unknown = ['used', 'unknown'].map((kind) =>
      kind === 'used' ? theirs : theirs.replace(/state=[\w-]+/, 'state=unknown'),
    );
    for (const address of unknown) {
      const reply = await attacker.open(address);
      expect([reply.status, reply.body.data.message]).toEqual([401, 'This sign-in has expired or was used. Begin again']);
    }
    const late = provider.authorize(await attacker.begin({ email: 'eve@example.com' }), claimsOf('eve'));
    await plane.control.services.database.em().nativeUpdate(signInAttempts, { id: { $ne: null } }, { expiresAt: new Date(0) });
    await expectRefusal(await attacker.open(late), 'attempt_expired', /expired/);
  });

  it('gives a state to one of two concurrent callbacks', async () => {
    const browser = newBrowser(plane);
    const address = provider.authorize(await browser.begin({ email: 'ada@example.com' }), claimsOf('ada'));
    const replies = await Promise.all([browser.open(address), browser.open(address)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  it('rejects the code of another connection at the address of this one', async () => {
    const other = await connect('other-client');
    const browser = newBrowser(plane);
    const address = provider.authorize(await browser.begin({ email: 'ada@example.com' }), claimsOf('ada'));
    await expectRefusal(await browser.open(address.replace(mainId, other)), 'invalid_response', /another connection/);
    await expectRefusal(await browser.open(address.replace(`/${mainId}`, '')), 'invalid_response', /another connection/);
  });

  it('rejects a shared callback without iss', async () => {
    await connect('shared-client', { shared_callback: true });
    const sso = { email: 'ada@example.com', sso_client_id: 'shared-client' };
    const reply = await lying({ responseIssuer: null }, () => signIn('ada', {}, sso));
    await expectRefusal(reply, 'invalid_response', /^iss: /);
    expect((await signIn('ada', {}, sso)).status).toBe(200);
  });

  it.each([
    ['an unverified e-mail', { email_verified: false }, 'email_unverified'],
    ['an e-mail without a statement about it', { email_verified: undefined }, 'email_unverified'],
    ['no e-mail', { email: undefined }, 'email_missing'],
    ['an unusable e-mail', { email: 'not an address' }, 'email_missing'],
    ['a foreign domain', { email: 'mallory@evil.example' }, 'domain_unverified'],
    ['a subdomain of a domain without allow_subdomains', { email: 'mallory@sub.example.com' }, 'domain_unverified'],
    ['a domain that only ends alike', { email: 'mallory@notexample.com' }, 'domain_unverified'],
  ])('does not take over or create an account by %s', async (_, more, reason) => {
    await expectRefusal(await signIn('mallory', more, { email: 'mallory@example.com' }), reason, /e-mail/);
  });

  it('does not link a second account of the provider to a user by e-mail, until an admin unlinks the first', async () => {
    const first = await signIn('bob');
    const again = () => signIn('bob', { sub: 'sub-of-another-bob' });
    await expectRefusal(await again(), 'identity_conflict', /unlink/);
    const path = `/admin/users/${first.body.user.id}/identities`;
    const { data } = (await plane.ask('GET', path)).body;
    expect(data).toMatchObject([{ issuer: provider.issuer, subject: 'sub-bob', type: 'oidc' }]);
    expect((await plane.ask('DELETE', `${path}/${data[0].id}`)).status).toBe(200);
    expect((await plane.ask('GET', '/auth/self', { key: first.body.auth_token })).status).toBe(401);
    expect((await again()).body.user?.id).toBe(first.body.user.id);
  });

  it('reports an error of the provider, and a provider that cannot be called', async () => {
    const browser = newBrowser(plane);
    const { searchParams } = new URL(await browser.begin({ email: 'ada@example.com' }));
    const query = `error=access_denied&error_description=no&state=${searchParams.get('state')}&iss=${provider.issuer}`;
    const denied = await browser.open(`${searchParams.get('redirect_uri')}?${query}`);
    await expectRefusal(denied, 'provider_error', /access_denied \(no\)/);
    await connect('away', { issuer: `${provider.issuer}/away` });
    const reply = await plane.ask('POST', '/auth/login', { key: null, body: { email: 'a@example.com', sso_client_id: 'away' } });
    expect([reply.status, reply.body.data.message]).toEqual([401, expect.stringMatching(/not valid/)]);
  });

  it('accepts the first token after a rotation of keys, also directly after another sign-in', async () => {
    expect((await signIn('ada')).status).toBe(200);
    await provider.rotate();
    expect((await signIn('ada')).status).toBe(200);
  });

  it('begins sign-ins with the known metadata if a sign-in that ends cannot read them', async () => {
    const browser = newBrowser(plane);
    const url = await browser.begin({ email: 'ada@example.com' });
    await lying({ metadata: { issuer: 'https://other.example' } }, async () => {
      await expectRefusal(await browser.open(provider.authorize(url, claimsOf('ada'))), 'invalid_response', /not valid/);
      expect(await newBrowser(plane).begin({ email: 'ada@example.com' })).toMatch(provider.issuer);
    });
  });

  it('authenticates the client in the way of the connection', async () => {
    await connect('post-client', { token_endpoint_auth_method: 'client_secret_post' });
    const keyId = await connect('key-client', { token_endpoint_auth_method: 'private_key_jwt', client_secret: null });
    const requestOf = async (client: string) => {
      expect((await signIn('ada', {}, { email: 'ada@example.com', sso_client_id: client })).status).toBe(200);
      return provider.tokenRequests.at(-1);
    };
    const basic = Buffer.from(`gateway:${encodeURIComponent(clientSecret).replaceAll('%20', '+')}`).toString('base64');
    expect((await requestOf('gateway'))?.authorization).toBe(`Basic ${basic}`);
    const post = (await requestOf('post-client'))?.form;
    expect([post?.get('client_id'), post?.get('client_secret')]).toEqual(['post-client', clientSecret]);
    const assertion = (await requestOf('key-client'))?.form.get('client_assertion') ?? '';
    const keys = (await plane.ask('GET', `/auth/jwks/${keyId}`, { key: null })).body as JSONWebKeySet;
    expect(Object.keys(keys.keys[0] ?? {})).not.toContain('d');
    const verified = await jwtVerify(assertion, createLocalJWKSet(keys), { issuer: 'key-client', audience: provider.issuer });
    expect(verified.payload.sub).toBe('key-client');
  });

  it('rotates the key of private_key_jwt: both are published, and the new one signs once it is active', async () => {
    const id = await connect('rotating-client', { token_endpoint_auth_method: 'private_key_jwt', client_secret: null });
    const rotate = async (connection: string, step: string) =>
      (await plane.ask('POST', `/admin/sso-connections/${connection}/rotate-key`, { body: { step } })).body;
    const published = async () => {
      const { keys } = (await plane.ask('GET', `/auth/jwks/${id}`, { key: null })).body as JSONWebKeySet;
      expect(keys.filter((key) => 'd' in key)).toEqual([]);
      return keys.map((key) => key.kid);
    };
    const signer = async () => {
      const sent = { email: 'ada@example.com', sso_client_id: 'rotating-client' };
      expect((await signIn('ada', {}, sent)).status).toBe(200);
      const assertion = provider.tokenRequests.at(-1)?.form.get('client_assertion') ?? '';
      const keys = (await plane.ask('GET', `/auth/jwks/${id}`, { key: null })).body as JSONWebKeySet;
      return (await jwtVerify(assertion, createLocalJWKSet(keys))).protectedHeader.kid;
    };
    const [old] = await published();
    expect((await rotate(id, 'add')).oidc).toMatchObject({ has_next_key: true, has_previous_key: false });
    const [first, next] = await published();
    expect([first, await signer()]).toEqual([old, old]);
    expect((await rotate(id, 'activate')).oidc).toMatchObject({ has_next_key: false, has_previous_key: true });
    expect([await published(), await signer()]).toEqual([[next, old], next]);
    expect((await rotate(id, 'remove')).oidc).toMatchObject({ has_next_key: false, has_previous_key: false });
    expect([await published(), await signer()]).toEqual([[next], next]);
    expect((await rotate(mainId, 'add')).data.message).toMatch(/only connections with private_key_jwt have a key/);
  });

  it('cannot begin on a page of another origin', async () => {
    const body = { email: 'ada@example.com' };
    const reply = await plane.ask('POST', '/auth/login', { key: null, body, headers: { 'sec-fetch-site': 'cross-site' } });
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([403, null]);
  });

  it('needs the organisation if two own the domain, and reports an unknown domain', async () => {
    const unknown = await plane.ask('POST', '/auth/login', { key: null, body: { email: 'a@unknown.example' } });
    expect([unknown.status, unknown.body.data.message]).toEqual([404, expect.stringMatching(/no single sign-on/)]);
    const wrong = await plane.ask('POST', '/auth/login', {
      key: null,
      body: { email: 'a@example.com', sso_client_id: 'nothing' },
    });
    expect([wrong.status, wrong.body.data.message]).toEqual([404, expect.stringMatching(/^sso_client_id: /)]);
  });
});
