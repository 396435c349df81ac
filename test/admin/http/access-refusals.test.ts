import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newApiKey, type ParsedApiKey, parseApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { until } from '../../support/until.ts';
import { login, newPerson } from '../support/people.ts';
import { type Plane, startPlane, type Tenant } from '../support/plane.ts';
import { scimClient, scimClientWith } from '../support/scim-client.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('refusals of access, on %s', (database) => {
  let plane: Plane;
  let other: Tenant;
  beforeAll(async () => {
    plane = await startPlane(database, { ADMIN_REQUESTS_PER_ADDRESS: '0' });
    other = await plane.newTenant();
  });
  afterAll(() => plane?.close());

  /** The newest audit entry of an organisation with this reason. */
  const entryOf = (reason: string, key = plane.adminKey) =>
    until(
      async () => {
        const range = 'start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z';
        const { body } = await plane.ask('GET', `/audit-logs?${range}`, { key });
        return body.records.find((one: { request_body: string | null }) => one.request_body?.includes(`"${reason}"`));
      },
      { what: `an audit entry with the reason ${reason}` },
    );

  async function refusalsOf(reason: string): Promise<number> {
    const text = await (await fetch(`${plane.url}/metrics`)).text();
    return Number(new RegExp(`^svc_access_refusals_total{reason="${reason}",[^}]*} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  }

  it('SCIM: an unknown token is in the audit log of the organisation in the URL, also for reads', async () => {
    const unknown = scimClientWith(plane, plane.organisationId, `svc_scim_${'x'.repeat(43)}`);
    expect((await unknown('GET', '/Users')).status).toBe(401);
    expect(await entryOf('unknown_scim_token')).toMatchObject({ method: 'GET', response_status_code: 401, user_id: null });
    expect(await refusalsOf('unknown_scim_token')).toBe(1);
    const nowhere = scimClientWith(plane, '00000000-0000-4000-8000-000000000000', `svc_scim_${'x'.repeat(43)}`);
    expect((await nowhere('POST', '/Users', { userName: 'a@example.com' })).status).toBe(401);
    expect(await refusalsOf('unknown_scim_token')).toBe(2);
  });

  it('SCIM: a token at the URL of another organisation is in the audit log of its own', async () => {
    const { body } = await plane.ask('POST', '/scim/tokens', { key: other.adminKey, body: { name: 'foreign' } });
    const foreign = scimClientWith(plane, plane.organisationId, body.token);
    expect(await foreign('GET', '/Users')).toMatchObject({
      status: 404,
      body: { detail: 'The SCIM token does not belong to the organisation of this URL' },
    });
    expect(await entryOf('other_organisation', other.adminKey)).toMatchObject({ method: 'GET', user_id: body.id });
    // Refused reads that are no attack have no entry.
    const before = await plane.auditCount();
    const own = await scimClient(plane);
    expect((await own('GET', '/Users/00000000-0000-4000-8000-000000000000')).status).toBe(404);
    expect((await own('GET', '/Users?filter=wrong')).status).toBe(400);
    expect(await plane.auditCount()).toBe(before + 1);
  });

  it('sessions: a request of another site with the cookie names the user in the audit log', async () => {
    const person = await newPerson(plane, 'admin');
    const headers = { cookie: `svc_session=${person.token}`, origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' };
    const reply = await plane.ask('POST', '/configs', { key: null, headers, body: { name: 'evil', config: {} } });
    expect(reply.status).toBe(403);
    expect(await entryOf('cross_site')).toMatchObject({ user_id: person.id, response_status_code: 403 });
  });

  it('OIDC: a callback with an unknown state is in the audit log of the connection, or is counted if none is named', async () => {
    const oidc = { issuer: 'https://id.example.com', client_id: 'gateway', client_secret: 'secret' };
    const { body } = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Company', type: 'oidc', oidc } });
    expect((await plane.ask('GET', `/auth/callback/${body.id}?state=guessed&code=injected`, { key: null })).status).toBe(401);
    expect(await entryOf('attempt_expired')).toMatchObject({ response_status_code: 401, action: 'login' });
    const before = await plane.auditCount();
    expect((await plane.ask('GET', '/auth/callback?state=guessed&code=injected', { key: null })).status).toBe(401);
    expect(await refusalsOf('attempt_expired')).toBe(2);
    expect(await plane.auditCount()).toBe(before);
    const lines = plane.log.lines.filter(({ fields }) => fields.reason === 'attempt_expired');
    expect(lines.map(({ message, level }) => [message, level])).toEqual(Array(2).fill(['request rejected', 'info']));
    expect(JSON.stringify(lines)).not.toContain('guessed');
  });

  it('passwords: an unknown user is counted and logged without the e-mail', async () => {
    expect((await login(plane, 'nobody@example.com', 'wrong')).status).toBe(401);
    expect(await refusalsOf('wrong_credentials')).toBe(1);
    expect(JSON.stringify(plane.log.lines)).not.toContain('nobody@example.com');
  });

  it('API keys: wrong secrets of a known key do not fill the audit log', async () => {
    const { kind, id } = parseApiKey(plane.adminKey) as ParsedApiKey;
    const key = newApiKey(kind, id).text;
    const before = await plane.auditCount();
    const refused = await Promise.all(Array.from({ length: 100 }, () => plane.ask('POST', '/configs', { key, body: {} })));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
    const entries = (await plane.auditCount()) - before;
    // 60 less those of the tests before, and one for each second since the first.
    expect(entries).toBeGreaterThanOrEqual(50);
    expect(entries).toBeLessThan(100);
  });
});
