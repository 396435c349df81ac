import { BlockList, isIP } from 'node:net';

/** Description of the URLs that `isIdentityUrl` accepts. */
export const identityUrlExpected =
  'an http URL without user, query and fragment, of localhost or a loopback, link-local or private address';

const near = new BlockList();
for (const [address, bits] of [
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  near.addSubnet(address, bits, 'ipv4');
}
near.addAddress('::1', 'ipv6');
near.addSubnet('fe80::', 10, 'ipv6');
near.addSubnet('fc00::', 7, 'ipv6');

/**
 * True for the URL of an endpoint on this machine or in its own network. The request and the token are not encrypted, so they must not leave it.
 */
export function isIdentityUrl(given: string): boolean {
  const url = URL.parse(given);
  if (url === null || url.protocol !== 'http:' || url.username !== '' || url.password !== '' || /[?#]/.test(given)) return false;
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const version = isIP(hostname);
  return version === 0 ? hostname === 'localhost' : near.check(hostname, version === 4 ? 'ipv4' : 'ipv6');
}
