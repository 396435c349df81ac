import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { ssoConnections } from '../../../admin/resources/sso-connections/entity.ts';
import { beginAttempt } from '../../../admin/sign-in/attempts.ts';
import { FakeSamlProvider } from '../../support/fakes/fake-saml-provider.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('invalid requests to the address of a connection, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  async function connect(type: 'oidc' | 'saml', settings: object): Promise<string> {
    const body = { name: type, type, [type]: settings };
    const made = await plane.ask('POST', '/admin/sso-connections', { body });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    return made.body.id;
  }

  /** Expects exactly one entry for this refusal. */
  async function expectEntry(reply: { status: number; headers: Headers }, status: number, action = 'login'): Promise<void> {
    expect(reply.status).toBe(status);
    await plane.control.services.background.settled();
    const requestId = reply.headers.get('x-request-id') ?? '';
    const entries = await plane.control.services.database.em().find(auditEntries, { requestId });
    expect(entries).toMatchObject([{ organisationId: plane.organisationId, action, responseStatusCode: status }]);
  }
  const client = { issuer: 'https://id.example.com', client_secret: 'long enough as a secret' };
  const form = (path: string, body: string | URLSearchParams) => fetch(`${plane.url}/v2${path}`, { method: 'POST', body });

  it('have one audit entry with OpenID Connect: a query that is invalid, and a state that is unknown', async () => {
    const id = await connect('oidc', { ...client, client_id: 'a' });
    const open = (query: string) => plane.ask('GET', `/auth/callback/${id}?${query}`, { key: null });
    await expectEntry(await open('state=a&state=b'), 400);
    await expectEntry(await open('state=unknown'), 401);
  });

  it('have one audit entry at the shared callback if the state belongs to a sign-in', async () => {
    const id = await connect('oidc', { ...client, client_id: 'b', shared_callback: true });
    const { services } = plane.control;
    const state = await services.database.emOf(plane.organisationId).transactional(async (tx) => {
      const connection = await tx.findOneOrFail(ssoConnections, { id, organisationId: plane.organisationId });
      return (await beginAttempt(tx, services, connection, { cookies: undefined, returnTo: null, data: {} })).state;
    });
    const open = (query: string) => plane.ask('GET', `/auth/callback?${query}`, { key: null });
    await expectEntry(await open(`state=${state}&code=a&code=b`), 400);
    await expectEntry(await open(`state=${state}&code=a`), 401);
    const before = await plane.auditCount();
    expect((await open('state=unknown&code=a&code=b')).status).toBe(400);
    await services.background.settled();
    expect(await plane.auditCount()).toBe(before);
  });

  it('have one audit entry with SAML: a body that is no form, a form without a response, and a response that is no XML', async () => {
    const id = await connect('saml', { metadata_xml: (await FakeSamlProvider.create()).metadata() });
    const path = `/auth/saml/callback/${id}`;
    await expectEntry(await form(path, '{"a":'), 400);
    await expectEntry(await form(path, new URLSearchParams({ RelayState: 'any' })), 400);
    await expectEntry(await form(path, new URLSearchParams({ SAMLResponse: 'any' })), 401);
    const open = (query: string) => plane.ask('GET', `/auth/saml/logout/${id}?${query}`, { key: null });
    await expectEntry(await open('SAMLRequest=a&SAMLRequest=b'), 400, 'saml_logout');
    await expectEntry(await form(`/auth/saml/logout/${id}`, 'no form'), 400, 'saml_logout');
  });

  it('have one audit entry with the logout of OpenID Connect: a body that is no form, and a form without a token', async () => {
    const id = await connect('oidc', { ...client, client_id: 'c' });
    const path = `/auth/backchannel-logout/${id}`;
    await expectEntry(await form(path, 'no form'), 400, 'backchannel_logout');
    await expectEntry(await form(path, new URLSearchParams({})), 400, 'backchannel_logout');
  });

  it('have a limited number of entries, because anyone can send them', async () => {
    const id = await connect('oidc', { ...client, client_id: 'd' });
    const path = `/auth/backchannel-logout/${id}`;
    for (let count = 0; count < 10; count++) await Promise.all(Array.from({ length: 50 }, () => form(path, 'no form')));
    await plane.control.services.background.settled();
    // Sixty, and one more for each second that the requests take.
    const entries = await plane.control.services.database.em().count(auditEntries, { uri: `/v2${path}` });
    expect(entries).toBeLessThan(250);
    expect(entries).toBeGreaterThan(0);
  });

  it('have no audit entry if the connection is unknown', async () => {
    const before = await plane.auditCount();
    const id = '7f9c2d1e-0000-4000-8000-000000000001';
    expect((await plane.ask('GET', `/auth/callback/${id}?state=a&state=b`, { key: null })).status).toBe(400);
    expect((await plane.ask('GET', '/auth/callback/none?state=a&state=b', { key: null })).status).toBe(400);
    await plane.control.services.background.settled();
    expect(await plane.auditCount()).toBe(before);
  });
});
