import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { login, newPerson, type Person } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('browsers, on %s', (database) => {
  let plane: Plane;
  let person: Person;
  let cookie: string;
  beforeAll(async () => {
    plane = await startPlane(database, { PUBLIC_URL: 'https://gateway.example.com' });
    person = await newPerson(plane, 'admin');
    cookie = `__Host-svc_session=${person.token}`;
  });
  afterAll(() => plane?.close());

  it('get a cookie that scripts cannot read and other sites cannot use', async () => {
    const reply = await login(plane, person.email, person.password, { origin: 'https://gateway.example.com' });
    const set = reply.headers.get('set-cookie') ?? '';
    const [pair = '', ...attributes] = set.split('; ');
    expect(pair).toBe(`__Host-svc_session=${reply.body.auth_token}`);
    expect(attributes.filter((one) => !one.startsWith('Expires='))).toEqual(['Path=/', 'HttpOnly', 'SameSite=Lax', 'Secure']);
    const expires = attributes.find((one) => one.startsWith('Expires='))?.slice('Expires='.length) ?? '';
    expect(Math.abs(Date.parse(expires) - Date.parse(reply.body.expires_at))).toBeLessThan(1_000);
    const self = await plane.ask('GET', '/auth/self', { key: null, headers: { cookie: pair } });
    expect(self.body.user.id).toBe(person.id);
  });

  it('are not signed in by a page of another site', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
    ];
    for (const headers of foreign) {
      const reply = await login(plane, person.email, person.password, headers);
      expect(reply.status).toBe(200);
      expect(reply.headers.get('set-cookie')).toBeNull();
    }
  });

  it('can change something with the cookie only from a page of the service', async () => {
    const write = (headers: Record<string, string>) =>
      plane.ask('POST', '/admin/workspaces', { key: null, body: { name: 'Made by a page' }, headers: { cookie, ...headers } });
    const foreign: Record<string, string>[] = [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://gateway.example.com' },
      { origin: 'https://gateway.example.com.evil.example' },
      { origin: 'https://gateway.example.com', 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      // Only our own gateways may set the requested host.
      { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' },
    ];
    for (const headers of foreign) {
      const reply = await write(headers);
      expect({ status: reply.status, code: reply.body.data.errorCode }, JSON.stringify(headers)).toEqual({
        status: 403,
        code: 'AB03',
      });
    }
    expect((await plane.ask('GET', '/admin/workspaces')).body.total).toBe(1);
    expect((await write({ origin: 'https://gateway.example.com' })).status).toBe(200);
    expect((await write({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    const vouched = { 'svc-internal-cluster-key': plane.settings.clusterKeyText, 'x-forwarded-host': 'other-name.example' };
    expect((await write({ origin: 'https://other-name.example', ...vouched })).status).toBe(200);
  });

  it('with a key or token are authenticated by it, not by their cookie', async () => {
    const reply = await plane.ask('GET', '/auth/self', { key: plane.adminKey, headers: { cookie } });
    expect(reply.status).toBe(403);
    const bearer = await plane.ask('GET', '/auth/self', { key: null, headers: { cookie, authorization: 'Bearer nonsense' } });
    expect(bearer.status).toBe(401);
  });

  it('open links on a page that cannot be framed and that runs only its own script', async () => {
    for (const version of ['v1', 'v2']) {
      const reply = await fetch(`${plane.url}/${version}/auth/link`);
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(reply.headers.get('x-frame-options')).toBe('DENY');
      const policy = reply.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      const page = await reply.text();
      expect(page).not.toMatch(/<script>|<style>|style=|(src|href)="(?!assets\/)/);
      const script = /src="(assets\/link-[0-9a-f]{12}\.js)"/.exec(page)?.[1] ?? '';
      const asset = await fetch(new URL(script, reply.url));
      expect(asset.headers.get('cache-control')).toContain('immutable');
      expect(await asset.text()).toContain('history.replaceState');
    }
  });
});
