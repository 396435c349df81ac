import { deflateRawSync } from 'node:zlib';
import { TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { until } from '../../support/until.ts';
import { browserMissing, launchBrowser, violations } from '../support/browser.ts';
import { newPerson, type Person } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { arrive, newConnection, verifiedDomain } from '../support/sign-in.ts';
import { ruleDatabases } from '../support/test-database.ts';

const origin = 'http://localhost';

describe('pages for people', () => {
  let plane: Plane;
  let browser: Browser;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabases[0] ?? 'PGlite', { PUBLIC_URL: origin });
    await newServer();
    if (browserMissing === null) browser = await launchBrowser(`MAP localhost:80 127.0.0.1:${new URL(plane.url).port}`);
  });
  afterAll(async () => {
    await browser?.close();
    await plane?.close();
  });

  const member = () => [{ id: plane.workspaceId, role: 'member' as const }];

  const post = (path: string, form: Record<string, string>, headers: Record<string, string>) =>
    fetch(`${plane.url}/v1/auth/${path}`, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });

  it.each(['sign-in', 'forgot-password', 'link'])('%s runs no script of its own and cannot be framed', async (path) => {
    const reply = await fetch(`${plane.url}/v1/auth/${path}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(reply.headers.get('content-security-policy')).not.toContain('unsafe');
    expect(await reply.text()).not.toMatch(/<script>|<style>| style=| on[a-z]+=/);
  });

  it('forms of other sites are rejected, so that they cannot sign a visitor in', async () => {
    const { email, password } = await newPerson(plane);
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      {},
    ];
    for (const headers of foreign) {
      const reply = await post('sign-in', { email, password }, headers);
      expect({ status: reply.status, cookie: reply.headers.get('set-cookie') }).toEqual({ status: 403, cookie: null });
    }
    const own = await post('sign-in', { email, password, return_to: '/v1/auth/account' }, { 'sec-fetch-site': 'same-origin' });
    expect(own.status).toBe(303);
    expect(own.headers.get('location')).toBe('/v1/auth/account');
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)'])(
    'a sign-in never leads to %s',
    async (return_to) => {
      const { email, password } = await newPerson(plane);
      const reply = await post('sign-in', { email, password, return_to }, { 'sec-fetch-site': 'same-origin' });
      expect(reply.headers.get('location')).toBe('/v1/auth/account');
    },
  );

  it.each([
    ['another host', '//evil.example'],
    ['a path that is too long', `/${'a'.repeat(100_000)}`],
  ])('a sign-in never leads to %s in a compressed path', async (_, path) => {
    const return_to = `deflate:${deflateRawSync(path).toString('base64url')}`;
    const page = await fetch(`${plane.url}/v1/auth/sign-in?${new URLSearchParams({ return_to })}`);
    expect(await page.text()).toContain('name="return_to" value="/v1/auth/account"');
    expect((await fetch(`${plane.url}/v1/auth/sign-in?return_to=deflate:AAAA`)).status).toBe(200);
  });

  it.skipIf(browserMissing !== null)('the back button shows no reply of the API after the sign-out', async () => {
    const { email, password } = await newPerson(plane, 'admin');
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}/v1/auth/sign-in`);
    await page.fill('input[name=email]', email);
    await page.fill('input[name=password]', password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/auth/account');
    await page.goto(`${origin}/v1/admin/users`);
    expect(await page.locator('body').textContent()).toContain(email);
    await page.goto(`${origin}/v1/auth/account`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/auth/sign-in');
    await page.goto(`${origin}/v1/auth/forgot-password`);
    while (!page.url().endsWith('/admin/users')) await page.goBack();
    expect(await page.locator('body').textContent()).not.toContain(email);
    await context.close();
  });

  it('refusals of the sign-in name labels of the form', async () => {
    const { email } = await newPerson(plane);
    const textAfter = async (form: Record<string, string>) => {
      const reply = await post('sign-in', { email, ...form }, { 'sec-fetch-site': 'same-origin' });
      return [reply.status, /<p[^>]*role="alert"[^>]*>([^<]*)/.exec(await reply.text())?.[1]];
    };
    expect(await textAfter({ method: 'password', password: 'wrong' })).toEqual([
      401,
      'The e-mail or the password is wrong. If several organisations use this e-mail, enter the organisation id',
    ]);
    expect(await textAfter({ method: 'sso', email: 'ada@nowhere.example' })).toEqual([
      401,
      'no single sign-on for this e-mail. Send a password, or Organisation id',
    ]);
  });

  it('the account page leads to the sign-in without a session', async () => {
    const reply = await fetch(`${plane.url}/v1/auth/account`, { redirect: 'manual' });
    expect(reply.headers.get('location')).toBe('sign-in');
  });

  it('the account page of a user without a password has no form that needs one', async () => {
    const connectionId = await newConnection(plane);
    const known = { connectionId, subject: 'sub-grace', email: `grace@${verifiedDomain}`, emailVerified: true };
    const { auth_token: key } = await arrive(plane, known);
    const page = await (await fetch(`${plane.url}/v1/auth/account`, { headers: { cookie: `svc_session=${key}` } })).text();
    expect(page).toContain('You sign in at your identity provider');
    expect(page).not.toContain('type="password"');
    const body = { current_password: 'none', new_password: 'correct horse battery' };
    const reply = await plane.ask('POST', '/auth/password', { key, body });
    expect(reply).toMatchObject({ status: 403, body: { data: { message: expect.stringContaining('has no password') } } });
  });

  it('the page of an invitation leads to the sign-in, where single sign-on accepts it', async () => {
    const { body } = await plane.ask('POST', '/admin/users/invites', { body: { email: 'guest@example.com', role: 'member' } });
    const page = await (await post('link', { link: body.invite_link }, { 'sec-fetch-site': 'same-origin' })).text();
    expect(page).toMatch(/single sign-on, <a href="sign-in">sign in there<\/a>/);
  });

  /** Registers an MCP client with this name. Returns the address that asks for access to an MCP server. */
  async function consentAddress(clientName: string): Promise<string> {
    const redirect_uri = 'https://client.example.com/callback?from="><b>';
    const sent = { client_name: clientName, redirect_uris: [encodeURI(redirect_uri)] };
    const { body } = await plane.ask('POST', '/oauth/register', { key: null, body: sent });
    expect(body.client_id, JSON.stringify(body)).toBeTypeOf('string');
    const query = new URLSearchParams({
      ...{ client_id: body.client_id, redirect_uri: encodeURI(redirect_uri), response_type: 'code', state: 'xyz' },
      ...{ code_challenge: 'A'.repeat(43), code_challenge_method: 'S256', resource: `${origin}/ws-default/issues/mcp` },
    });
    return `/oauth/authorize?${query}`;
  }

  async function newServer(): Promise<void> {
    const integration = { name: 'Issues', slug: 'issues', url: 'https://mcp.example.com/mcp', transport: 'http' };
    const fields = { ...integration, auth_type: 'none', workspace_id: plane.workspaceId };
    const { body } = await plane.ask('POST', '/mcp-integrations', { body: fields });
    const server = { name: 'Issues', slug: 'issues', workspace_id: plane.workspaceId, mcp_integration_id: body.id };
    expect((await plane.ask('POST', '/mcp-servers', { body: server })).status).toBe(200);
  }

  it('the consent page shows names of clients as text, and its form is for the session and pages of this service', async () => {
    const [ada, bob] = [await newPerson(plane, 'member', member()), await newPerson(plane, 'member', member())];
    const open = (person: Person, init: RequestInit = {}, path?: string) =>
      fetch(plane.url + path, { ...init, headers: { cookie: `svc_session=${person.token}`, ...init.headers } });
    const address = await consentAddress('<script>x</script>');
    const text = await (await open(ada, {}, address)).text();
    expect(text).toContain('&lt;script&gt;x&lt;/script&gt;');
    expect(text).not.toContain('"><b>');
    const form = Object.fromEntries([...text.matchAll(/name="(\w+)" value="([^"]+)"/g)].map(([, name, value]) => [name, value]));
    const server_id = /<option value="([^"]+)"/.exec(text)?.[1] ?? '';
    const send = async (person: Person, headers: Record<string, string>) => {
      const body = new URLSearchParams({ ...form, server_id, decision: 'allow' });
      const reply = await open(person, { method: 'POST', body, headers }, '/v1/oauth/consent');
      return [reply.status, reply.headers.get('content-type')];
    };
    const html = 'text/html; charset=utf-8';
    expect(await send(ada, { 'sec-fetch-site': 'cross-site' })).toEqual([403, html]);
    expect(await send(ada, { origin: 'null' })).toEqual([403, html]);
    const refused = { action: 'decide', userId: ada.id, responseStatusCode: 403 };
    const em = plane.control.services.database.em();
    await until(async () => (await em.count(auditEntries, refused)) === 2, { what: 'the audit entries' });
    expect(await send(bob, { 'sec-fetch-site': 'same-origin' })).toEqual([400, html]);
    expect(await send(ada, { 'sec-fetch-site': 'same-origin' })).toEqual([200, html]);
  });

  describe.skipIf(browserMissing !== null)(`in Chromium${browserMissing ? ` (${browserMissing})` : ''}`, () => {
    async function opened(context: BrowserContext, person: Person): Promise<Page> {
      const page = await context.newPage();
      await page.goto(`${origin}/v1/auth/sign-in`);
      await page.getByLabel('E-mail').fill(person.email);
      await page.getByLabel('Password').fill(person.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      return page;
    }

    it('an authenticator app is set up and used without JavaScript', async () => {
      const person = await newPerson(plane);
      const context = await browser.newContext({ javaScriptEnabled: false });
      const page = await opened(context, person);
      await page.getByText('Add an authenticator app').click();
      const form = page.locator('form').filter({ has: page.locator('button[value="add-app"]') });
      await form.getByLabel('Password').fill(person.password);
      await form.getByRole('button', { name: 'Add' }).click();
      const secret = (await page.locator('dd code').textContent()) ?? '';
      expect(await page.locator('.code svg').count()).toBe(1);
      const now = Date.now();
      await page.getByLabel('Code of six digits').fill(new TOTP({ secret }).generate({ timestamp: now }));
      await page.getByRole('button', { name: 'Confirm' }).click();
      const codes = ((await page.locator('pre').textContent()) ?? '').split('\n');
      expect(codes).toHaveLength(10);
      await context.clearCookies();
      const again = await opened(context, person);
      expect(await again.title()).toBe('Second factor');
      // The next time step: the code of this one was used.
      await again.getByLabel('Code of six digits').fill(new TOTP({ secret }).generate({ timestamp: now + 30_000 }));
      await again.getByRole('button', { name: 'Continue' }).click();
      expect(await again.getByRole('heading', { level: 1 }).textContent()).toBe('Account security');
      await context.close();
    });

    it('access is allowed and denied without JavaScript, and both lead to the client', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false });
      const page = await opened(context, await newPerson(plane, 'member', member()));
      await context.route('https://client.example.com/**', (route) => route.fulfill({ body: 'the client' }));
      const address = await consentAddress('App');
      for (const [button, expected] of [
        ['Deny', /[?&]error=access_denied&state=xyz/],
        ['Allow', /[?&]code=svc_code_[\w-]+&state=xyz/],
      ] as const) {
        await page.goto(origin + address);
        const arrived = page.waitForURL(/^https:\/\/client\.example\.com\/callback/);
        await page.getByRole('button', { name: button }).click();
        await arrived;
        expect(page.url()).toMatch(expected);
      }
      await context.close();
    });

    it('a security key is set up and used, and every page is accessible', async () => {
      const person = await newPerson(plane, 'member', member());
      const context = await browser.newContext();
      const page = await opened(context, person);
      const cdp = await context.newCDPSession(page);
      await cdp.send('WebAuthn.enable');
      const options = { protocol: 'ctap2', transport: 'usb', automaticPresenceSimulation: true } as const;
      await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
      const found = new Map<string, string[]>();
      const check = async (name: string) => found.set(name, await violations(page));

      await page.getByText('Add a security key').click();
      const form = page.locator('form[data-webauthn="enrol"]');
      await form.getByLabel('Password').fill(person.password);
      await check('account');
      await form.getByRole('button', { name: 'Add' }).click();
      await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
      await check('new codes');
      await page.goto(`${origin}/v1/auth/account`);
      await check('account with a factor');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await check('sign-in');
      await page.getByLabel('E-mail').fill(person.email);
      await page.getByLabel('Password').fill('not this one');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').first().waitFor();
      await check('sign-in with an error');
      await page.getByLabel('Password').fill(person.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Second factor' }).waitFor();
      await check('second factor');
      await page.getByRole('button', { name: 'Use a security key' }).click();
      await page.getByRole('heading', { name: 'Account security' }).waitFor();

      const invite = await plane.ask('POST', '/admin/users/invites', { body: { email: 'invited@example.com', role: 'member' } });
      await page.goto(invite.body.invite_link);
      await page.getByRole('heading', { name: 'Accept the invitation' }).waitFor();
      await check('invite');
      await page.goto(`${origin}/v1/auth/forgot-password`);
      await check('forgot password');
      await page.goto(origin + (await consentAddress('App')));
      await page.getByRole('heading', { name: 'Allow access' }).waitFor();
      await check('consent');
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries([...found.keys()].map((name) => [name, []])));
      await context.close();
    });
  });
});
