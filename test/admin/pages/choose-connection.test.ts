import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeSamlProvider } from '../../support/fakes/fake-saml-provider.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { addVerifiedDomain, newConnection } from '../support/sign-in.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('the sign-in page of an organisation with several connections, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    await addVerifiedDomain(plane, 'example.com');
    // The provider of the oldest connection cannot be reached.
    await newConnection(plane, { name: 'Away' });
    const provider = await FakeSamlProvider.create();
    for (const name of ['Head office', 'Subsidiary <2>']) {
      const saml = { metadata_xml: provider.metadata() };
      const made = await plane.ask('POST', '/admin/sso-connections', { body: { name, type: 'saml', saml } });
      expect(made.status, JSON.stringify(made.body)).toBe(200);
    }
  });
  afterAll(() => plane?.close());

  async function send(more: Record<string, string> = {}): Promise<string> {
    const body = new URLSearchParams({ email: 'ada@example.com', method: 'sso', return_to: '/console', ...more });
    const headers = { 'sec-fetch-site': 'same-origin' };
    const reply = await fetch(`${plane.url}/v1/auth/sign-in`, { method: 'POST', body, headers, redirect: 'manual' });
    expect(reply.status).toBe(200);
    return reply.text();
  }

  it('lets the user choose one without calling a provider before, and continues with it', async () => {
    const page = await send();
    expect(page).not.toContain('http-equiv="refresh"');
    expect(page).toMatch(/name="email" value="ada@example.com"[\s\S]*name="method" value="sso"/);
    expect(page).toContain('name="return_to" value="/console"');
    const choices = [...page.matchAll(/name="sso_client_id" value="([^"]+)">([^<]+)</g)];
    expect(choices.map(([, , name]) => name)).toEqual(['Away', 'Head office', 'Subsidiary &lt;2&gt;']);
    const next = await send({ sso_client_id: choices[2]?.[1] ?? '' });
    expect(next).toContain('<title>Continue to your identity provider</title>');
    expect(next).toMatch(/http-equiv="refresh" content="0;url=https:\/\/idp\.example\.com\/sso\?/);
    const [attempt] = await plane.control.services.database
      .em()
      .execute<{ connection_id: string }[]>('select connection_id from sign_in_attempts order by created_at desc limit 1');
    expect(attempt?.connection_id).toBe(choices[2]?.[1]);
  });
});
