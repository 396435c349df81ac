import { createHash, randomBytes } from 'node:crypto';
import type { OwnSecretPrefix } from '../../core/contract/values/credentials/own-secret.ts';
import { isObject } from '../../core/contract/values/json/json.ts';

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

/** Returns the text in this field of an unchecked body; null if there is none. */
export function secretIn(sent: unknown, field: string): string | null {
  const value = isObject(sent) ? sent[field] : null;
  return typeof value === 'string' ? value : null;
}
