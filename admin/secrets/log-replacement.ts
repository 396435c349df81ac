import type { EncryptionKeys } from '../../core/contract/protocol/credentials/encryption-keys.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import type { EntityManager } from '../db/open-database.ts';
import { dataKeysOfEarlierKeys, requireEncryptionKey } from './key-checks.ts';

/** Logs the next step of a replacement of ENCRYPTION_KEY, if there is one in progress. */
export async function logReplacement(em: EntityManager, keys: EncryptionKeys, log: Log): Promise<void> {
  if (!keys.encryptionKeyPrevious) return;
  const isReplaced = (await requireEncryptionKey(em, keys)) === keys.encryptionKey;
  if (isReplaced && (await dataKeysOfEarlierKeys(em, keys)).length === 0)
    log.info({}, 'the database does not need ENCRYPTION_KEY_PREVIOUS. Remove the setting from every control plane and gateway');
  else
    log.warn(
      {},
      'the database still needs ENCRYPTION_KEY_PREVIOUS. When every control plane and gateway has both keys, run `npm run encryption-key`',
    );
}
