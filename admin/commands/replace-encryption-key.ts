import { randomBytes } from 'node:crypto';
import type { EncryptionKeys } from '../../core/contract/protocol/credentials/encryption-keys.ts';
import { newId } from '../db/new-id.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import { openDataKey, type WrappedKey, wrapDataKey } from '../secrets/data-key.ts';
import { type KeptKeys, readKeptKeys, storeKeptKeys } from '../secrets/kept-keys.ts';
import {
  checkEncryptionKey,
  dataKeysOfEarlierKeys,
  replaceEncryptionKeyCheck,
  requireEncryptionKey,
} from '../secrets/key-checks.ts';
import { audited } from './new-keys.ts';

/** Result of `replaceEncryptionKey`. */
export interface Replacement {
  /** Data keys that were sealed with the previous key. */
  readonly dataKeys: number;
  readonly organisations: number;
  /** True if the database already belonged to ENCRYPTION_KEY. */
  readonly isRepeated: boolean;
}

/**
 * Makes ENCRYPTION_KEY the key of the database instead of ENCRYPTION_KEY_PREVIOUS, audited in every organisation. The data keys of one
 * organisation change in one transaction, and the check, with which starts compare their key, changes last. An interrupted run leaves
 * rows that need either key, which is what processes have at that time; another run continues. Rejects with StartError if neither
 * key is the one of the database, or if a data key needs a third one.
 */
export async function replaceEncryptionKey(database: Database, keys: EncryptionKeys): Promise<Replacement> {
  const isRepeated = (await checkEncryptionKey(database.em(), keys)) === keys.encryptionKey;
  const kept = await readKeptKeys(database.em(), keys);
  const organisations = new Set<string>();
  let dataKeys = 0;
  do {
    const due = await dataKeysOfEarlierKeys(database.em(), keys);
    for (const organisationId of new Set(due.map((row) => row.organisationId))) {
      await audited(database, kept.auditKey, organisationId, 'encryption-key', async (change) => {
        dataKeys += await sealAgain(change.tx, keys, organisationId);
        change.about({ id: organisationId });
      });
      organisations.add(organisationId);
    }
  } while (!(await replaceCheck(database, keys, kept)));
  return { dataKeys, organisations: organisations.size, isRepeated };
}

/**
 * Seals the data keys of an organisation with ENCRYPTION_KEY, and adds a new one: a copy of the database and the previous key reveal the
 * existing data keys, and must not open what is stored from now on.
 */
async function sealAgain(tx: EntityManager, keys: EncryptionKeys, organisationId: string): Promise<number> {
  const { encryptionKey } = keys;
  const rows = await tx.execute<WrappedKey[]>(
    'select id, organisation_id as "organisationId", wrapped from data_keys where organisation_id = ? order by version for update',
    [organisationId],
  );
  const due = rows.filter((row) => openDataKey({ encryptionKey }, row) === null);
  for (const row of due) {
    const plain = openDataKey(keys, row);
    if (plain === null) throw new Error(`ENCRYPTION_KEY_PREVIOUS: cannot decrypt the data key ${row.id}`);
    await tx.execute('update data_keys set wrapped = ? where id = ?', [wrapDataKey(encryptionKey, row, plain), row.id]);
  }
  if (due.length > 0) {
    const id = newId();
    const wrapped = wrapDataKey(encryptionKey, { id, organisationId }, randomBytes(32));
    await tx.execute(
      `insert into data_keys (id, organisation_id, version, wrapped, created_at)
       select ?, ?, max(version) + 1, ?, now() from data_keys where organisation_id = ?`,
      [id, organisationId, wrapped, organisationId],
    );
  }
  return due.length;
}

/** Returns false if a data key was added in the meantime that needs the previous key. The lock keeps further ones out. */
function replaceCheck(database: Database, keys: EncryptionKeys, kept: KeptKeys): Promise<boolean> {
  return database.em().transactional(async (tx) => {
    const current = await requireEncryptionKey(tx, keys, 'for update');
    if ((await dataKeysOfEarlierKeys(tx, keys)).length > 0) return false;
    if (current === keys.encryptionKey) return true;
    await storeKeptKeys(tx, keys.encryptionKey, kept);
    await replaceEncryptionKeyCheck(tx, keys.encryptionKey);
    return true;
  });
}
