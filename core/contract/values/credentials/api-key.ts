import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { equalDigests } from './equal-digests.ts';
import { ownSecretPrefix } from './own-secret.ts';
import type { Secret } from './secret.ts';

/**
 * Key format `svc_<kind>_<id>_<secret><check>`: base62, id 12 characters, secret 40, check = CRC-32 of everything before it
 * in 6 base62 characters. A mistyped key is refused before any look-up.
 */
export type ApiKeyKind = 'admin' | 'ws' | 'user';

export type ApiKeyType = 'organisation-service' | 'workspace-service' | 'workspace-user';

/** The kind in the text of a key, by its type. */
export const kindOfType: Readonly<Record<ApiKeyType, ApiKeyKind>> = {
  'organisation-service': 'admin',
  'workspace-service': 'ws',
  'workspace-user': 'user',
};

export interface ParsedApiKey {
  readonly kind: ApiKeyKind;
  /** Public part. The store finds the record by it. */
  readonly id: string;
  readonly secret: string;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Begins the text of client secrets of realtime sessions. */
export const clientSecretPrefix = 'ek_svc_';
/** Includes secrets that are not API keys, such as tokens of sessions: they must not reach a provider either. */
const ownKey = new RegExp(`^${ownSecretPrefix}`);
const ownKeyInside = new RegExp(`(?:${ownSecretPrefix}|${clientSecretPrefix})[0-9A-Za-z_-]{12}`);
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

/** Returns the parts of a well-formed key with a correct check, else null. Reads no store. */
export function parseApiKey(text: string): ParsedApiKey | null {
  const match = pattern.exec(text);
  if (!match || checkOf(text.slice(0, -6)) !== match[4]) return null;
  return { kind: match[1] as ApiKeyKind, id: match[2] as string, secret: match[3] as string };
}

/**
 * True for a header value that is, or was meant to be, a key of this service or a client secret, with or without `Bearer`. It is never sent
 * upstream.
 */
export function holdsApiKey(value: string): boolean {
  const start = value.length > 7 && value.slice(0, 7).toLowerCase() === 'bearer ' ? 7 : 0;
  if (value.startsWith(clientSecretPrefix, start)) return true;
  return value.startsWith('svc_', start) && ownKey.test(value.slice(start));
}

/** Like `holdsApiKey`, and for callers with a JWT also true for every value that contains it. */
export function holdsCredential(value: string, token: Secret | null): boolean {
  return holdsApiKey(value) || (token !== null && value.includes(token.reveal()));
}

/** True for a text with a key of this service, or with the caller's JWT, anywhere in it. */
export function containsCredential(text: string, token: Secret | null): boolean {
  return ownKeyInside.test(text) || (token !== null && text.includes(token.reveal()));
}

/** Returns the digest that is stored instead of the secret: base64url HMAC-SHA-256(pepper, secret), 43 characters. */
export function digestSecret(pepper: Uint8Array, secret: string): string {
  return createHmac('sha256', pepper).update(secret, 'latin1').digest('base64url');
}

/** The fields of a stored key that decide whether a secret is valid. Times are Unix milliseconds; null: never. */
export interface StoredKey {
  readonly type: ApiKeyType;
  readonly digest: string;
  /** Digest of the secret before the last rotation, valid until `previousExpiresAtMs`. */
  readonly previousDigest: string | null;
  readonly previousExpiresAtMs: number | null;
  readonly expiresAtMs: number | null;
  /** End of the current secret if the key is not rotated in time. */
  readonly secretExpiresAtMs: number | null;
}

/** `invalid`: no such key or secret. `expired`: the key has ended. `overdue`: its current secret was not rotated in time. */
export type KeyVerdict =
  | { readonly state: 'invalid' }
  | { readonly state: 'expired' | 'overdue' }
  | {
      readonly state: 'valid';
      /** Unix milliseconds at which this secret ends; Infinity for never. */
      readonly endsAtMs: number;
    };

/**
 * Checks the secret of a key against the stored one (null: no such key), in constant time, and its expiry. An unknown key costs the
 * same work as a known one.
 */
export function verifyApiKey(key: ParsedApiKey, stored: StoredKey | null, pepper: Uint8Array, nowMs: number): KeyVerdict {
  const digest = digestSecret(pepper, key.secret);
  const isCurrent = equalDigests(digest, stored?.digest ?? noDigest);
  const isPrevious = equalDigests(digest, stored?.previousDigest ?? noDigest);
  if (!stored || kindOfType[stored.type] !== key.kind) return { state: 'invalid' };
  if (!isCurrent && !(isPrevious && (stored.previousExpiresAtMs ?? 0) > nowMs)) return { state: 'invalid' };
  const keyEndsAtMs = stored.expiresAtMs ?? Number.POSITIVE_INFINITY;
  if (keyEndsAtMs <= nowMs) return { state: 'expired' };
  const secretEndsAtMs = (isCurrent ? stored.secretExpiresAtMs : stored.previousExpiresAtMs) ?? Number.POSITIVE_INFINITY;
  if (secretEndsAtMs <= nowMs) return { state: 'overdue' };
  return { state: 'valid', endsAtMs: Math.min(keyEndsAtMs, secretEndsAtMs) };
}

/** Stands for the digest of a key that does not exist; no digest equals it. */
const noDigest = '-'.repeat(43);

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
    // Bytes from 248 on are discarded. 62 divides 248, so every character has the same probability.
    for (const byte of randomBytes(length)) if (byte < 248 && out.length < length) out += alphabet[byte % 62];
  }
  return out;
}
