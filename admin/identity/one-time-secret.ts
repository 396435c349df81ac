import { createHash, randomBytes } from 'node:crypto';
import type { OwnSecretPrefix } from '../../core/contract/values/credentials/own-secret.ts';

/** Returns 256 random bits as text that is safe in a URL and a cookie, after a prefix for its kind. Ids of clients are public. */
export function newSecret(prefix: OwnSecretPrefix | 'svc_client_' | ''): string {
  return prefix + randomBytes(32).toString('base64url');
}

/**
 * Hash under which a secret made by `newSecret` is stored. Plain SHA-256 is enough: 256 random bits cannot be guessed, and a
 * look-up by hash reveals nothing about other hashes.
 */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
