import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeSamlProvider } from '../../support/fakes/fake-saml-provider.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { addVerifiedDomain } from '../support/sign-in.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('a session that begins with SAML, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    await addVerifiedDomain(plane, 'example.com');
  });
  afterAll(() => plane?.close());

  it('ends with the session at the provider if that is earlier (SessionNotOnOrAfter)', async () => {
    const provider = await FakeSamlProvider.create();
    const saml = { metadata_xml: provider.metadata(), allow_idp_initiated: true, clock_skew_seconds: 30 };
    const made = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Main', type: 'saml', saml } });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const { acs_url: recipient, entity_id: audience } = (await plane.ask('GET', `/admin/sso-connections/${made.body.id}`)).body
      .saml;
    /** Returns the seconds from now until the end of the session. */
    const secondsOf = async (sessionUntil?: number) => {
      const end = sessionUntil === undefined ? {} : { sessionUntil };
      const SAMLResponse = await provider.respond({ recipient, audience, inResponseTo: null, ...end });
      const body = new URLSearchParams({ SAMLResponse });
      const reply = await fetch(plane.url + new URL(recipient).pathname, { method: 'POST', body });
      expect(reply.status).toBe(200);
      return (Date.parse(((await reply.json()) as { expires_at: string }).expires_at) - Date.now()) / 1_000;
    };
    expect(await secondsOf(3_600)).toSatisfy((seconds: number) => seconds > 3_500 && seconds <= 3_630);
    const week = 7 * 86_400;
    for (const end of [undefined, 30 * 86_400])
      expect(await secondsOf(end)).toSatisfy((seconds: number) => seconds > week - 100 && seconds <= week);
  });
});
