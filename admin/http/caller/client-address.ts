import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import type { Settings } from '../../../config/settings.ts';
import {
  type ClientOrigin,
  countryHeader,
  countryOf,
  originOf,
  type ProxyRules,
  vouchHeader,
} from '../../../core/contract/values/addresses/client-origin.ts';
import { equalSecrets } from '../../../core/contract/values/credentials/equal-digests.ts';

interface Believing {
  readonly settings: Pick<Settings, 'clusterKeyText'>;
  /** Proxies in front of the control plane itself. Null: none. */
  readonly proxies: ProxyRules | null;
}

/**
 * Returns the origin of a request: as sent by a gateway of this cluster, else by a trusted proxy, else the peer address of the
 * socket. Headers from other senders are ignored because any client can set them.
 */
export function clientOrigin(c: Context, { settings, proxies }: Believing): ClientOrigin {
  const claimed = c.req.header('x-forwarded-for');
  if (claimed && isIP(claimed) !== 0 && isClusterKey(c.req.header(vouchHeader) ?? '', settings)) {
    return { address: claimed, country: countryOf(c.req.header(countryHeader)) };
  }
  const peer = getConnInfo(c).remote.address ?? 'unknown';
  return proxies ? originOf(proxies, peer, (name) => c.req.header(name)) : { address: peer, country: null };
}

/** Compares in constant time. */
export function isClusterKey(given: string, settings: Pick<Settings, 'clusterKeyText'>): boolean {
  return equalSecrets(given, settings.clusterKeyText);
}
