import type { Settings } from '../config/settings.ts';
import { egressProxyOf } from '../core/contract/values/addresses/egress-proxy.ts';
import { parseTrustedHosts } from '../core/contract/values/addresses/outbound-url.ts';

export type OutboundSettings = Pick<Settings, 'httpsProxy' | 'noProxy' | 'trustedCustomHosts' | 'controlPlaneUrl'>;

export type OutboundFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Returns a `fetch` for addresses that the operator chose, which uses HTTPS_PROXY. Addresses of tenants are called by gateways. */
export function createOutboundFetch(settings: OutboundSettings): OutboundFetch {
  const proxy = egressProxyOf({ ...settings, trusted: parseTrustedHosts(settings.trustedCustomHosts) });
  if (proxy === null) return fetch;
  // The whole library is only loaded by services with a proxy. Its agent works with its own `fetch` alone.
  const loaded = import('undici').then((undici) => {
    const token = proxy.authorization === null ? {} : { token: proxy.authorization };
    return { fetch: undici.fetch, dispatcher: new undici.ProxyAgent({ uri: proxy.origin, ...token }) };
  });
  return async (url, init) => {
    if (!proxy.covers(new URL(url).origin)) return fetch(url, init);
    const { fetch: fetchThrough, dispatcher } = await loaded;
    return (await fetchThrough(url, { ...init, dispatcher } as never)) as unknown as Response;
  };
}
