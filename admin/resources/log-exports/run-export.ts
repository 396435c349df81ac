import { isDatabaseAway } from '../../db/is-database-away.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/route.ts';
import type { JobHandler } from '../../jobs/job-runner.ts';
import { listLogs } from '../logs/list-logs.ts';
import { readNames } from '../logs/read-names.ts';
import { toLog } from '../logs/to-log.ts';
import { type LogExport, logExports } from './entity.ts';
import { toExportRow } from './export-fields.ts';
import { type PartStore, toPart, writePart } from './parts.ts';
import { conditionsOf, deleteParts, deniedFields, windowOf } from './service.ts';

/** Records per part: one statement and one transaction. */
const partRows = 500;
/** Failures after which an export ends as failed. The job runner waits longer after each. */
const failuresMax = 3;
const dayMs = 86_400_000;

/**
 * Job of one export. A part and the position after it are stored in one transaction, so that a run which is killed at any point
 * continues without a missing or repeated record. Two concurrent runs cannot both store a part.
 */
export function exportJob(services: AdminServices): JobHandler {
  return async ({ key, organisationId, signal }) => {
    if (organisationId === null) return 'done';
    const newManager = () => services.database.emOf(organisationId);
    try {
      while (!signal.aborted) {
        const row = await newManager().findOne(logExports, { id: key, organisationId, status: 'in_progress' });
        if (!row) return 'done';
        await step(services, { newManager, vault: services.vault, row });
      }
      return { againInMs: 0 };
    } catch (error) {
      if (signal.aborted || isDatabaseAway(error)) throw error;
      await noteFailure(newManager(), key, organisationId);
      throw error;
    }
  };
}

/** Stores the next part, or completes the export after the last one. */
async function step(services: AdminServices, store: PartStore): Promise<void> {
  const { row, newManager } = store;
  const em = newManager();
  if ((await deniedFields(em, row)).length > 0) {
    return end(em, row, { status: 'failed', error: 'requested_data: the settings deny one of the fields in exports' });
  }
  const { offset, rows: rowsMax } = windowOf(row);
  const page = {
    size: Math.min(partRows, rowsMax - row.rowsDone),
    offset: row.position === null || row.position === undefined ? offset : 0,
    after: row.position ?? null,
  };
  const isComplete = row.parts > 0 && (row.position === null || row.position === undefined);
  if (isComplete || page.size <= 0) return complete(services, store);
  const { rows, next } = await listLogs(em, conditionsOf(row), page);
  const namesOf = await readNames(em, rows);
  const logs = rows.map((record) => toLog(record, namesOf(record), services.settings, row.sight.metadata));
  const lines = logs.map((log) => `${JSON.stringify(toExportRow(log, row.requestedData))}\n`).join('');
  const part = await toPart(lines);
  await newManager().transactional(async (tx) => {
    const where = { id: row.id, organisationId: row.organisationId, status: 'in_progress', parts: row.parts } as const;
    const rowsDone = row.rowsDone + rows.length;
    const fileBytes = (row.fileBytes ?? 0) + (row.format === 'jsonl' ? Buffer.byteLength(lines) : part.length);
    const change = {
      parts: row.parts + 1,
      rowsDone,
      position: next,
      fileBytes,
      failures: 0,
      total: Math.max(row.total, rowsDone),
    };
    if ((await tx.nativeUpdate(logExports, where, change)) === 1) await writePart(tx, store, 'rows', row.parts, part);
  });
}

/** Ends the export with success. */
async function complete({ clock, settings }: AdminServices, { row, newManager }: PartStore): Promise<void> {
  const expiresAt = new Date(clock.now() + settings.logExportDays * dayMs);
  await end(newManager(), row, { status: 'success', total: row.rowsDone, expiresAt });
}

/** Ends the export unless it was stopped meanwhile. */
async function end(em: EntityManager, row: LogExport, change: Partial<LogExport>): Promise<void> {
  const where = { id: row.id, organisationId: row.organisationId, status: 'in_progress', parts: row.parts } as const;
  await em.nativeUpdate(logExports, where, { ...change, lastUpdatedAt: new Date() });
}

async function noteFailure(em: EntityManager, id: string, organisationId: string): Promise<void> {
  const row = await em.findOne(logExports, { id, organisationId, status: 'in_progress' });
  if (!row) return;
  row.failures += 1;
  if (row.failures >= failuresMax) {
    row.status = 'failed';
    row.error = 'Internal error; the log of the control plane contains the cause. Start the export again to continue it';
  }
  await em.flush();
}

/** Deletes the files of expired exports. */
export async function deleteExpiredFiles(em: EntityManager, now: Date): Promise<void> {
  const rows = await em.find(logExports, { expiresAt: { $lte: now } });
  for (const row of rows) {
    await deleteParts(em, row);
    await em.nativeUpdate(logExports, { id: row.id, organisationId: row.organisationId }, { expiresAt: null });
  }
}
