import type { Settings } from '../config/settings.ts';
import { egressProxyOf } from '../core/contract/values/addresses/egress-proxy.ts';
import { parseTrustedHosts } from '../core/contract/values/addresses/outbound-url.ts';
import { messageOf } from '../core/contract/values/errors/message-of.ts';

type OutboundSettings = Pick<Settings, 'httpsProxy' | 'noProxy' | 'trustedCustomHosts' | 'controlPlaneUrl'>;

export type OutboundFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Milliseconds for the reply of the proxy to a CONNECT. */
const tunnelMs = 10_000;

/** Returns the reason of a failed call. The TypeError of `fetch` has it in its cause, and always the same message. */
export function fetchReasonOf(error: unknown): string {
  if (!(error instanceof TypeError) || !(error.cause instanceof Error)) return messageOf(error);
  const { code } = error.cause as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.cause.message;
}

/** Returns a `fetch` for addresses that the operator chose, which uses HTTPS_PROXY. Addresses of tenants are called by gateways. */
export function createOutboundFetch(settings: OutboundSettings): OutboundFetch {
  const proxy = egressProxyOf({ ...settings, trusted: parseTrustedHosts(settings.trustedCustomHosts) });
  if (proxy === null) return fetch;
  // The whole library is only loaded by services with a proxy. Its agent works with its own `fetch` alone.
  const loaded = import('undici').then((undici) => {
    const token = proxy.authorization === null ? {} : { token: proxy.authorization };
    // Calls share a tunnel that is being opened, and do not end it at their own time limit. By default it could take 5 minutes.
    const clientFactory = (origin: URL, options: object) => new undici.Pool(origin, { ...options, headersTimeout: tunnelMs });
    return { fetch: undici.fetch, dispatcher: new undici.ProxyAgent({ uri: proxy.origin, ...token, clientFactory }) };
  });
  return async (url, init) => {
    if (!proxy.covers(new URL(url).origin)) return fetch(url, init);
    const { fetch: fetchThrough, dispatcher } = await loaded;
    return (await fetchThrough(url, { ...init, dispatcher } as never)) as unknown as Response;
  };
}
