import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { isInRange, safeParseRange } from './public-address.ts';

/** Origin of a request, as far as it comes from a trusted source. */
export interface ClientOrigin {
  /** An address as text. */
  readonly address: string;
  /** ISO 3166 code of two capitals; null if no trusted proxy sets it. */
  readonly country: string | null;
}

/** Origin of a request, and how its connection was made. */
export interface ConnectionOrigin extends ClientOrigin {
  /** True if the connection comes from a trusted proxy. */
  readonly isProxied: boolean;
}

/** Header with the cluster key. With it, the control plane trusts the origin that a gateway reports for a forwarded request. */
export const vouchHeader = 'svc-internal-cluster-key';

/** Header for the country in that case; the address is in `x-forwarded-for`. */
export const countryHeader = 'svc-internal-country';

/** The proxies that are trusted to report the origin of requests. */
export interface ProxyRules {
  readonly ranges: readonly NonNullable<ReturnType<typeof safeParseRange>>[];
  /** Lower-case; null: no proxy sets the country. */
  readonly countryHeader: string | null;
  /** True for addresses in the ranges, of those seen before. Parsing the addresses of each request would take microseconds. */
  readonly known: LRUCache<string, boolean>;
}

/** Prepares the rules; null if no proxy is trusted. Throws for an invalid range, which the settings already reject. */
export function compileProxyRules(settings: {
  readonly trustedProxies: readonly string[];
  readonly countryHeader: string | null;
}): ProxyRules | null {
  if (settings.trustedProxies.length === 0) return null;
  const ranges = settings.trustedProxies.map((text) => {
    const range = safeParseRange(text);
    if (!range) throw new Error(`TRUSTED_PROXIES: ${text} is neither an address nor a CIDR range`);
    return range;
  });
  return { ranges, countryHeader: settings.countryHeader, known: new LRUCache({ max: 1_000 }) };
}

/**
 * Returns the origin of a request whose connection comes from `peer`. An untrusted proxy counts as the client itself, whatever
 * headers it sends. In `x-forwarded-for` the last address that is not a trusted proxy counts, because the client may have written
 * the addresses before it. `header` returns all values of a name, joined with commas.
 */
export function originOf(rules: ProxyRules, peer: string, header: (name: string) => string | undefined): ConnectionOrigin {
  if (!isTrusted(rules, peer)) return { address: peer, country: null, isProxied: false };
  let address = peer;
  for (const hop of (header('x-forwarded-for') ?? '').split(',').reverse()) {
    const named = addressOf(hop.trim());
    if (named === null) break;
    address = named;
    if (!isTrusted(rules, named)) break;
  }
  const country = rules.countryHeader === null ? null : countryOf(header(rules.countryHeader));
  return { address, country, isProxied: true };
}

/** Returns two letters as capitals; null for other values, and for XX, which proxies send for an unknown country. */
export function countryOf(text: string | undefined): string | null {
  if (text === undefined || !/^[A-Za-z]{2}$/.test(text)) return null;
  const code = text.toUpperCase();
  return code === 'XX' ? null : code;
}

/** True if this text is the address of a trusted proxy. */
function isTrusted({ known, ranges }: ProxyRules, address: string): boolean {
  const seen = known.get(address);
  if (seen !== undefined) return seen;
  if (isIP(address) === 0) return false;
  const isInside = ranges.some((range) => isInRange(address, range));
  known.set(address, isInside);
  return isInside;
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function addressOf(hop: string): string | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? (/^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop);
  return isIP(bare) === 0 ? null : bare;
}
