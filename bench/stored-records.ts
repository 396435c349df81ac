import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { until } from '../test/support/until.ts';

/** Waits until the gateways have nothing left to ship; the spool's files are empty or gone then. */
export async function untilShipped(dataDir: string, deadlineMs: number): Promise<void> {
  await until(() => spoolBytes(dataDir) === 0, { what: 'an empty spool: every record shipped', deadlineMs });
}

/** Bytes of records not yet confirmed by the control plane. Records it refused are in files of their own and do not count. */
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

/** How often each trace id that begins so is stored, read from the embedded database of a product that has been stopped. */
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
