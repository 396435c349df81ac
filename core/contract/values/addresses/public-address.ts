import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/**
 * True only for addresses of the public internet: global unicast IPv4 or IPv6 by the IANA special-purpose registries, less the
 * addresses clouds use for their own services. IPv4 inside IPv6 (mapped, NAT64) is judged by the IPv4 address. Text that is not a
 * plain address is not public.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false;
  return isPublic(ipaddr.parse(text));
}

/**
 * True for addresses at which clouds serve credentials, in every form that contains one. No allow-list can open these. All
 * link-local addresses are included, because clouds add new ones there.
 */
export function isMetadataAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text.replace(/%.*$/, ''));
  if (within(address, metadataRanges)) return true;
  const inner = carriedIPv4(address);
  return inner !== null && within(inner, metadataRanges);
}

/** True if the address is in the range. IPv4 mapped into IPv6 counts as IPv4. Both must be valid. */
export function isInRange(text: string, range: Range): boolean {
  const address = ipaddr.process(text.replace(/%.*$/, ''));
  return address.kind() === range[0].kind() && address.match([...range] as [Address, number]);
}

/** Parses `10.0.0.0/8`, `fd00::/8` or a plain address as a range. Null for other text. */
export function safeParseRange(text: string): Range | null {
  const slash = text.indexOf('/');
  const base = slash === -1 ? text : text.slice(0, slash);
  if (isIP(base) === 0 || base.includes('%')) return null;
  const address = ipaddr.process(base);
  const longest = address.kind() === 'ipv4' ? 32 : 128;
  if (slash === -1) return [address, longest];
  const bits = text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > longest) return null;
  return [address, Number(bits)];
}

function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') return !within(address, blockedIPv4);
  if (within(address, carriersOfIPv4)) return isPublic(carriedIPv4(address) as Address);
  return within(address, globalIPv6) && !within(address, blockedIPv6);
}

/** Returns the IPv4 address inside an IPv6 one, in any scheme; null if there is none. */
function carriedIPv4(address: Address): ipaddr.IPv4 | null {
  if (address.kind() === 'ipv4') return null;
  const bytes = address.toByteArray();
  if (within(address, sixToFour)) return new ipaddr.IPv4(bytes.slice(2, 6));
  const tail = bytes.slice(12);
  if (within(address, teredo)) return new ipaddr.IPv4(tail.map((byte) => byte ^ 0xff));
  return within(address, tailCarriers) ? new ipaddr.IPv4(tail) : null;
}

function within(address: Address, list: readonly Range[]): boolean {
  return list.some(([network, bits]) => network.kind() === address.kind() && address.match([network, bits]));
}

function ranges(...texts: string[]): readonly Range[] {
  return texts.map((text) => ipaddr.parseCIDR(text));
}

/** IANA IPv4 special-purpose address registry (RFC 6890 and later), plus one address of a cloud's host. */
const blockedIPv4 = ranges(
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared address space of carriers; 100.100.100.200 is a metadata service
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure host: a public address that only ever means the machine's own host
  '169.254.0.0/16', // link-local, metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; 192.0.0.192 is a metadata service
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
);

/** The one block from which IANA assigns global unicast addresses. All other addresses are not global. */
const globalIPv6 = ranges('2000::/3');

/** Special-purpose ranges inside that block (IANA IPv6 special-purpose address registry). */
const blockedIPv6 = ranges(
  '2001::/23', // protocol assignments, Teredo among them
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
);

/** IPv6 forms of an IPv4 host: mapped (RFC 4291) and NAT64's well-known prefix (RFC 6052). */
const carriersOfIPv4 = ranges('::ffff:0:0/96', '64:ff9b::/96');

const sixToFour = ranges('2002::/16');
const teredo = ranges('2001::/32');

/** All forms with the IPv4 address in the last four bytes: compatible, mapped, SIIT, NAT64 and local-use NAT64 (RFC 8215). */
const tailCarriers = ranges('::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48');

const metadataRanges = ranges(
  '169.254.0.0/16',
  '100.100.100.200/32', // Alibaba Cloud
  '168.63.129.16/32', // Azure
  '192.0.0.192/32', // Oracle Cloud
  'fe80::/10',
  'fd00:ec2::/32', // AWS
  'fd00:42::42/128', // Scaleway
  'fd20:ce::254/128', // Google Cloud
);
