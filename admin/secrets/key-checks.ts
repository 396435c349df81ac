import type { Settings } from '../../config/settings.ts';
import { type CheckedKey, opensKeyCheck, sealKeyCheck } from '../../core/contract/protocol/credentials/key-check.ts';
import type { EntityManager } from '../db/open-database.ts';
import { StartError } from '../start-error.ts';
import { dataKeys } from './entity.ts';
import { createVault } from './vault.ts';

type Keys = Pick<Settings, 'encryptionKey' | 'clusterKey'>;

/**
 * Compares both keys with the database before anything is read or sealed with them. The first start, and the first one after an
 * upgrade, stores a check for each key; after an upgrade only if the key opens the data that is there. Throws StartError naming the
 * key. Safe to run in several processes at once.
 */
export async function checkKeys(em: EntityManager, keys: Keys): Promise<void> {
  await checkEncryptionKey(em, keys);
  // No stored data is sealed with this key, so it cannot be tested.
  await checkKey(em, 'CLUSTER_KEY', keys.clusterKey, async () => true);
}

/** Like `checkKeys`, for ENCRYPTION_KEY alone. */
export async function checkEncryptionKey(em: EntityManager, keys: Pick<Keys, 'encryptionKey'>): Promise<void> {
  await checkKey(em, 'ENCRYPTION_KEY', keys.encryptionKey, () => opensData(em, keys.encryptionKey));
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

async function checkKey(em: EntityManager, setting: CheckedKey, key: Uint8Array, opens: () => Promise<boolean>): Promise<void> {
  let sealed = await find(em, setting);
  if (sealed === null && (await opens())) {
    await add(em, setting, key);
    // If two first starts run at the same moment, one stores its check and the other compares with it.
    sealed = await find(em, setting);
  }
  if (sealed !== null && opensKeyCheck(setting, key, sealed)) return;
  throw new StartError(issues[setting]);
}

const issues: Record<CheckedKey, string> = {
  ENCRYPTION_KEY:
    'ENCRYPTION_KEY: cannot decrypt the data in this database, expected the key of its first start. ' +
    'Set that key (or put its file encryption.key back into DATA_DIR), or use another database',
  CLUSTER_KEY:
    'CLUSTER_KEY: does not match this database, expected the key of its first start. ' +
    'Set that key (or put its file cluster.key back into DATA_DIR), or run `npm run cluster-key` to accept the current key',
};

async function find(em: EntityManager, setting: CheckedKey): Promise<string | null> {
  const [row] = (await em.execute('select sealed from key_checks where setting = ?', [setting])) as { sealed: string }[];
  return row?.sealed ?? null;
}

async function add(em: EntityManager, setting: CheckedKey, key: Uint8Array): Promise<void> {
  const values = [setting, sealKeyCheck(setting, key)];
  await em.execute('insert into key_checks (setting, sealed) values (?, ?) on conflict (setting) do nothing', values);
}

/** True if the key opens the oldest data key, or if the database has none. */
async function opensData(em: EntityManager, encryptionKey: Uint8Array): Promise<boolean> {
  const [oldest] = await em.find(dataKeys, {}, { orderBy: { createdAt: 'asc' }, limit: 1 });
  return oldest === undefined || createVault(encryptionKey).opens(oldest);
}
