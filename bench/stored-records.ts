import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { openDatabase } from '../admin/db/open-database.ts';
import { type Verification, verifyLedger } from '../admin/resources/ledger-entries/verify-ledger.ts';
import { entities, migrations } from '../admin/tables.ts';
import { newMemoryLog } from '../test/support/memory-log.ts';
import { until } from '../test/support/until.ts';

/** Waits until the gateways have shipped all records. The spool's files are then empty or removed. */
export async function untilShipped(dataDir: string, deadlineMs: number): Promise<void> {
  await until(() => spoolBytes(dataDir) === 0, { what: 'an empty spool: every record shipped', deadlineMs });
}

/**
 * Returns the bytes of records that the control plane has not confirmed. Rejected records are in files of their own and do not
 * count.
 */
export function spoolBytes(dataDir: string): number {
  const root = join(dataDir, 'spool');
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ndjson') && !entry.name.startsWith('refused-'))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Returns the outcomes of the stored records by trace id, read from the embedded database of a product that has been stopped. */
export async function outcomesByTraceId(dataDir: string, beginning: string): Promise<Map<string, string[]>> {
  const database = await PGlite.create(join(dataDir, 'pgdata'));
  try {
    const outcomes = new Map<string, string[]>();
    const query = 'select trace_id, outcome from request_records where starts_with(trace_id, $1)';
    const { rows } = await database.query<{ trace_id: string; outcome: string }>(query, [beginning]);
    for (const { trace_id, outcome } of rows) outcomes.set(trace_id, [...(outcomes.get(trace_id) ?? []), outcome]);
    return outcomes;
  } finally {
    await database.close();
  }
}

/** Returns how often each trace id with this beginning is stored. Reads the embedded database of a stopped product. */
export async function countByTraceId(dataDir: string, beginning: string): Promise<Map<string, number>> {
  const database = await PGlite.create(join(dataDir, 'pgdata'));
  try {
    const counts = new Map<string, number>();
    const query = 'select trace_id from request_records where starts_with(trace_id, $1)';
    const { rows } = await database.query<{ trace_id: string }>(query, [beginning]);
    for (const { trace_id } of rows) counts.set(trace_id, (counts.get(trace_id) ?? 0) + 1);
    return counts;
  } finally {
    await database.close();
  }
}

/** Compares budgets and roll-ups with the records, in the embedded database of a stopped product. */
export async function verifyStoredLedger(dataDir: string): Promise<Verification> {
  const settings = { databaseUrl: null, dbPoolSize: 1, dataDir };
  const database = await openDatabase(settings, { entities, migrations }, newMemoryLog());
  try {
    return await verifyLedger(database.em(), { all: null, earlier: [] });
  } finally {
    await database.close();
  }
}
