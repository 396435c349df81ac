import { isIP } from 'node:net';
import { basicCredentials } from '../credentials/basic-credentials.ts';
import { isInRange, safeParseRange } from './public-address.ts';
import { isTrustedOrigin, type TrustedHosts } from './trusted-hosts.ts';

/** The HTTP proxy through which a deployment reaches hosts outside its network. */
export interface EgressProxy {
  /** `http://proxy.example.com:3128`. */
  readonly origin: string;
  /** Value of `proxy-authorization`. Null: the proxy asks for none. */
  readonly authorization: string | null;
  /** True if calls to this origin go through the proxy. */
  covers(origin: string): boolean;
}

export interface EgressSettings {
  /** HTTPS_PROXY. Null: every host is called directly. */
  readonly httpsProxy: string | null;
  /** NO_PROXY. */
  readonly noProxy: readonly string[];
  /** Hosts inside the network of the deployment. */
  readonly trusted: TrustedHosts;
  readonly controlPlaneUrl: string;
}

/**
 * Returns the proxy for calls to `https` addresses. Called directly are hosts of NO_PROXY and TRUSTED_CUSTOM_HOSTS, the control plane and this
 * machine.
 */
export function egressProxyOf({ httpsProxy, noProxy, trusted, controlPlaneUrl }: EgressSettings): EgressProxy | null {
  if (httpsProxy === null) return null;
  const proxy = new URL(httpsProxy);
  const exceptions = noProxy.map(parseException);
  const controlPlane = new URL(controlPlaneUrl).origin;
  return {
    origin: proxy.origin,
    authorization: authorizationOf(proxy),
    covers(origin) {
      const { protocol, hostname, port } = new URL(origin);
      if (protocol !== 'https:' || origin === controlPlane || isTrustedOrigin(trusted, origin)) return false;
      // A name may end with the dot of the root.
      const host = hostname.replace(/^\[|\]$|\.$/g, '');
      return !isOwnMachine(host) && !exceptions.some((fits) => fits(host, port === '' ? '443' : port));
    },
  };
}

type Exception = (hostname: string, port: string) => boolean;

/**
 * The forms that other programs read: `*`, an address, a CIDR range, and a name, which stands for the names below it too. `.example.com` and
 * `*.example.com` stand for the names below alone. Names and addresses may have a port.
 */
function parseException(text: string): Exception {
  if (text === '*') return () => true;
  const whole = safeParseRange(text);
  const parts = /^(?:\[([^\]]*)\]|(.*?))(?::(\d+))?$/.exec(text.toLowerCase());
  const host = parts?.[1] ?? parts?.[2] ?? '';
  const port = whole ? null : (parts?.[3] ?? null);
  const range = whole ?? safeParseRange(host);
  const name = host.replace(/^\*?\./, '');
  const isOfHost: (hostname: string) => boolean = range
    ? (hostname) => isIP(hostname) !== 0 && isInRange(hostname, range)
    : (hostname) => hostname.endsWith(`.${name}`) || (name === host && hostname === name);
  return (hostname, target) => (port === null || port === target) && isOfHost(hostname);
}

function isOwnMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function authorizationOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  return basicCredentials(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
}
