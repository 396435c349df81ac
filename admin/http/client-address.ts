import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import type { Settings } from '../../config/settings.ts';

/** By this header, holding the cluster key, a gateway that forwards an admin request vouches for its `x-forwarded-for`. */
export const vouchHeader = 'svc-internal-cluster-key';

/** Address of the caller: what a gateway of ours vouches for, else the other end of the socket. Anybody can claim the rest. */
export function clientAddress(c: Context, settings: Pick<Settings, 'clusterKeyText'>): string {
  const claimed = c.req.header('x-forwarded-for');
  if (claimed && isIP(claimed) !== 0 && isClusterKey(c.req.header(vouchHeader) ?? '', settings)) return claimed;
  return getConnInfo(c).remote.address ?? 'unknown';
}

/** Compares in constant time. */
export function isClusterKey(given: string, settings: Pick<Settings, 'clusterKeyText'>): boolean {
  return timingSafeEqual(sha256(given), sha256(settings.clusterKeyText));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
