import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { housekeepingTasks } from '../../../admin/tables.ts';
import { FakeSamlProvider, type LogoutParts, type ResponseParts } from '../../support/fakes/fake-saml-provider.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { scimClient } from '../support/scim-client.ts';
import { addVerifiedDomain } from '../support/sign-in.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('sessions that begin with SAML, on %s', (database) => {
  let provider: FakeSamlProvider;
  let plane: Plane;
  let id: string;
  let saml: { acs_url: string; entity_id: string; logout_url: string };
  beforeAll(async () => {
    plane = await startPlane(database);
    await addVerifiedDomain(plane, 'example.com');
    provider = await FakeSamlProvider.create();
    const settings = { metadata_xml: provider.metadata(), allow_idp_initiated: true, clock_skew_seconds: 30 };
    const made = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Main', type: 'saml', saml: settings } });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    id = made.body.id;
    saml = (await plane.ask('GET', `/admin/sso-connections/${id}`)).body.saml;
  });
  afterAll(() => plane?.close());

  const respond = (parts: Partial<ResponseParts> = {}) =>
    provider.respond({ recipient: saml.acs_url, audience: saml.entity_id, inResponseTo: null, ...parts });
  const send = (form: Record<string, string>, headers: Record<string, string> = {}, address = saml.acs_url) =>
    fetch(plane.url + new URL(address).pathname, { method: 'POST', body: new URLSearchParams(form), headers });

  async function signIn(parts: Partial<ResponseParts> = {}) {
    const reply = await send({ SAMLResponse: await respond(parts) });
    expect(reply.status).toBe(200);
    return (await reply.json()) as { auth_token: string; expires_at: string; user: { id: string } };
  }

  it('end with the session at the provider if that is earlier (SessionNotOnOrAfter)', async () => {
    const secondsOf = async (parts: Partial<ResponseParts>) =>
      (Date.parse((await signIn(parts)).expires_at) - Date.now()) / 1_000;
    expect(await secondsOf({ sessionUntil: 3_600 })).toSatisfy((seconds: number) => seconds > 3_500 && seconds <= 3_630);
    const week = 7 * 86_400;
    for (const parts of [{}, { sessionUntil: 30 * 86_400 }])
      expect(await secondsOf(parts)).toSatisfy((seconds: number) => seconds > week - 100 && seconds <= week);
  });

  it('begin once with each assertion, and its id is kept while it is valid', async () => {
    const form = { SAMLResponse: await respond() };
    expect((await send(form)).status).toBe(200);
    const clock = { ...plane.control.services.clock, now: () => Date.now() + 60_000 };
    const tasks = housekeepingTasks.filter(({ name }) => name === 'delete ids of expired SAML assertions');
    for (const task of tasks) await task.run({ ...plane.control.services, clock, isClosing: () => false });
    expect(tasks).toHaveLength(1);
    const again = await send(form);
    expect([again.status, await again.text()]).toEqual([401, expect.stringContaining('this assertion was used before')]);
  });

  it('do not begin with the response of another connection than the one of the sign-in', async () => {
    const other = await FakeSamlProvider.create();
    const settings = { metadata_xml: other.metadata(), allow_idp_initiated: false };
    const made = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Other', type: 'saml', saml: settings } });
    const { acs_url: recipient, entity_id: audience } = (await plane.ask('GET', `/admin/sso-connections/${made.body.id}`)).body
      .saml;
    const body = { email: 'ada@example.com', sso_client_id: id };
    const begun = await plane.ask('POST', '/auth/login', { key: null, body });
    const RelayState = new URL(begun.body.url).searchParams.get('RelayState') ?? '';
    const cookie = (begun.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const inResponseTo = provider.requestId(begun.body.url);
    const SAMLResponse = await other.respond({ recipient, audience, inResponseTo });
    const reply = await send({ SAMLResponse, RelayState }, { cookie }, recipient);
    expect([reply.status, await reply.text()]).toEqual([401, expect.stringContaining('the address of another connection')]);
  });

  /** Delivers a logout message of the provider. Returns the audit entries of the request. */
  async function deliver(parts: Partial<LogoutParts>) {
    const query = provider.logoutQuery({ destination: saml.logout_url, ...parts });
    const reply = await fetch(`${plane.url + new URL(saml.logout_url).pathname}?${query}`, { redirect: 'manual' });
    await plane.control.services.background.settled();
    const requestId = reply.headers.get('x-request-id') ?? '';
    return plane.control.services.database.em().find(auditEntries, { requestId });
  }

  it('have an audit entry with their user when the provider ends them', async () => {
    const { user } = await signIn({ sessionIndex: 's1' });
    const entry = { action: 'saml_logout', resourceId: id, userId: user.id, responseStatusCode: 200, errorCode: null };
    expect(await deliver({ sessions: ['s1'] })).toMatchObject([entry]);
    expect(await deliver({ sessions: [], nameId: 'unknown' })).toMatchObject([{ ...entry, userId: null }]);
  });

  it('are not ended by a logout request that was used before, although they begin within the clock skew', async () => {
    await signIn({ sessionIndex: 's2' });
    const sent = provider.logoutQuery({ destination: saml.logout_url, sessions: ['s2'] });
    const address = `${plane.url + new URL(saml.logout_url).pathname}?${sent}`;
    expect((await fetch(address, { redirect: 'manual' })).status).toBe(303);
    const { auth_token: key } = await signIn({ sessionIndex: 's2' });
    const again = await fetch(address, { redirect: 'manual' });
    expect([again.status, await again.text()]).toEqual([401, expect.stringContaining('this request was used before')]);
    await plane.control.services.background.settled();
    const requestId = again.headers.get('x-request-id') ?? '';
    expect(await plane.control.services.database.em().find(auditEntries, { requestId })).toMatchObject([
      { action: 'saml_logout', requestBody: { connection_id: id, reason: 'replayed' } },
    ]);
    expect((await plane.ask('GET', '/auth/self', { key })).status).toBe(200);
  });

  it('have an audit entry when the provider reports that it could not end all of them', async () => {
    expect(await deliver({ kind: 'LogoutResponse' })).toEqual([]);
    expect(await deliver({ kind: 'LogoutResponse', status: 'PartialLogout' })).toMatchObject([
      { action: 'saml_logout', responseStatusCode: 200, requestBody: { connection_id: id, reason: 'provider_error' } },
    ]);
  });

  it('end with a reply at the ResponseLocation of the provider, while requests go to its Location', async () => {
    const location = 'Location="https://idp.example.com/slo"';
    const metadata_xml = provider.metadata().replace(location, `${location} ResponseLocation="https://idp.example.com/slo/done"`);
    const put = (fields: object) => plane.ask('PUT', `/admin/sso-connections/${id}`, { body: { saml: fields } });
    const shown = async () => (await plane.ask('GET', `/admin/sso-connections/${id}`)).body.saml.slo_response_url;
    expect((await put({ metadata_xml })).status).toBe(200);
    expect(await shown()).toBe('https://idp.example.com/slo/done');
    const { auth_token: key } = await signIn({ sessionIndex: 's3' });
    const { body } = await plane.ask('POST', '/auth/logout', { key, body: {} });
    expect(messageAt(body.logout_url, 'SAMLRequest')).toEqual({
      address: 'https://idp.example.com/slo',
      xml: expect.stringContaining('Destination="https://idp.example.com/slo"'),
    });
    const sent = provider.logoutQuery({ destination: saml.logout_url, sessions: ['s4'] });
    const reply = await fetch(`${plane.url + new URL(saml.logout_url).pathname}?${sent}`, { redirect: 'manual' });
    expect(messageAt(reply.headers.get('location') ?? '', 'SAMLResponse')).toEqual({
      address: 'https://idp.example.com/slo/done',
      xml: expect.stringContaining('Destination="https://idp.example.com/slo/done"'),
    });
    const bad = await put({ slo_response_url: 'ftp://idp.example.com/done' });
    expect([bad.status, bad.body.data?.message]).toEqual([400, expect.stringMatching(/^saml\.slo_response_url: /)]);
    expect((await put({ slo_url: 'https://idp.example.com/slo' })).status).toBe(200);
    expect(await shown()).toBe('https://idp.example.com/slo/done');
    expect((await put({ slo_url: 'https://new-idp.example.com/slo' })).status).toBe(200);
    expect(await shown()).toBeNull();
    expect((await put({ metadata_xml })).status).toBe(200);
    expect((await put({ metadata_xml: provider.metadata() })).status).toBe(200);
    expect(await shown()).toBeNull();
  });

  it('begin for a user whom the directory renamed, with the new e-mail as NameID', async () => {
    const scim = await scimClient(plane);
    const as = (nameId: string) => signIn({ nameId, attributes: {} });
    const { user } = await as('Grace@example.com');
    expect((await scim('PUT', `/Users/${user.id}`, { userName: 'hopper@example.com' })).status).toBe(200);
    expect((await as('hopper@example.com')).user.id).toBe(user.id);
  });

  function messageAt(url: string, name: 'SAMLRequest' | 'SAMLResponse') {
    const { origin, pathname, searchParams } = new URL(url);
    const xml = inflateRawSync(Buffer.from(searchParams.get(name) ?? '', 'base64')).toString('utf8');
    return { address: origin + pathname, xml };
  }
});
