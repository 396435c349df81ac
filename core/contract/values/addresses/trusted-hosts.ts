import { isIP } from 'node:net';
import { isInRange, isMetadataAddress, safeParseRange } from './public-address.ts';

/** Hosts that a deployment exempts from the block on private addresses. A tenant can never extend this list. */
export type TrustedHosts = readonly TrustedEntry[];

interface TrustedEntry {
  /** Lower-case name. Null if the entry is a range. */
  readonly name: string | null;
  /** True for `*.name`: every name below it, not the name itself. */
  readonly below: boolean;
  readonly range: ReturnType<typeof safeParseRange>;
  /** Null: every port that is open to public targets. */
  readonly port: number | null;
}

/**
 * Parses the entries of TRUSTED_CUSTOM_HOSTS: `host`, `host:port`, `*.host`, an address, a CIDR range, each with an optional port
 * (`10.1.0.0/16:8000`, `[::1]:11434`, `[fd00::/8]:8000`). Throws an Error that names every malformed entry and every metadata
 * service, because metadata services can never be trusted.
 */
export function parseTrustedHosts(list: readonly string[]): TrustedHosts {
  const issues: string[] = [];
  const entries: TrustedEntry[] = [];
  for (const text of list) {
    const entry = safeParseEntry(text.trim().toLowerCase());
    if (typeof entry === 'string') issues.push(`"${text}" ${entry}`);
    else entries.push(entry);
  }
  if (issues.length > 0) throw new Error(`TRUSTED_CUSTOM_HOSTS: ${issues.join('; ')}`);
  return entries;
}

/** True if the name or literal itself is listed for this port. */
export function isTrustedName(trusted: TrustedHosts, hostname: string, port: number): boolean {
  return trusted.some((entry) => entry.name !== null && portFits(entry, port) && nameFits(entry, hostname));
}

/** True if the address is in a listed range for this port. Always false for metadata addresses. */
export function isTrustedAddress(trusted: TrustedHosts, address: string, port: number): boolean {
  if (isIP(address) === 0 || isMetadataAddress(address)) return false;
  return trusted.some((entry) => entry.range !== null && portFits(entry, port) && isInRange(address, entry.range));
}

/** True if the host of an origin is listed by its own name or address. The address its name resolves to does not count. */
export function isTrustedOrigin(trusted: TrustedHosts, origin: string): boolean {
  const url = URL.parse(origin);
  if (url === null) return false;
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (url.protocol === 'http:' ? 80 : 443));
  return isTrustedName(trusted, hostname, port) || isTrustedAddress(trusted, hostname, port);
}

/** True if an entry for this host names this port, which opens it even if it is closed by default. */
export function isTrustedPort(trusted: TrustedHosts, hostname: string, port: number): boolean {
  const spelled = trusted.filter((entry) => entry.port === port);
  return isTrustedName(spelled, hostname, port) || isTrustedAddress(spelled, hostname, port);
}

/** Names of metadata services. Like their addresses they can be neither called nor trusted. */
export function isMetadataName(hostname: string): boolean {
  return metadataNames.has(hostname);
}

function portFits(entry: TrustedEntry, port: number): boolean {
  return entry.port === null || entry.port === port;
}

function nameFits(entry: TrustedEntry, hostname: string): boolean {
  return entry.below ? hostname.endsWith(`.${entry.name}`) : hostname === entry.name;
}

/** Returns the entry, or the reason why it is invalid. */
function safeParseEntry(text: string): TrustedEntry | string {
  const { host, port } = splitPort(text);
  if (port !== null && (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65535)) return 'has a port that is not 1 to 65535';
  const portNumber = port === null ? null : Number(port);
  const range = safeParseRange(host);
  if (range) {
    if (isMetadataAddress(host.replace(/\/.*/, ''))) return 'is a metadata address, which cannot be trusted';
    return { name: null, below: false, range, port: portNumber };
  }
  const below = host.startsWith('*.');
  const name = below ? host.slice(2) : host;
  if (!/^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(name) || /(^|\.)\d+$/.test(name)) {
    return 'is neither a host, an address nor a CIDR range';
  }
  if (isMetadataName(name)) return 'is a metadata service, which cannot be trusted';
  return { name, below, range: null, port: portNumber };
}

function splitPort(text: string): { host: string; port: string | null } {
  const bracketed = /^\[([^\]]*)\](\/\d+)?(?::(.*))?$/.exec(text);
  if (bracketed) return { host: (bracketed[1] as string) + (bracketed[2] ?? ''), port: bracketed[3] ?? null };
  const colon = text.lastIndexOf(':');
  // More than one colon without brackets means an IPv6 address. Its last group is not a port.
  if (colon === -1 || text.indexOf(':') !== colon) return { host: text, port: null };
  return { host: text.slice(0, colon), port: text.slice(colon + 1) };
}

const metadataNames: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.com',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'instance-data',
  'instance-data.ec2.internal',
]);
