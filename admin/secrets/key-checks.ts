import type { Settings } from '../../config/settings.ts';
import { type EncryptionKeys, keyOfCheck, keysToTry } from '../../core/contract/protocol/credentials/encryption-keys.ts';
import { type CheckedKey, opensKeyCheck, sealKeyCheck } from '../../core/contract/protocol/credentials/key-check.ts';
import { counted } from '../../core/contract/values/text/counted.ts';
import type { EntityManager } from '../db/open-database.ts';
import { StartError } from '../start-error.ts';
import { openDataKey, type WrappedKey } from './data-key.ts';

type Keys = EncryptionKeys & Pick<Settings, 'clusterKey'>;

/** The database belongs to another ENCRYPTION_KEY than those of this process. A process that runs meets it if the key was replaced since its start. */
export class EncryptionKeyError extends StartError {}

/**
 * Compares both keys with the database before anything is read or sealed with them. The first start, and the first one after an
 * upgrade, stores a check for each key; after an upgrade only if the key opens the data that is there. Throws StartError naming the
 * key. Safe to run in several processes at once.
 */
export async function checkKeys(em: EntityManager, keys: Keys): Promise<void> {
  await checkEncryptionKey(em, keys);
  let sealed = await find(em, 'CLUSTER_KEY');
  if (sealed === null) {
    // No stored data is sealed with this key, so it cannot be tested.
    await add(em, 'CLUSTER_KEY', keys.clusterKey);
    // If two first starts run at the same moment, one stores its check and the other compares with it.
    sealed = await find(em, 'CLUSTER_KEY');
  }
  if (sealed === null || !opensKeyCheck('CLUSTER_KEY', keys.clusterKey, sealed)) throw new StartError(clusterKeyIssue);
}

/**
 * Like `checkKeys`, for ENCRYPTION_KEY and ENCRYPTION_KEY_PREVIOUS. Returns the one of them that is the key of the database. Throws
 * StartError also for data keys that neither of them opens, with their ids.
 */
export async function checkEncryptionKey(em: EntityManager, keys: EncryptionKeys): Promise<Uint8Array> {
  const key = await requireEncryptionKey(em, keys);
  if ((await find(em, 'ENCRYPTION_KEY')) === null) await add(em, 'ENCRYPTION_KEY', key);
  await requireDataKeys(em, keys, key);
  return requireEncryptionKey(em, keys);
}

/**
 * Returns the key that seals new data keys: the one of the stored check or, if there is none, of the oldest data key. In an empty
 * database it is ENCRYPTION_KEY. `lock` holds the check until the end of the transaction. Throws EncryptionKeyError if it is another key.
 */
export async function requireEncryptionKey(
  em: EntityManager,
  keys: EncryptionKeys,
  lock: '' | 'for share' | 'for update' = '',
): Promise<Uint8Array> {
  const sealed = await find(em, 'ENCRYPTION_KEY', lock);
  const key = sealed === null ? await keyOfOldest(em, keys) : keyOfCheck(keys, sealed);
  if (key === null) throw new EncryptionKeyError(encryptionKeyIssue);
  return key;
}

/** Returns the stored check of a key, for gateways. Throws if there is none. */
export async function readKeyCheck(em: EntityManager, setting: CheckedKey): Promise<string> {
  const sealed = await find(em, setting);
  if (sealed === null) throw new Error(`no check is stored for ${setting}`);
  return sealed;
}

/** Makes this the cluster key of the database. Gateways and control planes with another key are rejected from now on. */
export async function replaceClusterKeyCheck(em: EntityManager, clusterKey: Uint8Array): Promise<void> {
  await em.execute("delete from key_checks where setting = 'CLUSTER_KEY'");
  await add(em, 'CLUSTER_KEY', clusterKey);
}

/** Makes this the encryption key of the database: new data keys are sealed with it. */
export async function replaceEncryptionKeyCheck(tx: EntityManager, encryptionKey: Uint8Array): Promise<void> {
  const sealed = sealKeyCheck('ENCRYPTION_KEY', encryptionKey);
  await tx.execute("update key_checks set sealed = ? where setting = 'ENCRYPTION_KEY'", [sealed]);
}

/** Returns the data keys that ENCRYPTION_KEY alone does not open, oldest first. */
export async function dataKeysOfEarlierKeys(em: EntityManager, { encryptionKey }: EncryptionKeys): Promise<WrappedKey[]> {
  const rows = await em.execute<WrappedKey[]>(`${selectDataKeys} order by created_at, id`);
  return rows.filter((row) => openDataKey({ encryptionKey }, row) === null);
}

const selectDataKeys = 'select id, organisation_id as "organisationId", wrapped from data_keys';

const encryptionKeyIssue =
  'ENCRYPTION_KEY: cannot decrypt the data in this database, expected the key of its first start or the one that has replaced it. ' +
  'Set that key (or put its file encryption.key back into DATA_DIR), or use another database. ' +
  'To replace the key, set ENCRYPTION_KEY_PREVIOUS to the key of the database as well';
const clusterKeyIssue =
  'CLUSTER_KEY: does not match this database, expected the key of its first start. ' +
  'Set that key (or put its file cluster.key back into DATA_DIR), or run `npm run cluster-key` to accept the current key';

async function find(em: EntityManager, setting: CheckedKey, lock = ''): Promise<string | null> {
  const [row] = await em.execute<{ sealed: string }[]>(`select sealed from key_checks where setting = ? ${lock}`, [setting]);
  return row?.sealed ?? null;
}

async function add(em: EntityManager, setting: CheckedKey, key: Uint8Array): Promise<void> {
  const values = [setting, sealKeyCheck(setting, key)];
  await em.execute('insert into key_checks (setting, sealed) values (?, ?) on conflict (setting) do nothing', values);
}

/** Returns the key that opens the oldest data key; ENCRYPTION_KEY if the database has none. */
async function keyOfOldest(em: EntityManager, keys: EncryptionKeys): Promise<Uint8Array | null> {
  const [oldest] = await em.execute<WrappedKey[]>(`${selectDataKeys} order by created_at limit 1`);
  if (oldest === undefined) return keys.encryptionKey;
  return keysToTry(keys).find((encryptionKey) => openDataKey({ encryptionKey }, oldest) !== null) ?? null;
}

/** Maximum number of rows that an error lists. */
const listedMax = 10;

async function requireDataKeys(em: EntityManager, keys: EncryptionKeys, current: Uint8Array): Promise<void> {
  const earlier = await dataKeysOfEarlierKeys(em, keys);
  const lost = earlier.filter((row) => openDataKey(keys, row) === null);
  if (lost.length === 0) return;
  const listed = lost.slice(0, listedMax).map(({ id, organisationId }) => `${id} (organisation ${organisationId})`);
  throw new StartError(
    `ENCRYPTION_KEY: cannot decrypt ${counted(lost.length, 'data key')} (table data_keys), which another key has sealed: ` +
      `${listed.join(', ')}${lost.length > listedMax ? ', …' : ''}. ` +
      (current === keys.encryptionKey
        ? 'Set ENCRYPTION_KEY_PREVIOUS to that key and run `npm run encryption-key`, which seals them with ENCRYPTION_KEY'
        : 'A run of `npm run encryption-key` with that key was interrupted. Set ENCRYPTION_KEY to the key of that run, and ' +
          'ENCRYPTION_KEY_PREVIOUS to the key of the database, and run the command again'),
  );
}
