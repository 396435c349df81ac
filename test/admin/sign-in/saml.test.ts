import { createVerify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { newId } from '../../../admin/db/new-id.ts';
import { emailDomains } from '../../../admin/resources/email-domains/entity.ts';
import { refreshMetadata } from '../../../admin/resources/sso-connections/refresh-metadata.ts';
import { newSamlKey } from '../../../admin/resources/sso-connections/saml-key.ts';
import {
  FakeSamlProvider,
  type LogoutParts,
  type ProviderKey,
  type ResponseParts,
} from '../../support/fakes/fake-saml-provider.ts';
import { until } from '../../support/until.ts';
import { expectRefusal } from '../support/outcomes.ts';
import { newPerson } from '../support/people.ts';
import type { Plane } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { ruleDatabases } from '../support/test-database.ts';

const browser = { accept: 'text/html' };

describe.each(ruleDatabases)('sign-in with SAML, on %s', (database) => {
  let provider: FakeSamlProvider;
  let plane: Plane;
  let id: string;
  let acs: string;
  let audience: string;
  let logoutUrl: string;
  /** Serves the metadata of the provider. */
  let host: Server;
  let published = { status: 200, xml: '' };
  beforeAll(async () => {
    provider = await FakeSamlProvider.create();
    host = createServer((_, response) => response.writeHead(published.status).end(published.xml)).listen(0, '127.0.0.1');
    await once(host, 'listening');
    const unlimited = { ADMIN_REQUESTS_PER_ADDRESS: '0', ADMIN_REQUESTS_PER_KEY: '0' };
    plane = await startPlaneWithGateway(database, { TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...unlimited });
    const made = await create({ metadata_xml: provider.metadata() });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    id = made.body.id;
    const { saml } = (await plane.ask('GET', `/admin/sso-connections/${id}`)).body;
    [acs, audience, logoutUrl] = [saml.acs_url, saml.entity_id, saml.logout_url];
    const em = plane.control.services.database.em();
    const now = new Date();
    em.create(emailDomains, {
      ...{ id: newId(), organisationId: plane.organisationId, domain: 'example.com', allowSubdomains: false, challenge: 'test' },
      ...{ verifiedAt: now, createdAt: now, lastUpdatedAt: now },
    });
    await em.flush();
  });
  afterAll(async () => {
    await plane?.close();
    host?.close();
  });

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

  /** Signs a user in. Returns the session token. */
  async function signIn(parts: Partial<ResponseParts> = {}): Promise<string> {
    const { requestId, state, cookie } = await begin();
    const form = { SAMLResponse: await respond({ inResponseTo: requestId, ...parts }), RelayState: state };
    const reply = await send(form, { cookie });
    expect(reply.status).toBe(200);
    return ((await reply.json()) as { auth_token: string }).auth_token;
  }

  const stateOf = async (key: string) => (await plane.ask('GET', '/auth/self', { key })).status;

  it('creates the user, and finds them again by subject', async () => {
    const first = await begin();
    expect(first.url).toMatch(/^https:\/\/idp\.example\.com\/sso\?.*Signature=/);
    const attributes = { email: ['ada@example.com'], givenName: ['Ada'] };
    const SAMLResponse = await respond({ inResponseTo: first.requestId, attributes });
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
    expect(await (await send({ SAMLResponse })).text()).toContain('SAML: this assertion was used before. Begin the sign-in');
    const nameIdFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
    const unnamed = await respond({ nameId: 'new', nameIdFormat, attributes: {} });
    expect(await (await send({ SAMLResponse: unnamed })).text()).toContain('set saml.email_attribute of the connection');
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

  it('rotates its own key: both certificates are published, and assertions for both are decrypted', async () => {
    const rotate = (step: string) => plane.ask('POST', `/admin/sso-connections/${id}/rotate-key`, { body: { step } });
    const published = async () => {
      const text = await (await fetch(`${plane.url}${new URL(audience).pathname}`)).text();
      const of = (use: string) => [...text.matchAll(new RegExp(`use="${use}"[\\s\\S]*?X509Certificate>([^<]+)<`, 'g'))];
      const certificates = (use: string) => of(use).map(([, one = '']) => one.replace(/\s/g, ''));
      return { signing: certificates('signing'), encryption: certificates('encryption') };
    };
    const inMetadata = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, '');
    const accepts = async (certificate: string) => signIn({ encryptFor: certificate, sign: ['assertion', 'response'] });
    const isSignedWith = async (certificate: string) => isSignedBy(certificate, (await begin()).url);
    const { own_certificate: old } = (await plane.ask('GET', `/admin/sso-connections/${id}`)).body.saml;
    expect((await rotate('activate')).body.data.message).toMatch(/^step: this connection has no next key/);
    expect((await rotate('remove')).body.data.message).toMatch(/^step: this connection has one key only/);

    const added = (await rotate('add')).body.saml;
    const next: string = added.next_certificate;
    expect(added).toMatchObject({ own_certificate: old, previous_certificate: null });
    expect(next).not.toBe(old);
    expect((await rotate('add')).status).toBe(409);
    expect(await published()).toEqual({ signing: [next, old].map(inMetadata), encryption: [inMetadata(next)] });
    expect([await isSignedWith(old), await isSignedWith(next)]).toEqual([true, false]);
    for (const certificate of [old, next]) await accepts(certificate);

    expect((await rotate('activate')).body.saml).toMatchObject({ own_certificate: next, previous_certificate: old });
    expect((await published()).signing).toEqual([old, next].map(inMetadata));
    expect([await isSignedWith(old), await isSignedWith(next)]).toEqual([false, true]);
    for (const certificate of [old, next]) await accepts(certificate);

    expect((await rotate('remove')).body.saml).toMatchObject({ own_certificate: next, previous_certificate: null });
    expect(await published()).toEqual({ signing: [inMetadata(next)], encryption: [inMetadata(next)] });
    await accepts(next);
    await expect(accepts(old)).rejects.toThrow();
    const em = plane.control.services.database.em();
    const secrets = await em.execute('select settings, request_body from sso_connections, audit_entries');
    expect(JSON.stringify(secrets)).not.toContain('PRIVATE KEY');
    const accepted = { action: 'rotate_key', resourceId: id, responseStatusCode: 200 };
    const entries = await em.find(auditEntries, accepted, { orderBy: { seq: 'asc' } });
    expect(entries.map((entry) => entry.requestBody)).toEqual([{ step: 'add' }, { step: 'activate' }, { step: 'remove' }]);
    const sent = { key: (await newPerson(plane, 'admin')).token, body: { step: 'add' } };
    expect((await plane.ask('POST', `/admin/sso-connections/${id}/rotate-key`, sent)).status).toBe(403);
  });

  describe('logout', () => {
    /** Delivers a logout message with the redirect binding, if it is a query, else as a form. */
    const deliver = (message: string, headers: Record<string, string> = {}) => {
      const address = plane.url + new URL(logoutUrl).pathname;
      if (message.includes('=&') || /^SAML\w+=/.test(message))
        return fetch(`${address}?${message}`, { headers, redirect: 'manual' });
      return fetch(address, { method: 'POST', body: new URLSearchParams({ SAMLRequest: message }), headers, redirect: 'manual' });
    };
    const xmlOf = (message: string | null) => inflateRawSync(Buffer.from(message ?? '', 'base64')).toString('utf8');

    /** Expects that the signature of an address was made with the key of the connection. */
    async function expectSigned(url: string): Promise<URLSearchParams> {
      const { saml } = (await plane.ask('GET', `/admin/sso-connections/${id}`)).body;
      expect(isSignedBy(saml.own_certificate, url)).toBe(true);
      return new URL(url).searchParams;
    }

    it.each(['redirect', 'form'])('requests of the provider end the sessions that they name, by %s', async (binding) => {
      const [one, two] = [await signIn({ sessionIndex: 's1' }), await signIn({ sessionIndex: 's2' })];
      const request = (sessions: string[]) => {
        const parts = { destination: logoutUrl, sessions };
        return binding === 'redirect' ? provider.logoutQuery(parts) : provider.logoutForm(parts);
      };
      const reply = await deliver(request(['s1']));
      expect([reply.status, await stateOf(one), await stateOf(two)]).toEqual([303, 401, 200]);
      expect(await plane.lastAudit()).toMatchObject({ action: 'saml_logout', resourceId: id, responseStatusCode: 200 });
      const to = reply.headers.get('location') ?? '';
      expect(to).toMatch(/^https:\/\/idp\.example\.com\/slo\?/);
      const sent = await expectSigned(to);
      expect(xmlOf(sent.get('SAMLResponse'))).toMatch(/InResponseTo="_logout-.*status:Success/s);
      expect(sent.get('RelayState')).toBe(binding === 'redirect' ? 'at the portal' : null);
      expect((await deliver(request([]))).status).toBe(303);
      expect(await stateOf(two)).toBe(401);
    });

    it.each<readonly [string, (parts: LogoutParts, other: ProviderKey) => string, RegExp]>([
      ['no signature', (parts) => provider.logoutQuery(parts).replace(/&SigAlg.*/, ''), /is not signed/],
      ['the key of another provider', (parts, key) => provider.logoutQuery(parts, { key }), /is not signed/],
      ['a changed state', (parts) => provider.logoutQuery(parts).replace('portal', 'other'), /is not signed/],
      [
        'a SHA-1 signature',
        (parts) => provider.logoutQuery(parts, { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }),
        /^SAML logout: SigAlg: /,
      ],
      ['a parameter given twice', (parts) => `${provider.logoutQuery(parts)}&RelayState=2`, /given twice|occurs twice/],
      ['another destination', (parts) => provider.logoutQuery({ ...parts, destination: acs }), /\(Destination\)/],
      ['another issuer', (parts) => provider.logoutQuery({ ...parts, issuer: 'https://evil.example' }), /the issuer is another/],
      ['an old time', (parts) => provider.logoutQuery({ ...parts, issued: -700 }), /has expired/],
      ['a future time', (parts) => provider.logoutQuery({ ...parts, issued: 120 }), /in the future/],
      ['an unsigned form', (parts) => Buffer.from(provider.logoutXml(parts)).toString('base64'), /is not signed/],
      ['a form with the key of another provider', (parts, key) => provider.logoutForm(parts, key), /is not signed/],
      [
        'a signed request inside another one',
        (parts) => {
          const signed = Buffer.from(provider.logoutForm(parts), 'base64').toString('utf8');
          const outer = provider.logoutXml({ ...parts, nameId: 'owner@example.com' }).replace(/"_logout-[^"]+"/, '"_outer"');
          return Buffer.from(outer.replace('</samlp:LogoutRequest>', `${signed}</samlp:LogoutRequest>`)).toString('base64');
        },
        /is not signed/,
      ],
      [
        'a comment in the subject',
        (parts) => Buffer.from(provider.logoutXml({ ...parts, nameId: 'ada<!---->@example.com' })).toString('base64'),
        /a comment/,
      ],
    ])('requests with %s are rejected, with an audit entry', async (_, forge, reason) => {
      const token = await signIn();
      const reply = await deliver(forge({ destination: logoutUrl }, await newSamlKey(Date.now())));
      const { data } = (await reply.json()) as { data: { message: string } };
      expect([reply.status === 401 || reply.status === 400, data.message]).toEqual([true, expect.stringMatching(reason)]);
      expect(await stateOf(token)).toBe(200);
      if (reply.status === 400) return;
      const entry = await until(() => audited(reply.headers.get('x-request-id') ?? ''), { what: 'the audit entry' });
      expect(entry).toMatchObject({ action: 'saml_logout', requestBody: { reason: 'invalid_response', message: data.message } });
    });

    const audited = (requestId: string) => plane.control.services.database.em().findOne(auditEntries, { requestId });

    it('here leads to the provider with a signed request, and its reply to a page', async () => {
      const key = await signIn({ sessionIndex: 's7' });
      const form = { method: 'POST', body: new URLSearchParams({ action: 'logout' }), redirect: 'manual' } as const;
      const headers = { cookie: `svc_session=${key}`, 'sec-fetch-site': 'same-origin' };
      const page = await (await fetch(`${plane.url}/v1/auth/account`, { ...form, headers })).text();
      const url = (/href="(https:[^"]+)"/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&');
      expect(url).toMatch(/^https:\/\/idp\.example\.com\/slo\?/);
      expect(await stateOf(key)).toBe(401);
      const xml = xmlOf((await expectSigned(url)).get('SAMLRequest'));
      expect(xml).toMatch(/Format="[^"]*:emailAddress"[^>]*>ada@example\.com<.*SessionIndex[^>]*>s7</s);
      const reply = async (status: string) =>
        (await deliver(provider.logoutQuery({ destination: logoutUrl, kind: 'LogoutResponse', status }))).text();
      expect(await reply('Success')).toContain('You are signed out. You can close this page');
      expect(await reply('PartialLogout')).toContain('could not end all of its sessions');
    });
  });

  it('reads metadata again: takes new certificates over, and keeps the old ones when the host is away', async () => {
    const { port } = host.address() as AddressInfo;
    const other = await newSamlKey(Date.now());
    published = { status: 200, xml: provider.metadata() };
    expect((await change({ metadata_url: `http://127.0.0.1:${port}/metadata` })).status).toBe(200);
    const look = async () => {
      const run = { key: id, organisationId: plane.organisationId, payload: {}, signal: new AbortController().signal };
      const outcome = await refreshMetadata(plane.control.services)(run);
      const reply = await plane.ask('GET', `/admin/sso-connections/${id}`);
      return { outcome, saml: reply.body.saml, etag: reply.headers.get('etag') };
    };
    const first = await look();
    expect(first).toMatchObject({ outcome: { againInMs: 3_600_000 }, saml: { metadata_error: null } });
    published = { status: 200, xml: provider.metadata([provider.key.certificate, other.certificate]) };
    const rolled = await look();
    expect(rolled.saml.certificates.map((one: string) => one.trim())).toEqual(
      [provider.key, other].map((one) => one.certificate.trim()),
    );
    expect(rolled.etag).not.toBe(first.etag);
    expect(await plane.lastAudit()).toMatchObject({ action: 'refresh_metadata', userType: 'system', resourceId: id });
    await signIn({ key: other });
    for (const [wrong, reason] of [
      [{ status: 503, xml: '' }, /replied with status 503/],
      [{ status: 200, xml: provider.metadata([]) }, /at least one certificate/],
      [{ status: 200, xml: provider.metadata().replace(provider.entityId, 'https://evil.example') }, /the entityID is no longer/],
    ] as const) {
      published = wrong;
      const { outcome, saml, etag } = await look();
      expect([outcome, saml.metadata_error]).toEqual([{ againInMs: 300_000 }, expect.stringMatching(reason)]);
      expect([saml.certificates, etag]).toEqual([rolled.saml.certificates, rolled.etag]);
    }
    published = { status: 200, xml: provider.metadata() };
    const last = await look();
    expect([last.saml.metadata_error, last.saml.certificates]).toEqual([null, first.saml.certificates]);
    expect((await change({ metadata_url: null })).status).toBe(200);
    expect((await look()).outcome).toBe('done');
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
    ['metadata that is no XML', () => ({ metadata_xml: '<a>'.repeat(50_000) }), /saml.metadata_xml: /],
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

/** Returns true if the query of an address was signed with the key of this certificate. */
function isSignedBy(certificate: string, url: string): boolean {
  const [signed = '', signature = ''] = new URL(url).search.slice(1).split('&Signature=');
  return createVerify('sha256').update(signed).verify(certificate, decodeURIComponent(signature), 'base64');
}
