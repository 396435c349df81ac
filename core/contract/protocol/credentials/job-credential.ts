import { createHmac } from 'node:crypto';
import { equalDigests } from '../../values/credentials/equal-digests.ts';

/**
 * Credential with which jobs of the control plane call models for the key that created them: `svc_job_<public id of the
 * key>_<expiry in seconds since the epoch>_<HMAC>`. It allows only what the key itself may still do: the key's document decides.
 */
const pattern = /^svc_job_([0-9A-Za-z]{12})_(\d{1,12})_([A-Za-z0-9_-]{43})$/;

/** Returns a credential for the key of this public id, valid for `ttlSeconds`. `secret` is derived from CLUSTER_KEY. */
export function newJobCredential(secret: Uint8Array, keyId: string, nowMs: number, ttlSeconds: number): string {
  const until = Math.floor(nowMs / 1000) + ttlSeconds;
  return `svc_job_${keyId}_${until}_${digest(secret, keyId, String(until))}`;
}

/** True for a text in the format of a job credential. */
export function isJobCredential(text: string): boolean {
  return text.startsWith('svc_job_');
}

/** Returns the public id of its key; null if the credential is forged or has expired. */
export function readJobCredential(secret: Uint8Array, text: string, nowMs: number): string | null {
  const match = pattern.exec(text);
  if (!match) return null;
  const [, keyId, until, given] = match as unknown as [string, string, string, string];
  if (!equalDigests(digest(secret, keyId, until), given)) return null;
  return Number(until) * 1000 > nowMs ? keyId : null;
}

function digest(secret: Uint8Array, keyId: string, until: string): string {
  return createHmac('sha256', secret).update(`${keyId}_${until}`).digest('base64url');
}
