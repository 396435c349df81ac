import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { EntityManager } from '../../db/open-database.ts';
import { type ObjectStore, ObjectStoreError } from '../../object-store/object-store.ts';
import { deleteObjects, storeObject } from '../../object-store/stored-objects.ts';
import type { Vault } from '../../secrets/vault.ts';
import { type LogExport, logExportParts } from './entity.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

type Kind = 'rows' | 'file';

export interface PartStore {
  readonly newManager: () => EntityManager;
  readonly vault: Vault;
  /** Store of new parts; null: the database. */
  readonly objects: ObjectStore | null;
  readonly row: LogExport;
}

/**
 * Seals a part, stores it in the object store if there is one, and then runs `record` and writes the row of the part in one transaction. If
 * `record` returns false the part is not written.
 */
export async function writePart(
  { newManager, vault, objects, row }: PartStore,
  kind: Kind,
  number: number,
  plain: Uint8Array,
  record: (tx: EntityManager) => Promise<boolean>,
): Promise<void> {
  const { id: exportId, organisationId } = row;
  const em = newManager();
  const bytes = Buffer.from(await vault.sealBytes(em, contextOf(row, kind, number), plain));
  const objectKey = objects ? await storeObject(em, objects, { organisationId, exportId }, bytes) : null;
  await em.transactional(async (tx) => {
    const isWanted = await record(tx);
    const content = { bytes: objectKey === null ? bytes : Buffer.alloc(0), objectKey };
    if (isWanted) await tx.upsert(logExportParts, { exportId, kind, number, organisationId, ...content });
    else if (objectKey !== null) await deleteObjects(tx, { key: objectKey });
  });
}

/** Returns the parts in order. Throws if one is missing. */
export async function* readParts(
  { newManager, vault, objects, row }: PartStore,
  kind: Kind,
  count: number,
): AsyncGenerator<Uint8Array> {
  for (let number = 0; number < count; number++) {
    const em = newManager();
    const { id: exportId, organisationId } = row;
    const part = await em.findOneOrFail(logExportParts, { exportId, kind, number, organisationId });
    const bytes = part.objectKey ? await objects?.get(part.objectKey) : part.bytes;
    if (!bytes) throw new ObjectStoreError(`OBJECT_STORE: part ${number} of the export ${exportId} is missing`);
    yield await vault.openBytes(em, contextOf(row, kind, number), bytes);
  }
}

/** Deletes the parts and the file of an export. Their objects are deleted by a job. */
export async function deleteParts(em: EntityManager, { id, organisationId }: LogExport): Promise<void> {
  await em.nativeDelete(logExportParts, { exportId: id, organisationId });
  await deleteObjects(em, { exportId: id });
}

/** Deletes objects that were stored by runs which were killed before they wrote the row of the part, and objects that were replaced. */
export function deleteUnusedObjects(em: EntityManager): Promise<void> {
  return deleteObjects(em, { exportId: null });
}

/** Returns JSON lines in gzip format. */
export function toPart(lines: string): Promise<Buffer> {
  return compress(lines);
}

/** Returns the JSON lines of a part. */
export function fromPart(part: Uint8Array): Promise<Buffer> {
  return decompress(part);
}

function contextOf({ id, organisationId }: LogExport, kind: Kind, number: number) {
  return { organisationId, table: 'log_export_parts', column: `${kind}/${number}`, rowId: id };
}
