import { deriveKey, type Sealed, seal, unseal } from '../../values/credentials/secret.ts';
import { keyPurposes } from './key-purposes.ts';

/** Settings whose keys belong to a database. */
export type CheckedKey = 'ENCRYPTION_KEY' | 'CLUSTER_KEY';

/** Use to which the pepper in `keyCheckReply` is bound. */
export const apiKeyPepperContext = 'key-check/api-key-pepper';

/** Returns a text for the database that only this key opens. `key` is the 32-byte key of the setting. */
export function sealKeyCheck(setting: CheckedKey, key: Uint8Array): Sealed {
  return seal(deriveKey(key, keyPurposes.keyCheck), setting, contextOf(setting));
}

/** True if this key sealed the text. */
export function opensKeyCheck(setting: CheckedKey, key: Uint8Array, sealed: Sealed): boolean {
  try {
    unseal(deriveKey(key, keyPurposes.keyCheck), sealed, contextOf(setting));
    return true;
  } catch {
    return false;
  }
}

function contextOf(setting: CheckedKey): string {
  return `key_checks/sealed/${setting}`;
}
