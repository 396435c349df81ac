import { isIP } from 'node:net';
import { isMetadataAddress, isPublicAddress } from './public-address.ts';
import { withoutTrailingSlashes } from './trailing-slashes.ts';
import { isMetadataName, isTrustedAddress, isTrustedName, isTrustedPort, type TrustedHosts } from './trusted-hosts.ts';

export { isMetadataAddress, isPublicAddress } from './public-address.ts';
export { parseTrustedHosts, type TrustedHosts } from './trusted-hosts.ts';

export interface OutboundPolicy {
  readonly trusted: TrustedHosts;
  /** Base URLs have no query. URLs that are called unchanged may have one. */
  readonly allowQuery?: boolean;
}

interface OutboundUrl {
  /** Canonical: `https://api.example.com`, `http://[2606:4700::1111]:8080`; no default port. */
  readonly origin: string;
  readonly protocol: 'http:' | 'https:';
  /** Lower-case ASCII name, or the plain address (IPv6 without brackets). */
  readonly hostname: string;
  readonly port: number;
  /** Path as given, without trailing slashes; empty for none. */
  readonly basePath: string;
  /** With its `?`; empty for none. */
  readonly query: string;
}

export type OutboundUrlCheck = { readonly ok: true; readonly url: OutboundUrl } | { readonly ok: false; readonly reason: string };

/**
 * Checks a URL from a user by its text alone, without a DNS lookup. A URL rejected here can never be called. An accepted one is
 * still checked by address when the socket opens. `reason` states the issue for the user who saved the URL.
 */
export function checkOutboundUrl(text: string, policy: OutboundPolicy): OutboundUrlCheck {
  if (typeof text !== 'string' || text === '') return refused('must be a URL');
  if (text.length > urlLengthMax) return refused(`must not be longer than ${urlLengthMax} characters`);
  if (/[\u0000-\u0020\u007f-\u00a0\\]/.test(text)) return refused('must not contain spaces, control characters or backslashes');
  if (text.includes('#')) return refused('must not have a fragment');
  const parts = /^(https?):\/\/([^/?]*)([^?]*)(\?.*)?$/i.exec(text);
  if (!parts) return refused('must begin with http:// or https://');
  const [, scheme, authority, path, query = ''] = parts as unknown as [string, string, string, string, string | undefined];
  if (/[^\u0021-\u007e]/.test(path + query)) return refused('must have non-ASCII characters of its path percent-encoded');
  if (query !== '' && !policy.allowQuery) return refused('must not have a query');
  if (authority.includes('@')) return refused('must not contain a user name or password');
  if (authority.includes('%')) return refused('must not have % in its host');
  const split = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::([0-9]{1,5}))?$/i.exec(authority);
  if (!split) return refused('must have a host and, if any, a port of digits');
  const [, spelled, portText] = split as unknown as [string, string, string | undefined];
  const protocol = scheme.toLowerCase() === 'https' ? 'https:' : 'http:';
  const port = portText === undefined ? (protocol === 'https:' ? 443 : 80) : Number(portText);
  if (portText !== undefined && String(port) !== portText) return refused('must have a port without leading zeros');
  const hostname = canonicalHost(spelled);
  if (hostname === null) return refused('must have a plain host name or IP address');
  const reason = checkHost(hostname, port, policy.trusted);
  if (reason !== null) return refused(reason);
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  const origin = `${protocol}//${host}${port === (protocol === 'https:' ? 443 : 80) ? '' : `:${port}`}`;
  return { ok: true, url: { origin, protocol, hostname, port, basePath: withoutTrailingSlashes(path), query } };
}

