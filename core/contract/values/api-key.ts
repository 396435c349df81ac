import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Secret } from './secret.ts';

/**
 * Key format `svc_<kind>_<id>_<secret><check>`: base62, id 12 characters, secret 40, check = CRC-32 of everything before it
 * in 6 base62 characters. A mistyped key is refused before any look-up.
 */
export type ApiKeyKind = 'admin' | 'ws' | 'user';

export interface ParsedApiKey {
  readonly kind: ApiKeyKind;
  /** Public part: what the store finds the record by. */
  readonly id: string;
  readonly secret: string;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Sessions of people too: no key, and none of a provider's business either. */
const ownKey = /^svc_(admin|ws|user|session|job)_/;
const pattern = /^svc_(admin|ws|user)_([0-9A-Za-z]{12})_([0-9A-Za-z]{32,64})([0-9A-Za-z]{6})$/;

/** A fresh key of this kind with its parts. The text is shown once and stored nowhere. A rotated key keeps its public id. */
export function newApiKey(kind: ApiKeyKind, id = randomBase62(12)): ParsedApiKey & { readonly text: string } {
  const secret = randomBase62(40);
  return { kind, id, secret, text: formatApiKey({ kind, id, secret }) };
}

/** The text of a key with these parts. */
export function formatApiKey({ kind, id, secret }: ParsedApiKey): string {
  const body = `svc_${kind}_${id}_${secret}`;
  return body + checkOf(body);
}

/** The parts of a well-formed key with a right check, else null. Touches no store. */
export function parseApiKey(text: string): ParsedApiKey | null {
  const match = pattern.exec(text);
  if (!match || checkOf(text.slice(0, -6)) !== match[4]) return null;
  return { kind: match[1] as ApiKeyKind, id: match[2] as string, secret: match[3] as string };
}

/** True for a header value that is, or was meant to be, a key of this service, with or without `Bearer`. Such a value never leaves. */
export function holdsApiKey(value: string): boolean {
  const start = value.length > 7 && value.slice(0, 7).toLowerCase() === 'bearer ' ? 7 : 0;
  return value.startsWith('svc_', start) && ownKey.test(value.slice(start));
}

/** The same, and for callers who came with a token: true for every value that holds it. */
export function holdsCredential(value: string, token: Secret | null): boolean {
  return holdsApiKey(value) || (token !== null && value.includes(token.reveal()));
}

/** What the store keeps instead of the secret: base64url HMAC-SHA-256(pepper, secret), 43 characters. */
export function digestSecret(pepper: Uint8Array, secret: string): string {
  return createHmac('sha256', pepper).update(secret, 'latin1').digest('base64url');
}

function checkOf(body: string): string {
  let rest = crc32(body) >>> 0;
  let out = '';
  for (let i = 0; i < 6; i++) {
    out = alphabet[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

function randomBase62(length: number): string {
  let out = '';
  while (out.length < length) {
    // Bytes of 248 and above are thrown away: 62 divides 248, so every character stays equally likely.
    for (const byte of randomBytes(length)) if (byte < 248 && out.length < length) out += alphabet[byte % 62];
  }
  return out;
}
