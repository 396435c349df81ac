import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { ClickHouseError } from '../../clickhouse/clickhouse.ts';
import { isStatementLate } from '../../database-problem.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { isDatabaseAway } from '../../is-database-away.ts';
import type { JobHandler } from '../../jobs/job-runner.ts';
import { ObjectStoreError } from '../../object-store/object-store.ts';
import { readContents, withContent } from '../logs/contents.ts';
import { withoutMetadataHeaders } from '../logs/hide-metadata.ts';
import { cursorOf, type LogPage } from '../logs/list-logs.ts';
import { logStoreOf } from '../logs/log-store.ts';
import { readNames } from '../logs/read-names.ts';
import { toLog } from '../logs/to-log.ts';
import { type LogExport, logExports } from './entity.ts';
import { toExportRow, toLine } from './export-fields.ts';
import { formatOf, type PieceWriter } from './formats.ts';
import { deleteParts, fromPart, type PartStore, readParts, toPart, writePart } from './parts.ts';
import { deniedFields, queryOf, windowOf } from './service.ts';

/** Records per part: one statement and one transaction. */
const partRows = 500;
/** Length at which a part with bodies ends; one log may be longer. */
const partCharsMax = 8 * 1024 * 1024;
/** Logs whose bodies are opened at the same time. */
const groupRows = 50;
/** Consecutive failures after which an export ends as failed. The job runner waits longer after each. */
const failuresMax = 3;
/** The same for statements that end late. The eighth is four minutes after the first, so a short load of the database ends no export. */
const lateFailuresMax = 8;

const internalText = 'Internal error; the log of the control plane contains the cause. Start the export again to continue it';
const lateText =
  'The database did not return the records in time. Start the export again to continue it, or create one with a shorter time range';

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
        await step(services, { newManager, vault: services.vault, objects: services.objects, row });
      }
      return { againInMs: 0 };
    } catch (error) {
      if (signal.aborted) throw error;
      if (isLate(error)) await noteFailure(newManager(), { key, organisationId, max: lateFailuresMax, text: lateText });
      else if (!isAway(error)) await noteFailure(newManager(), { key, organisationId, max: failuresMax, text: internalText });
      throw error;
    }
  };
}

/** True if a statement exceeded its time limit. If it reads many records, it will do so again. */
function isLate(error: unknown): boolean {
  return error instanceof ClickHouseError ? error.isLate : isStatementLate(error);
}

/** True if the export can continue when the database, the object store or ClickHouse replies again. */
function isAway(error: unknown): boolean {
  return error instanceof ClickHouseError ? error.isTemporary : isDatabaseAway(error) || error instanceof ObjectStoreError;
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
  const { logs, next } = await readPage(services, em, row, page);
  const lines = logs.map((log) => toLine(toExportRow(log, row.requestedData))).join('');
  const part = await toPart(lines);
  await writePart(store, 'rows', row.parts, part, async (tx) => {
    const rowsDone = row.rowsDone + logs.length;
    const fileBytes = (row.fileBytes ?? 0) + (formatOf(row.format).source === 'lines' ? Buffer.byteLength(lines) : part.length);
    const change = {
      parts: row.parts + 1,
      rowsDone,
      position: next,
      fileBytes,
      failures: 0,
      total: Math.max(row.total, rowsDone),
    };
    return (await tx.nativeUpdate(logExports, ifRunning(row), change)) === 1;
  });
}

/** Reads the logs of the next part. With bodies, it ends at the log that makes it too large. */
async function readPage(services: AdminServices, em: EntityManager, row: LogExport, page: LogPage) {
  const { rows, next } = await logStoreOf(services, em).list(queryOf(row), page);
  const namesOf = await readNames(em, rows);
  const logs = rows.map((record) => toLog(record, namesOf(record), services.settings, row.sight.metadata));
  if (!row.requestedData.some((field) => field === 'request' || field === 'response')) return { logs, next };
  const whole: typeof logs = [];
  let chars = 0;
  for (let at = 0; at < rows.length; at += groupRows) {
    const group = rows.slice(at, at + groupRows);
    const contents = await readContents(em, services, row.organisationId, group);
    for (const record of group) {
      const stored = contents.get(record.id);
      const content = stored && !row.sight.metadata ? withoutMetadataHeaders(stored, services.settings) : stored;
      const log = withContent(logs[whole.length] as (typeof logs)[number], content);
      whole.push(log);
      chars += JSON.stringify(log).length;
      if (chars > partCharsMax) return { logs: whole, next: record === rows.at(-1) ? next : cursorOf(record) };
    }
  }
  return { logs: whole, next };
}

/** Ends the export with success. A file with a writer is made here, because its end follows the last record. */
async function complete({ clock, settings }: AdminServices, store: PartStore): Promise<void> {
  const { row, newManager } = store;
  const expiresAt = new Date(clock.now() + settings.logExportDays * dayMs);
  const { source } = formatOf(row.format);
  const written = typeof source === 'function' ? { fileBytes: await writeFile(store, await source(row.requestedData)) } : {};
  await end(newManager(), row, { status: 'success', total: row.rowsDone, expiresAt, ...written });
}

/** Writes one piece for each part and one for the end. An interrupted run starts again and replaces them. Returns the size in bytes. */
async function writeFile(store: PartStore, file: PieceWriter): Promise<number> {
  const { row } = store;
  let fileBytes = 0;
  const write = async (number: number, piece: Uint8Array) => {
    fileBytes += piece.length;
    // Failures stay: every run writes the first piece again, so an error in a later one would otherwise never end the export.
    const record = async (tx: EntityManager) =>
      (await tx.nativeUpdate(logExports, ifRunning(row), { lastUpdatedAt: new Date() })) === 1;
    await writePart(store, 'file', number, piece, record);
  };
  let number = 0;
  for await (const part of readParts(store, 'rows', row.parts)) {
    const lines = (await fromPart(part)).toString('utf8').split('\n');
    await write(number++, file.add(lines.filter((line) => line !== '').map((line) => JSON.parse(line))));
  }
  await write(number, file.end());
  return fileBytes;
}

/** Finds the export in the state that was read, and nothing if another run or a cancellation changed it. */
function ifRunning({ id, organisationId, parts }: LogExport) {
  return { id, organisationId, status: 'in_progress', parts } as const;
}

/** Ends the export unless it was stopped meanwhile. */
async function end(em: EntityManager, row: LogExport, change: Partial<LogExport>): Promise<void> {
  await em.nativeUpdate(logExports, ifRunning(row), { ...change, lastUpdatedAt: new Date() });
}

interface Failure {
  readonly key: string;
  readonly organisationId: string;
  /** Number of consecutive failures that end the export. */
  readonly max: number;
  readonly text: string;
}

async function noteFailure(em: EntityManager, { key, organisationId, max, text }: Failure): Promise<void> {
  const row = await em.findOne(logExports, { id: key, organisationId, status: 'in_progress' });
  if (!row) return;
  row.failures += 1;
  if (row.failures >= max) {
    row.status = 'failed';
    row.error = text;
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
