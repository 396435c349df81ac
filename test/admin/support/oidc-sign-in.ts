import type { FakeOidcProvider } from '../../support/fakes/fake-oidc-provider.ts';
import type { Plane, Reply } from './plane.ts';

/** A browser that signs in at a control plane under test: it keeps the cookie of its attempts. */
export interface Browser {
  /** Begins a sign-in and returns the address of the provider. */
  begin(body: object, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** Opens an address of the service, such as that of the callback. */
  open(address: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** Signs a user in from the first request to the session. */
  signIn(provider: FakeOidcProvider, user: Record<string, unknown>, body?: object): Promise<Reply>;
}

export function newBrowser(plane: Plane): Browser {
  let cookie = '';
  const browser: Browser = {
    async begin(body, headers = {}) {
      const reply = await plane.ask('POST', '/auth/login', { key: null, body, headers: { cookie, ...headers } });
      if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
      cookie = (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      return reply.body.url;
    },
    open(address, headers = {}) {
      const { pathname, search } = new URL(address);
      const sent = cookie === '' ? headers : { cookie, ...headers };
      return plane.ask('GET', pathname.replace(/^\/v[12]/, '') + search, { key: null, headers: sent });
    },
    async signIn(provider, user, body = { email: user.email }) {
      return browser.open(provider.authorize(await browser.begin(body), user));
    },
  };
  return browser;
}

/** Claims of a user of `example.com` whose e-mail the provider has verified. */
export function claimsOf(name: string) {
  return { sub: `sub-${name}`, email: `${name}@example.com`, email_verified: true };
}
