import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeOidcProvider, startFakeOidcProvider } from '../../support/fakes/fake-oidc-provider.ts';
import { FakeSamlProvider } from '../../support/fakes/fake-saml-provider.ts';
import { claimsOf, newBrowser } from '../support/oidc-sign-in.ts';
import type { Plane } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { addVerifiedDomain } from '../support/sign-in.ts';
import { ruleDatabases } from '../support/test-database.ts';

const group_rules = [{ group: 'admins', role: 'admin' }];

describe.each(ruleDatabases)('claims that are not in the ID token or the assertion, on %s', (database) => {
  let plane: Plane;
  let oidcProvider: FakeOidcProvider;
  beforeAll(async () => {
    oidcProvider = await startFakeOidcProvider();
    plane = await startPlaneWithGateway(database, { TRUSTED_CUSTOM_HOSTS: new URL(oidcProvider.issuer).host });
    await addVerifiedDomain(plane, 'example.com');
  });
  afterAll(async () => {
    await plane?.close();
    await oidcProvider?.close();
  });

  /** Adds a connection, first without rules. Returns a function that sets its rules. */
  async function connect(settings: object) {
    const made = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Main', ...settings } });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const path = `/admin/sso-connections/${made.body.id}`;
    const setRules = async () => expect((await plane.ask('PUT', path, { body: { group_rules } })).status).toBe(200);
    return { path, setRules };
  }

  it('OpenID Connect: groups that are elsewhere reject the sign-in if there are rules', async () => {
    const oidc = { issuer: oidcProvider.issuer, client_id: 'gateway', client_secret: 'the secret of the client, long enough' };
    const { path, setRules } = await connect({ type: 'oidc', oidc });
    const signIn = (claims: object) =>
      newBrowser(plane).signIn(oidcProvider, { ...claimsOf('ada'), ...claims }, { email: 'ada@example.com' });
    const elsewhere = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.example' } } };
    expect((await signIn(elsewhere)).status).toBe(200);
    await setRules();
    const reply = await signIn(elsewhere);
    expect([reply.status, reply.body.data.message]).toEqual([401, expect.stringContaining('too many groups')]);
    expect((await signIn({ _claim_names: { photo: 'src1' } })).status).toBe(200);
    expect((await plane.ask('DELETE', path)).status).toBe(200);
  });

  it('OpenID Connect: email_verified is read from the user-info endpoint, for the same e-mail only', async () => {
    const oidc = { issuer: oidcProvider.issuer, client_id: 'gateway', client_secret: 'the secret of the client, long enough' };
    const { path } = await connect({ type: 'oidc', oidc });
    const signIn = async (name: string, userInfo: object) => {
      const claims = { email_verified: undefined, groups: [] };
      oidcProvider.lies = { claims, userInfo: { email_verified: true, ...userInfo } };
      return newBrowser(plane).signIn(oidcProvider, claimsOf(name));
    };
    expect((await signIn('eve', {})).status).toBe(200);
    const reply = await signIn('mia', { email: 'other@example.com' });
    expect([reply.status, reply.body.data.message]).toEqual([401, expect.stringContaining('has not verified the e-mail')]);
    const claims = { email: undefined, email_verified: true, groups: [] };
    oidcProvider.lies = { claims, userInfo: { email: 'ivy@example.com', email_verified: false } };
    expect((await newBrowser(plane).signIn(oidcProvider, claimsOf('ivy'))).status).toBe(401);
    oidcProvider.lies = {};
    expect((await plane.ask('DELETE', path)).status).toBe(200);
  });

  it.each([
    'groups',
    'memberOf',
    'http://schemas.microsoft.com/ws/2008/06/identity/claims/groups',
    'http://schemas.xmlsoap.org/claims/Group',
  ])('SAML: groups are read from the usual attribute %s', async (name) => {
    const provider = await FakeSamlProvider.create();
    const { path, setRules } = await connect({
      type: 'saml',
      saml: { metadata_xml: provider.metadata(), allow_idp_initiated: true },
    });
    await setRules();
    const { acs_url: recipient, entity_id: audience } = (await plane.ask('GET', path)).body.saml;
    const attributes = { email: ['carol@example.com'], [name]: ['others', 'admins'] };
    const SAMLResponse = await provider.respond({ recipient, audience, inResponseTo: null, nameId: name, attributes });
    const body = new URLSearchParams({ SAMLResponse });
    const reply = await fetch(plane.url + new URL(recipient).pathname, { method: 'POST', body });
    expect(await reply.json()).toMatchObject({ user: { role: 'admin' } });
    expect((await plane.ask('DELETE', path)).status).toBe(200);
  });

  it('SAML: a link instead of the groups rejects the sign-in if there are rules', async () => {
    const provider = await FakeSamlProvider.create();
    const saml = { metadata_xml: provider.metadata(), allow_idp_initiated: true };
    const { path, setRules } = await connect({ type: 'saml', saml });
    const { acs_url: recipient, entity_id: audience } = (await plane.ask('GET', path)).body.saml;
    const signIn = async () => {
      const link = ['https://graph.example/getMemberObjects'];
      const attributes = { email: ['bob@example.com'], 'http://schemas.microsoft.com/claims/groups.link': link };
      const SAMLResponse = await provider.respond({ recipient, audience, inResponseTo: null, nameId: 'bob', attributes });
      const body = new URLSearchParams({ SAMLResponse });
      return fetch(plane.url + new URL(recipient).pathname, { method: 'POST', body, redirect: 'manual' });
    };
    expect((await signIn()).status).toBe(200);
    await setRules();
    const reply = await signIn();
    expect([reply.status, await reply.text()]).toEqual([401, expect.stringContaining('too many groups')]);
  });
});
