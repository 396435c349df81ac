import { hash, timingSafeEqual } from 'node:crypto';

/** Compares two digests, as text, in a time that does not depend on where they differ. */
export function equalDigests(left: string, right: string): boolean {
  const a = Buffer.from(left, 'latin1');
  const b = Buffer.from(right, 'latin1');
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Compares two texts in a time that does not depend on where they differ, or on their lengths. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'));
}
