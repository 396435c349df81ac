import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { newId } from '../../../admin/db/new-id.ts';
import { emailDomains } from '../../../admin/resources/email-domains/entity.ts';
import { newSamlKey } from '../../../admin/resources/sso-connections/saml-key.ts';
import { FakeSamlProvider, type ResponseParts } from '../../support/fake-saml-provider.ts';
import { until } from '../../support/until.ts';
import { expectRefusal } from '../support/outcomes.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

const browser = { accept: 'text/html' };

describe.each(ruleDatabases)('sign-in with SAML, on %s', (database) => {
  let provider: FakeSamlProvider;
  let plane: Plane;
  let id: string;
  let acs: string;
  let audience: string;
  beforeAll(async () => {
    provider = await FakeSamlProvider.create();
    plane = await startPlane(database, { ADMIN_REQUESTS_PER_ADDRESS: '0', ADMIN_REQUESTS_PER_KEY: '0' });
    const made = await create({ metadata_xml: provider.metadata() });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    id = made.body.id;
    const { saml } = (await plane.ask('GET', `/admin/sso-connections/${id}`)).body;
    [acs, audience] = [saml.acs_url, saml.entity_id];
    const em = plane.control.services.database.em();
    const now = new Date();
    em.create(emailDomains, {
      ...{ id: newId(), organisationId: plane.organisationId, domain: 'example.com', allowSubdomains: false, challenge: 'test' },
      ...{ verifiedAt: now, createdAt: now, lastUpdatedAt: now },
    });
    await em.flush();
  });
  afterAll(() => plane?.close());

  const create = (saml: object, name = 'Main') =>
    plane.ask('POST', '/admin/sso-connections', { body: { name, type: 'saml', saml } });

  async function begin(email = 'ada@example.com') {
    const reply = await plane.ask('POST', '/auth/login', { key: null, body: { email, return_to: '/v1/auth/account' } });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    const url: string = reply.body.url;
    const state = new URL(url).searchParams.get('RelayState') ?? '';
    const cookie = (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    return { url, state, cookie, requestId: provider.requestId(url) };
  }

  /** Sends a form to the callback, as a program without `origin` unless headers say otherwise. */
  const send = (form: Record<string, string>, headers: Record<string, string> = {}, path = new URL(acs).pathname) =>
    fetch(plane.url + path, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });
  const respond = (parts: Partial<ResponseParts>) => provider.respond({ recipient: acs, audience, inResponseTo: null, ...parts });
  const change = (saml: object) => plane.ask('PUT', `/admin/sso-connections/${id}`, { body: { saml } });

  it('creates the user, and finds them again by subject', async () => {
    const first = await begin();
    expect(first.url).toMatch(/^https:\/\/idp\.example\.com\/sso\?.*Signature=/);
    const SAMLResponse = await respond({
      inResponseTo: first.requestId,
      attributes: { email: ['ada@example.com'], givenName: ['Ada'] },
    });
    const reply = await send({ SAMLResponse, RelayState: first.state }, { cookie: first.cookie });
    const session = (await reply.json()) as { auth_token: string; user: { id: string } };
    expect(session).toMatchObject({ object: 'session', user: { email: 'ada@example.com', role: 'member', first_name: 'Ada' } });
    expect((await plane.ask('GET', '/auth/self', { key: session.auth_token })).body.user.id).toBe(session.user.id);
    const again = await begin();
    const moved = await respond({ inResponseTo: again.requestId, attributes: { email: ['other@elsewhere.example'] } });
    const second = await send({ SAMLResponse: moved, RelayState: again.state }, { cookie: again.cookie });
    expect(((await second.json()) as typeof session).user.id).toBe(session.user.id);
  });

  it('sends the form once more from a page of this service, so that browsers send the cookie', async () => {
    const { requestId, state, cookie } = await begin();
    const form = { SAMLResponse: await respond({ inResponseTo: requestId }), RelayState: state };
    const page = await send(form, { ...browser, 'sec-fetch-site': 'cross-site', origin: 'https://idp.example.com' });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(page.headers.get('set-cookie')).toBeNull();
    const text = await page.text();
    expect(text).toContain(state);
    const script = /src="([^"]+resend[^"]+)"/.exec(text)?.[1] ?? '';
    expect((await fetch(new URL(script, plane.url + new URL(acs).pathname))).status).toBe(200);
    const done = await send(form, { ...browser, 'sec-fetch-site': 'same-origin', cookie });
    expect({ status: done.status, to: done.headers.get('location') }).toEqual({ status: 303, to: '/v1/auth/account' });
    expect(done.headers.get('set-cookie')).toMatch(/svc_session=svc_session_/);
  });

  it('rejects another browser, a used sign-in and a forged assertion, each with a reason in the audit log', async () => {
    const { requestId, state, cookie } = await begin();
    const form = { SAMLResponse: await respond({ inResponseTo: requestId }), RelayState: state };
    expect((await send(form)).status).toBe(401);
    expect((await send(form, { cookie })).status).toBe(200);
    expect((await send(form, { cookie })).status).toBe(401);
    const next = await begin();
    const unsigned = await respond({ inResponseTo: next.requestId, sign: [] });
    const page = await send({ SAMLResponse: unsigned, RelayState: next.state }, { ...browser, cookie: next.cookie });
    expect(await page.text()).toContain('SAML: the assertion is not signed with a certificate of this connection');
    const entries = async () => {
      const where = { action: 'login', responseStatusCode: 401 };
      const rows = await plane.control.services.database.em().find(auditEntries, where, { orderBy: { seq: 'asc' } });
      return rows.map((row) => (row.requestBody as { reason?: string } | null)?.reason);
    };
    await until(async () => (await entries()).length === 3);
    expect(await entries()).toEqual(['other_browser', 'attempt_expired', 'invalid_response']);
    const last = await plane.lastAudit();
    expect(last.requestBody).toMatchObject({ connection_id: id, message: expect.stringContaining('not signed') });
  });

  it('accepts sign-ins that the provider began only if enabled, and each assertion once', async () => {
    const SAMLResponse = await respond({});
    expect((await send({ SAMLResponse })).status).toBe(401);
    expect((await change({ allow_idp_initiated: true })).status).toBe(200);
    const both = await Promise.all([send({ SAMLResponse, RelayState: 'portal' }), send({ SAMLResponse })]);
    expect(both.map((reply) => reply.status).sort()).toEqual([200, 401]);
    const again = (await (await send({ SAMLResponse })).json()) as { data: { message: string } };
    expect(again.data.message).toBe('SAML: this assertion was used before. Begin the sign-in again');
    await change({ allow_idp_initiated: false });
  });

  it('has metadata for the provider, at the address of the connection and of the organisation', async () => {
    const text = await (await fetch(`${plane.url}${new URL(audience).pathname}`)).text();
    expect(text).toContain(`entityID="${audience}"`);
    expect(text).toContain(`Location="${acs}"`);
    expect(text).toMatch(/use="signing"[\s\S]*use="encryption"/);
    const ofOrganisation = await fetch(`${plane.url}/v2/auth/saml/metadata/${plane.organisationId}`);
    expect(await ofOrganisation.text()).toContain(`/v2/auth/saml/callback/${plane.organisationId}`);
    const { saml } = (await plane.ask('GET', `/admin/sso-connections/${id}`)).body;
    const secret = await plane.control.services.database
      .em()
      .execute<{ secrets: string }[]>('select secrets from sso_connections');
    expect(JSON.stringify(saml) + JSON.stringify(secret)).not.toContain('PRIVATE KEY');
    expect((await fetch(`${plane.url}/v2/auth/saml/metadata/${newId()}`)).status).toBe(404);
  });

  it.each<[string, (other: string) => object, RegExp]>([
    [
      'no certificate',
      () => ({ idp_entity_id: 'x', sso_url: 'https://idp.example.com', certificates: [] }),
      /saml.certificates: at least one certificate/,
    ],
    [
      'certificates left out',
      () => ({ idp_entity_id: 'x', sso_url: 'https://idp.example.com' }),
      /saml.certificates: at least one certificate/,
    ],
    [
      'metadata without a certificate',
      () => ({ metadata_xml: provider.metadata([]) }),
      /saml.metadata_xml: KeyDescriptor: at least one certificate/,
    ],
    [
      'a text that is no certificate',
      () => ({ idp_entity_id: 'x', sso_url: 'https://idp.example.com', certificates: ['abc'] }),
      /saml.certificates: not an X.509/,
    ],
    [
      'metadata with entities',
      () => ({ metadata_xml: `<!DOCTYPE x [<!ENTITY a "b">]>${provider.metadata()}` }),
      /saml.metadata_xml: must not contain a document type/,
    ],
    ['metadata that is no XML', () => ({ metadata_xml: '<a><b></a>' }), /saml.metadata_xml: /],
    [
      'metadata of a service',
      () => ({ metadata_xml: '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"/>' }),
      /no IDPSSODescriptor/,
    ],
    [
      'nothing signed',
      () => ({ metadata_xml: provider.metadata(), want_assertion_signed: false }),
      /saml.want_assertion_signed: /,
    ],
    [
      'a script as address',
      (other) => ({ idp_entity_id: 'x', sso_url: 'javascript:alert(1)', certificates: [other] }),
      /saml.sso_url: /,
    ],
    ['a private address for metadata', () => ({ metadata_url: 'http://10.0.0.1/metadata' }), /saml.metadata_url: /],
  ])('a connection with %s cannot be saved', async (_, saml, reason) => {
    const other = (await newSamlKey(Date.now())).certificate;
    const reply = await expectRefusal(plane, () => create(saml(other), 'Bad'), 400, 'AB01', true);
    expect(reply.body.data.message).toMatch(reason);
  });
});
