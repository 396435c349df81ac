import { opensKeyCheck } from './key-check.ts';

/** ENCRYPTION_KEY, and the key that it replaces while both are in use. */
export interface EncryptionKeys {
  readonly encryptionKey: Uint8Array;
  readonly encryptionKeyPrevious?: Uint8Array | null;
}

/** Returns the keys in the order in which they are tried. */
export function keysToTry({ encryptionKey, encryptionKeyPrevious }: EncryptionKeys): readonly Uint8Array[] {
  return encryptionKeyPrevious ? [encryptionKey, encryptionKeyPrevious] : [encryptionKey];
}

/** Returns the key that sealed the check of a database; null if it is neither of them. */
export function keyOfCheck(keys: EncryptionKeys, sealed: string): Uint8Array | null {
  return keysToTry(keys).find((key) => opensKeyCheck('ENCRYPTION_KEY', key, sealed)) ?? null;
}
