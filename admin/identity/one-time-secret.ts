import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits as text that is safe in a URL and a cookie, after a prefix that says what it is. */
export function newSecret(prefix: string): string {
  return prefix + randomBytes(32).toString('base64url');
}

/**
 * What the store keeps of a secret made by `newSecret`. A plain SHA-256: with 256 random bits there is nothing to guess, and a
 * look-up by hash tells nothing about other hashes.
 */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
