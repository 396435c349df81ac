import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeOidcProvider, startFakeOidcProvider } from '../../support/fakes/fake-oidc-provider.ts';
import { claimsOf, newBrowser } from '../support/oidc-sign-in.ts';
import type { Plane } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { addVerifiedDomain } from '../support/sign-in.ts';
import { ruleDatabases } from '../support/test-database.ts';

const hour = 3_600;
const now = () => Math.floor(Date.now() / 1_000);

describe.each(ruleDatabases)('sign-out with OpenID Connect, on %s', (database) => {
  let provider: FakeOidcProvider;
  let plane: Plane;
  let mainId: string;
  beforeAll(async () => {
    provider = await startFakeOidcProvider();
    const { host } = new URL(provider.issuer);
    const unlimited = { ADMIN_REQUESTS_PER_ADDRESS: '0', ADMIN_REQUESTS_PER_KEY: '0' };
    plane = await startPlaneWithGateway(database, { TRUSTED_CUSTOM_HOSTS: host, ...unlimited });
    const oidc = { issuer: provider.issuer, client_id: 'gateway', client_secret: 'the secret of the client, long enough' };
    const made = await plane.ask('POST', '/admin/sso-connections', {
      body: { name: 'gateway', slug: 'gateway', type: 'oidc', oidc },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    mainId = made.body.id;
    await addVerifiedDomain(plane, 'example.com');
  });
  afterAll(async () => {
    await plane?.close();
    await provider?.close();
  });

  const signIn = (name: string, more: object = {}) =>
    newBrowser(plane).signIn(provider, { ...claimsOf(name), ...more }, { email: claimsOf(name).email });
  const event = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const logoutClaims = () => {
    const at = now();
    return { iss: provider.issuer, aud: 'gateway', iat: at, exp: at + 120, jti: 'one', events: event, sid: 'session-1' };
  };
  const send = async (token: string) => {
    const body = new URLSearchParams({ logout_token: token });
    return fetch(`${plane.url}/v2/auth/backchannel-logout/${mainId}`, { method: 'POST', body });
  };
  const stateOf = async (token: string) => (await plane.ask('GET', '/auth/self', { key: token })).status;

  it('logout: names the address of the provider, with the ID token as hint', async () => {
    const { auth_token: key } = (await signIn('ada')).body;
    const reply = await plane.ask('POST', '/auth/logout', { key, body: {} });
    const url = new URL(reply.body.logout_url);
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/logout`);
    expect(url.searchParams.get('id_token_hint')).toMatch(/^ey/);
    expect(url.searchParams.get('post_logout_redirect_uri')).toMatch(/\/v2\/auth\/signed-out$/);
    expect(await stateOf(key)).toBe(401);
  });

  it('logout at the provider: ends the session that it names, and a repeated token none that began later', async () => {
    const [one, two] = [(await signIn('ada', { sid: 'session-1' })).body, (await signIn('ada', { sid: 'session-2' })).body];
    const token = await provider.sign(logoutClaims());
    expect((await send(token)).status).toBe(200);
    expect(await plane.lastAudit()).toMatchObject({ action: 'backchannel_logout', resourceId: mainId, userId: one.user.id });
    expect([await stateOf(one.auth_token), await stateOf(two.auth_token)]).toEqual([401, 200]);
    const bySubject = { ...logoutClaims(), sid: undefined, sub: 'sub-ada', iat: now() - hour };
    expect((await send(await provider.sign(bySubject))).status).toBe(200);
    expect(await stateOf(two.auth_token)).toBe(200);
    expect((await send(await provider.sign({ ...bySubject, iat: now() }))).status).toBe(200);
    expect(await stateOf(two.auth_token)).toBe(401);
  });

  it('logout at the provider: accepts a token without exp, but not one that was issued days ago', async () => {
    const { auth_token: key } = (await signIn('ada', { sid: 'session-1' })).body;
    const claims = { ...logoutClaims(), exp: undefined };
    expect((await send(await provider.sign({ ...claims, iat: now() - 25 * hour }))).status).toBe(401);
    expect(await stateOf(key)).toBe(200);
    expect((await send(await provider.sign(claims))).status).toBe(200);
    expect(await stateOf(key)).toBe(401);
  });

  it.each<readonly [string, (claims: Record<string, unknown>) => Promise<string>]>([
    ['an ID token', (claims) => provider.sign({ ...claims, events: undefined, nonce: 'n' })],
    ['a nonce', (claims) => provider.sign({ ...claims, nonce: 'n' })],
    ['another event', (claims) => provider.sign({ ...claims, events: { 'https://schemas.example/other': {} } })],
    ['another audience', (claims) => provider.sign({ ...claims, aud: 'other' })],
    ['another issuer', (claims) => provider.sign({ ...claims, iss: 'https://evil.example' })],
    ['neither subject nor session', (claims) => provider.sign({ ...claims, sid: undefined })],
    ['a time of issue in the future', (claims) => provider.sign({ ...claims, iat: now() + hour, exp: now() + 2 * hour })],
    ['an expired token', (claims) => provider.sign({ ...claims, exp: now() - hour })],
    ['a session with a zero byte', (claims) => provider.sign({ ...claims, sid: 'a\u0000b' })],
    [
      'a foreign key',
      async (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign((await generateKeyPair('RS256')).privateKey),
    ],
    ['an unsigned token', async (claims) => new UnsecuredJWT(claims).encode()],
  ])('logout at the provider: is rejected with %s', async (_, forge) => {
    const { auth_token: key } = (await signIn('ada', { sid: 'session-1' })).body;
    const reply = await send(await forge(logoutClaims()));
    expect(reply.status).toBe(401);
    expect(await stateOf(key)).toBe(200);
  });
});
