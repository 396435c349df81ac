import { createHash, timingSafeEqual } from 'node:crypto';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import type { Settings } from '../../config/settings.ts';

/** Headers by which a gateway that forwards an admin request says whose it is. Believed only with the cluster key. */
export const forwardHeaders = { clusterKey: 'svc-internal-cluster-key', clientAddress: 'svc-internal-client-address' } as const;

/** Address of the caller: what a gateway of ours vouches for, else the other end of the socket. */
export function clientAddress(c: Context, settings: Pick<Settings, 'clusterKeyText'>): string {
  const vouched = c.req.header(forwardHeaders.clientAddress);
  if (vouched && isClusterKey(c.req.header(forwardHeaders.clusterKey) ?? '', settings)) return vouched.slice(0, 64);
  return getConnInfo(c).remote.address ?? 'unknown';
}

/** Compares in constant time. */
export function isClusterKey(given: string, settings: Pick<Settings, 'clusterKeyText'>): boolean {
  return timingSafeEqual(sha256(given), sha256(settings.clusterKeyText));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
