import { createHash, timingSafeEqual } from 'node:crypto';

/** Returns true if an `authorization` header may read the metrics: always without METRICS_TOKEN, else only with that bearer. */
export function mayReadMetrics(token: string | null, authorization: string | undefined): boolean {
  if (token === null) return true;
  return timingSafeEqual(digest(`Bearer ${token}`), digest(authorization ?? ''));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
