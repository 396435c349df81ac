import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * By this the control plane's jobs call models for the key that asked for them: `svc_job_<public id of the key>_<seconds since the
 * epoch until which it is good>_<HMAC>`. It opens nothing but what the key itself may still do: its document decides, as always.
 */
const pattern = /^svc_job_([0-9A-Za-z]{12})_(\d{1,12})_([A-Za-z0-9_-]{43})$/;

/** A credential for the key of this public id, good for `ttlSeconds`. `secret` is derived from CLUSTER_KEY. */
export function newJobCredential(secret: Uint8Array, keyId: string, nowMs: number, ttlSeconds: number): string {
  const until = Math.floor(nowMs / 1000) + ttlSeconds;
  return `svc_job_${keyId}_${until}_${digest(secret, keyId, String(until))}`;
}

/** True for what has the form of one. */
export function isJobCredential(text: string): boolean {
  return text.startsWith('svc_job_');
}

/** The public id of the key it stands for, null where it is false or its time is over. */
export function readJobCredential(secret: Uint8Array, text: string, nowMs: number): string | null {
  const match = pattern.exec(text);
  if (!match) return null;
  const [, keyId, until, given] = match as unknown as [string, string, string, string];
  const right = Buffer.from(digest(secret, keyId, until));
  const sent = Buffer.from(given);
  if (right.length !== sent.length || !timingSafeEqual(right, sent)) return null;
  return Number(until) * 1000 > nowMs ? keyId : null;
}

function digest(secret: Uint8Array, keyId: string, until: string): string {
  return createHmac('sha256', secret).update(`${keyId}_${until}`).digest('base64url');
}
