import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../support/until.ts';
import { newBrowser } from '../support/oidc-sign-in.ts';
import type { Plane } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { addVerifiedDomain } from '../support/sign-in.ts';
import { ruleDatabases } from '../support/test-database.ts';

const secret = 'the secret of the client, long enough';
let server: Server;
let issuer: string;
let plane: Plane;
let serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;

beforeAll(async () => {
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  plane = await startPlaneWithGateway(ruleDatabases[0] ?? 'PGlite', { TRUSTED_CUSTOM_HOSTS: new URL(issuer).host });
  await addVerifiedDomain(plane, 'example.com');
});
afterAll(async () => {
  await plane?.close();
  server?.close();
});

/** Follows redirects with cookies until the address begins with `end`. Returns that address, or the last page. */
async function follow(start: string, end: string, cookies: Map<string, string>, init: RequestInit = {}) {
  let address = start;
  let request = init;
  for (let count = 0; count < 10; count++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await fetch(address, { ...request, headers: { ...request.headers, cookie }, redirect: 'manual' });
    for (const one of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      cookies.set(name, value);
    }
    const location = reply.headers.get('location');
    if (location === null) return { address, text: await reply.text() };
    address = new URL(location, address).href;
    if (address.startsWith(end)) return { address, text: '' };
    request = {};
  }
  throw new Error(`too many redirects to ${address}`);
}

it('signs in with oidc-provider, applies groups, and ends sessions by its logout notice', async () => {
  const group_rules = [{ group: 'ml', role: 'admin' }];
  const oidc = { issuer, client_id: 'gateway', client_secret: secret, scopes: ['openid', 'email', 'profile', 'groups'] };
  const made = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Main', type: 'oidc', oidc, group_rules } });
  const { redirect_uri, post_logout_redirect_uri, backchannel_logout_uri } = (
    await plane.ask('GET', `/admin/sso-connections/${made.body.id}`)
  ).body.oidc;
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: 'gateway', client_secret: secret, redirect_uris: [redirect_uri], grant_types: ['authorization_code'] },
        response_types: ['code'],
        post_logout_redirect_uris: [post_logout_redirect_uri],
        backchannel_logout_uri: backchannel_logout_uri.replace(plane.settings.publicUrl, plane.url),
        backchannel_logout_session_required: true,
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: `${id}@example.com`, email_verified: true, given_name: 'Ada', groups: ['ml'] }),
    }),
    interactions: { url: () => '/interaction' },
    cookies: { keys: ['a key of this test'] },
    pkce: { required: () => true },
    // Its own fetch refuses addresses of this machine.
    fetch: (url: string, init: RequestInit) => fetch(url, { ...init, dispatcher: undefined } as RequestInit),
  });
  const pages = provider.callback();
  serve = async (request, response) => {
    if (request.url !== '/interaction') return pages(request, response);
    const { params } = await provider.interactionDetails(request, response);
    const grant = new provider.Grant({ accountId: 'ada', clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    const result = { login: { accountId: 'ada' }, consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  };

  const browser = newBrowser(plane);
  const cookies = new Map<string, string>();
  const back = await follow(await browser.begin({ email: 'ada@example.com' }), redirect_uri, cookies);
  const session = await browser.open(back.address);
  expect(session.body.user, JSON.stringify(session.body)).toMatchObject({
    email: 'ada@example.com',
    role: 'admin',
    first_name: 'Ada',
  });
  const again = newBrowser(plane);
  const second = await again.open((await follow(await again.begin({ email: 'ada@example.com' }), redirect_uri, cookies)).address);
  expect(second.body.user.id).toBe(session.body.user.id);

  const { body } = await plane.ask('POST', '/auth/logout', { key: session.body.auth_token, body: {} });
  const form = await follow(body.logout_url, post_logout_redirect_uri, cookies);
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form.text) ?? [];
  const sent = { method: 'POST', body: new URLSearchParams({ xsrf, logout: 'yes' }) };
  const [, action = ''] = /action="([^"]+)"/.exec(form.text) ?? [];
  const end = await follow(new URL(action, issuer).href, post_logout_redirect_uri, cookies, sent);
  expect(end.address).toMatch(/\/auth\/signed-out/);
  // The provider notifies us in the background.
  await until(async () => (await plane.ask('GET', '/auth/self', { key: second.body.auth_token })).status === 401);
});
