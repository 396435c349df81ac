import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
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
    const body = { name: type, slug: type, type, [type]: settings };
    const made = await plane.ask('POST', '/admin/sso-connections', { body });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    return made.body.id;
  }

  /** Expects exactly one entry for this refusal. */
  async function expectEntry(reply: { status: number; headers: Headers }, status: number): Promise<void> {
    expect(reply.status).toBe(status);
    await plane.control.services.background.settled();
    const requestId = reply.headers.get('x-request-id') ?? '';
    const entries = await plane.control.services.database.em().find(auditEntries, { requestId });
    expect(entries).toMatchObject([{ organisationId: plane.organisationId, action: 'login', responseStatusCode: status }]);
  }

  it('have one audit entry with OpenID Connect: a query that is invalid, and a state that is unknown', async () => {
    const id = await connect('oidc', {
      issuer: 'https://id.example.com',
      client_id: 'a',
      client_secret: 'long enough as a secret',
    });
    const open = (query: string) => plane.ask('GET', `/auth/callback/${id}?${query}`, { key: null });
    await expectEntry(await open('state=a&state=b'), 400);
    await expectEntry(await open('state=unknown'), 401);
  });

  it('have one audit entry with SAML: a form without a response, and a response that is no XML', async () => {
    const id = await connect('saml', { metadata_xml: (await FakeSamlProvider.create()).metadata() });
    const send = (form: Record<string, string>) =>
      fetch(`${plane.url}/v2/auth/saml/callback/${id}`, { method: 'POST', body: new URLSearchParams(form) });
    await expectEntry(await send({ RelayState: 'any' }), 400);
    await expectEntry(await send({ SAMLResponse: 'any' }), 401);
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
