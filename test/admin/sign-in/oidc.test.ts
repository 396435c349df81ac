import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../admin/db/new-id.ts';
import { emailDomains } from '../../../admin/resources/email-domains/entity.ts';
import { type FakeOidcProvider, startFakeOidcProvider } from '../../support/fake-oidc-provider.ts';
import type { Plane, Reply } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('sign-in with OpenID Connect, on %s', (database) => {
  let provider: FakeOidcProvider;
  let plane: Plane;
  let connectionId: string;
  beforeAll(async () => {
    provider = await startFakeOidcProvider();
    const env = {
      TRUSTED_CUSTOM_HOSTS: new URL(provider.issuer).host,
      ADMIN_REQUESTS_PER_ADDRESS: '0',
      ADMIN_REQUESTS_PER_KEY: '0',
    };
    plane = await startPlaneWithGateway(database, env);
    const oidc = { issuer: provider.issuer, client_id: 'gateway', client_secret: 'the secret of the client' };
    const made = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Main', slug: 'main', type: 'oidc', oidc } });
    expect(made.status).toBe(200);
    connectionId = made.body.id;
    await addDomain('example.com');
  });
  afterAll(async () => {
    await plane?.close();
    await provider?.close();
  });

  async function addDomain(domain: string): Promise<void> {
    const em = plane.control.services.database.em();
    const now = new Date();
    const { organisationId } = plane;
    em.create(emailDomains, {
      ...{ id: newId(), organisationId, domain, allowSubdomains: false, challenge: 'test' },
      ...{ verifiedAt: now, createdAt: now, lastUpdatedAt: now },
    });
    await em.flush();
  }

  async function begin(email: string): Promise<{ readonly url: string; readonly cookie: string }> {
    const reply = await plane.ask('POST', '/auth/login', { key: null, body: { email } });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return { url: reply.body.url, cookie: cookieOf(reply) };
  }

  /** Follows the redirect of the provider to the control plane under test. */
  function callback(address: string, cookie: string): Promise<Reply> {
    const { pathname, search } = new URL(address);
    return plane.ask('GET', pathname.replace('/v2', '') + search, { key: null, headers: { cookie } });
  }

  const cookieOf = (reply: Reply) => (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const claimsOf = (name: string) => ({
    sub: `sub-${name}`,
    email: `${name}@example.com`,
    email_verified: true,
    given_name: 'Ada',
  });

  it('creates the user, signs them in, and finds them again by subject', async () => {
    const { url, cookie } = await begin('ada@example.com');
    const first = await callback(provider.authorize(url, claimsOf('ada')), cookie);
    expect(first.status, JSON.stringify(first.body)).toBe(200);
    expect(first.body).toMatchObject({
      object: 'session',
      user: { email: 'ada@example.com', role: 'member', first_name: 'Ada' },
    });
    const self = await plane.ask('GET', '/auth/self', { key: first.body.auth_token });
    expect(self.body.user.id).toBe(first.body.user.id);
    const again = await begin('ada@example.com');
    const moved = { ...claimsOf('ada'), email: 'other@elsewhere.example', email_verified: false };
    const second = await callback(provider.authorize(again.url, moved), again.cookie);
    expect(second.body.user?.id, JSON.stringify(second.body)).toBe(first.body.user.id);
    expect(connectionId).toBeTruthy();
  });
});
