import { createHmac, randomBytes } from 'node:crypto';

/** The secret's prefix in the specification "Standard Webhooks". The rest is base64. */
const prefix = 'whsec_';

export function newSigningSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

/**
 * Returns the headers that sign a delivery as the specification "Standard Webhooks" describes: an HMAC-SHA256 over id, time and body. The
 * time protects against replays, and the id stays the same when a delivery is repeated.
 */
export function signatureHeaders(secret: string, id: string, nowMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
