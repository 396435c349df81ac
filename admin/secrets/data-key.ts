import { type EncryptionKeys, keysToTry } from '../../core/contract/protocol/credentials/encryption-keys.ts';
import { keyPurposes } from '../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, seal, unseal } from '../../core/contract/values/credentials/secret.ts';

/** The columns of a data key that its ciphertext is bound to, and the ciphertext. */
export interface WrappedKey {
  readonly id: string;
  readonly organisationId: string;
  readonly wrapped: string;
}

/** None of the keys of this control plane has sealed the data key: ENCRYPTION_KEY was replaced on another one. */
export class DataKeyError extends Error {
  constructor({ id, organisationId }: Pick<WrappedKey, 'id' | 'organisationId'>) {
    super(`ENCRYPTION_KEY: cannot decrypt the data key ${id} of organisation ${organisationId}`);
  }
}

/** Returns the plain data key; null if none of the keys sealed it. */
export function openDataKey(keys: EncryptionKeys, row: WrappedKey): Uint8Array | null {
  for (const key of keysToTry(keys)) {
    try {
      return new Uint8Array(unseal(deriveKey(key, keyPurposes.dataKeys), row.wrapped, contextOf(row)));
    } catch {}
  }
  return null;
}

/** Returns the ciphertext of a data key for its row. `encryptionKey` is the 32-byte master key. */
export function wrapDataKey(encryptionKey: Uint8Array, row: Omit<WrappedKey, 'wrapped'>, plain: Uint8Array): string {
  return seal(deriveKey(encryptionKey, keyPurposes.dataKeys), plain, contextOf(row));
}

function contextOf({ id, organisationId }: Omit<WrappedKey, 'wrapped'>): string {
  return `${organisationId}/data_keys/wrapped/${id}`;
}
