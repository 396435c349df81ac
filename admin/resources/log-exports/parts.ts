import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { EntityManager } from '../../db/open-database.ts';
import type { Vault } from '../../secrets/vault.ts';
import { type LogExport, logExportParts } from './entity.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

type Kind = 'rows' | 'file';

export interface PartStore {
  readonly newManager: () => EntityManager;
  readonly vault: Vault;
  readonly row: LogExport;
}

/** Stores a part, or replaces it. */
export async function writePart(tx: EntityManager, { vault, row }: PartStore, kind: Kind, number: number, plain: Uint8Array) {
  const bytes = Buffer.from(await vault.sealBytes(tx, contextOf(row, kind, number), plain));
  const { id: exportId, organisationId } = row;
  await tx.upsert(logExportParts, { exportId, kind, number, organisationId, bytes });
}

/** Returns the parts in order. Throws if one is missing. */
export async function* readParts({ newManager, vault, row }: PartStore, kind: Kind, count: number): AsyncGenerator<Uint8Array> {
  for (let number = 0; number < count; number++) {
    const em = newManager();
    const { id: exportId, organisationId } = row;
    const part = await em.findOneOrFail(logExportParts, { exportId, kind, number, organisationId });
    yield await vault.openBytes(em, contextOf(row, kind, number), part.bytes);
  }
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
