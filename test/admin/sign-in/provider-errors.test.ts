import { CompactEncrypt, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeOidcProvider, type Lies, startFakeOidcProvider } from '../../support/fakes/fake-oidc-provider.ts';
import { claimsOf, newBrowser } from '../support/oidc-sign-in.ts';
import type { Plane } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { addVerifiedDomain } from '../support/sign-in.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('errors of an OpenID Connect provider, on %s', (database) => {
  let provider: FakeOidcProvider;
  let plane: Plane;
  beforeAll(async () => {
    provider = await startFakeOidcProvider();
    plane = await startPlaneWithGateway(database, { TRUSTED_CUSTOM_HOSTS: new URL(provider.issuer).host });
    const oidc = { issuer: provider.issuer, client_id: 'gateway', client_secret: 'the secret of the client, long enough' };
    const made = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Main', type: 'oidc', oidc } });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    await addVerifiedDomain(plane, 'example.com');
  });
  afterAll(async () => {
    await plane?.close();
    await provider?.close();
  });

  async function signIn(lies: Lies) {
    const browser = newBrowser(plane);
    const url = await browser.begin({ email: 'ada@example.com' });
    provider.lies = lies;
    try {
      return await browser.open(provider.authorize(url, { ...claimsOf('ada'), email: undefined }));
    } finally {
      provider.lies = {};
    }
  }

  it.each([
    ['/.well-known/openid-configuration', 503],
    ['/jwks', 500],
    ['/token', 502],
    ['/token', 429],
    ['/userinfo', 503],
  ])('%s with status %i is an outage of the provider, not a sign-in that is rejected', async (path, status) => {
    const reply = await signIn({ statuses: { [path]: status } });
    const message = `The identity provider could not be called: status ${status} of ${provider.issuer}${path}`;
    expect([reply.status, reply.body.data.message]).toEqual([503, message]);
  });

  it.each([
    ['/jwks', 404],
    ['/token', 400],
    ['/userinfo', 403],
  ])('%s with status %i is named', async (path, status) => {
    const reply = await signIn({ statuses: { [path]: status } });
    const named = expect.stringContaining(`(status ${status} of ${provider.issuer}${path})`);
    expect([reply.status, reply.body.data.message]).toEqual([401, named]);
  });

  const signWithPs256 = async (claims: Record<string, unknown>) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'PS256' }).sign((await generateKeyPair('PS256')).privateKey);

  it.each<[string, Lies, string]>([
    ['metadata that do not exist', { statuses: { '/.well-known/openid-configuration': 404 } }, 'Check oidc.issuer'],
    ['another issuer', { metadata: { issuer: 'https://id.example.com/' } }, 'Set oidc.issuer to exactly that text'],
    ['another algorithm', { forge: signWithPs256 }, 'Set oidc.id_token_signing_alg'],
  ])('%s: the message names the setting of the connection', async (_, lies, setting) => {
    const { status, body } = await signIn(lies);
    expect([status, body.data.message]).toEqual([401, expect.stringContaining(setting)]);
  });

  it('an encrypted ID token is named', async () => {
    const { publicKey } = await generateKeyPair('RSA-OAEP');
    const forge: Lies['forge'] = async (claims) =>
      new CompactEncrypt(Buffer.from(await provider.sign(claims)))
        .setProtectedHeader({ alg: 'RSA-OAEP', enc: 'A256GCM', cty: 'JWT' })
        .encrypt(publicKey);
    const { status, body } = await signIn({ forge });
    expect([status, body.data.message]).toEqual([401, expect.stringContaining('is encrypted, which is not supported')]);
  });

  it('the page of a rejected account names the way to another one', async () => {
    const pageOf = async (claims: object, lies: Lies = {}) => {
      const begun = await plane.ask('POST', '/auth/login', { key: null, body: { email: 'ada@example.com' } });
      const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
      provider.lies = lies;
      const { pathname, search } = new URL(provider.authorize(begun.body.url, { ...claimsOf('ada'), ...claims }));
      const reply = await fetch(plane.url + pathname + search, { headers: { cookie, accept: 'text/html' } });
      provider.lies = {};
      return reply.text();
    };
    const hint = 'To use another account, sign out at your identity provider first.';
    expect(await pageOf({ email_verified: false })).toContain(hint);
    expect(await pageOf({ email: 'ada@elsewhere.example' })).toContain(hint);
    expect(await pageOf({}, { responseIssuer: 'https://id.example.com' })).not.toContain(hint);
  });

  it('keys that cannot be read for a logout are an outage of the provider', async () => {
    const { data } = (await plane.ask('GET', '/admin/sso-connections')).body;
    provider.lies = { statuses: { '/jwks': 500 } };
    const body = new URLSearchParams({ logout_token: await provider.sign({}) });
    const reply = await fetch(`${plane.url}/v2/auth/backchannel-logout/${data[0].id}`, { method: 'POST', body });
    provider.lies = {};
    expect(reply.status).toBe(503);
  });
});