/** Checks a canonical host name or literal and its port. Returns the reason for rejecting it, or null. */
export function checkHost(hostname: string, port: number, trusted: TrustedHosts): string | null {
  if (!isOpenPort(port) && !isTrustedPort(trusted, hostname, port)) return `must not use port ${port}`;
  if (isIP(hostname) !== 0) return checkAddress(hostname, hostname, port, trusted);
  if (isMetadataName(hostname)) return 'must not be a metadata service';
  if (isTrustedName(trusted, hostname, port)) return null;
  const labels = hostname.split('.');
  if (labels.length < 2 || labels.length > labelsMax)
    return labels.length < 2 ? internalHost : `must have a host name of at most ${labelsMax} labels`;
  if (hostname.length > 253 || !labels.every((label) => labelPattern.test(label)))
    return 'must have a plain host name or IP address';
  if (blockedNames.has(hostname)) return internalHost;
  return blockedSuffixes.has(labels.at(-1) as string) ? internalHost : null;
}

const privateAddress = 'must be a public address. The operator can allow a private one in TRUSTED_CUSTOM_HOSTS';
const internalHost = 'must not be an internal host. The operator can allow one in TRUSTED_CUSTOM_HOSTS';

/**
 * Checks the address that `hostname` was resolved to. Returns the reason for rejecting it, or null. Called for every result of a
 * look-up and again for the peer of the open socket.
 */
export function checkAddress(address: string, hostname: string, port: number, trusted: TrustedHosts): string | null {
  if (isMetadataAddress(address)) return 'must not be a metadata service';
  if (isPublicAddress(address)) return null;
  if (isTrustedName(trusted, hostname, port) || isTrustedAddress(trusted, address, port)) return null;
  return privateAddress;
}

/**
 * Returns the host in its canonical spelling. Null if the given spelling hides the host: numbers that turn into addresses,
 * look-alike characters that turn into ASCII.
 */
function canonicalHost(spelled: string): string | null {
  let canonical: string;
  try {
    canonical = new URL(`http://${spelled}/`).hostname;
  } catch {
    return null;
  }
  if (canonical.startsWith('[')) return canonical.slice(1, -1);
  const lower = spelled.toLowerCase();
  const ascii = /^[\u0021-\u007e]*$/.test(spelled);
  if (ascii && canonical !== lower) return null;
  // A name with non-ASCII letters has a punycode form. Without one, the letters were look-alikes of ASCII (full-width digits,
  // circled letters).
  if (!ascii && !canonical.split('.').some((label) => label.startsWith('xn--'))) return null;
  return canonical;
}

function isOpenPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && port <= 65535 && !blockedPorts.has(port));
}

function refused(reason: string): OutboundUrlCheck {
  return { ok: false, reason };
}

const urlLengthMax = 2048;
const labelsMax = 10;
const labelPattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Names of the machine itself, its container host or its cluster, for any resolver. */
const blockedNames: ReadonlySet<string> = new Set([
  'localhost.localdomain',
  'host.docker.internal',
  'gateway.docker.internal',
  'kubernetes.default',
  'kubernetes.default.svc',
]);

/** Last label of names that are not public: special-use domains (RFC 6761 registry) and common private suffixes. */
const blockedSuffixes: ReadonlySet<string> = new Set([
  'alt',
  'arpa',
  'cluster',
  'consul',
  'corp',
  'domain',
  'home',
  'internal',
  'intra',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'mail',
  'onion',
  'private',
  'svc',
  'test',
  'workgroup',
]);

/** Ports from 1024 on at which databases, queues, orchestration and mail listen. Below 1024 only 80 and 443 are open. */
const blockedPorts: ReadonlySet<number> = new Set([
  1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 3268, 3269, 3306, 3389, 3659, 4045, 4190,
  4222, 4369, 5060, 5061, 5432, 5433, 5671, 5672, 5900, 5901, 5984, 5985, 5986, 6000, 6222, 6379, 6380, 6432, 6443, 6566, 6665,
  6666, 6667, 6668, 6669, 6679, 6697, 7001, 7199, 7473, 7474, 7687, 8222, 8300, 8301, 8302, 8500, 8501, 8600, 9042, 9092, 9093,
  9160, 9200, 9300, 10080, 10250, 10255, 10256, 11211, 15672, 16379, 26379, 27017, 27018, 27019, 28017, 33060, 61613, 61616,
]);
