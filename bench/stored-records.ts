import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseSettings, openDatabase } from '../admin/db/open-database.ts';
import { type Verification, verifyLedger } from '../admin/resources/ledger-entries/verify-ledger.ts';
import { entities, migrations } from '../admin/tables.ts';
import { newMemoryLog } from '../test/support/fakes/memory-log.ts';
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

/** Database of a product that has been stopped: on a server, or embedded in the data directory. */
type Stored = Pick<DatabaseSettings, 'databaseUrl' | 'dataDir'>;

/** Returns the outcomes of the stored records whose trace id begins with `beginning`, by trace id. */
export async function outcomesByTraceId(stored: Stored, beginning: string): Promise<Map<string, string[]>> {
  const database = await open(stored);
  try {
    const outcomes = new Map<string, string[]>();
    const query = 'select trace_id, outcome from request_records where starts_with(trace_id, ?)';
    const rows = await database.em().execute<{ trace_id: string; outcome: string }[]>(query, [beginning]);
    for (const { trace_id, outcome } of rows) outcomes.set(trace_id, [...(outcomes.get(trace_id) ?? []), outcome]);
    return outcomes;
  } finally {
    await database.close();
  }
}

/** Compares budgets and roll-ups with the records. */
export async function verifyStoredLedger(stored: Stored): Promise<Verification> {
  const database = await open(stored);
  try {
    return await verifyLedger(database.em(), { all: null, earlier: [] });
  } finally {
    await database.close();
  }
}

const open = (stored: Stored) => openDatabase({ ...stored, dbPoolSize: 1 }, { entities, migrations }, newMemoryLog());
