import type { Settings } from '../../../config/settings.ts';
import { checkOutboundUrl, parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import { invalid } from '../errors.ts';

type Policy = Pick<Settings, 'trustedCustomHosts'>;

/** Throws AB01 if no gateway would call this URL: private addresses, metadata services, closed ports. `path` starts the message. */
export function checkHost(settings: Policy, url: string, path: string, allowQuery = false): void {
  const check = checkOutboundUrl(url, { trusted: parseTrustedHosts(settings.trustedCustomHosts), allowQuery });
  if (!check.ok) throw invalid(`${path}: ${check.reason}`);
}

/** Returns the origin of a URL; null if there is none. Other text is returned unchanged. */
export function originOf(url: unknown): string | null {
  return typeof url === 'string' ? (URL.parse(url)?.origin ?? url) : null;
}
