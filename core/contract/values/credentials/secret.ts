import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

/** A plain secret that cannot be printed, logged, spread or serialised. Only `reveal()` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [inspect.custom](): string {
    return '***';
  }
}

/** AES-256-GCM ciphertext as text: base64url of nonce (12) · tag (16) · data. */
export type Sealed = string;

/** Derives a 32-byte key for one purpose from a master key of at least 32 bytes (HKDF-SHA-256, RFC 5869). */
export function deriveKey(master: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', master, new Uint8Array(0), purpose, 32));
}

/** Encrypts with a random 96-bit nonce. `aad` binds the ciphertext to its use; decryption with another `aad` fails. */
export function seal(key: Uint8Array, plain: string | Uint8Array, aad: string): Sealed {
  return sealBytes(key, plain, aad).toString('base64url');
}

/** Like `seal`, but returns bytes. */
export function sealBytes(key: Uint8Array, plain: string | Uint8Array, aad: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(aad, 'utf8'));
  const data = Buffer.concat([cipher.update(typeof plain === 'string' ? Buffer.from(plain, 'utf8') : plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), data]);
}

/** Returns the bytes that were passed to `seal`. Throws if the key, the `aad` or a single bit differs. */
export function unseal(key: Uint8Array, sealed: Sealed, aad: string): Buffer {
  return unsealBytes(key, Buffer.from(sealed, 'base64url'), aad);
}

/** Like `unseal`, for the bytes of `sealBytes`. */
export function unsealBytes(key: Uint8Array, bytes: Uint8Array, aad: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
  decipher.setAAD(Buffer.from(aad, 'utf8'));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
}
