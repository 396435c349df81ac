import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { dayMs } from '../../core/contract/values/time/durations.ts';
import { executeBound } from '../db/execute-bound.ts';
import type { EntityManager } from '../db/open-database.ts';
import { toNanoUsd } from '../pricing/nano-usd.ts';
import type { PriceSource } from '../pricing/price-record.ts';

/** A record with its price. */
export interface RecordRow {
  readonly id: string;
  /** Whole nano-USD. Null: unknown. */
  readonly cost: number | null;
  readonly source: PriceSource | null;
  /** Whole nano-USD that a cached reply saved. */
  readonly saved?: number;
  readonly record: RequestRecord;
}

/**
 * Stores the records that were not stored before, and returns which. `json` is the JSON array of the records, in the same order: the
 * database reads the text that a gateway sent, so that it is not encoded again. Rows
 * are inserted in the order of their ids, so that two deliveries of the same records never wait for each other.
 */
export async function insertRows(em: EntityManager, rows: readonly RecordRow[], json: string): Promise<ReadonlySet<string>> {
  const [added] = await executeBound<{ ids: string[] | null }>(
    em,
    `with added as (
       insert into request_records (id, organisation_id, workspace_id, trace_id, created_at, status, outcome, provider,
         provider_slug, model, config_slug, api_key_id, cost_micro_usd, cost_nano_rest, price_source, saved_nano, record, checkpoint)
       select (record->>'id')::uuid, (record->>'organisationId')::uuid, (record->>'workspaceId')::uuid, record->>'traceId',
         (record->>'createdAt')::timestamptz, (record->>'status')::int, record->>'outcome', record->>'provider',
         record->>'providerSlug', record->>'model', record->>'configSlug', record->>'apiKeyId', ${costColumns('')}, source, saved, record,
         (record->>'checkpoint')::bigint
       from rows from (jsonb_array_elements($1::jsonb), unnest($2::text::bigint[]), unnest($3::text::text[]),
         unnest($5::text::bigint[])) as sent(record, cost, source, saved)
       order by 1
       on conflict (id, created_at) do nothing returning id)
     select case when count(*) < $4::int then coalesce(array_agg(id::text), '{}') end as ids from added`,
    [
      ...[json, `{${rows.map(({ cost }) => cost ?? 'null')}}`, `{${rows.map(({ source }) => source ?? 'null')}}`, rows.length],
      `{${rows.map(({ saved }) => saved ?? 'null')}}`,
    ],
  );
  return new Set(added?.ids ?? rows.map(({ id }) => id));
}

/**
 * Leaves out records that are stored already with another time, so that their key does not recognise them: results of batches get a new time
 * each time they are read, and the span and the log record of a client's call have different ones. Must run inside a transaction, before
 * `insertRows`.
 */
export async function withoutStoredCopies(tx: EntityManager, rows: readonly RecordRow[]): Promise<readonly RecordRow[]> {
  const results = rows.flatMap(({ id, record }) => (record.batch?.part === 'result' ? [id] : []));
  const spans = rows.flatMap(({ record }) => (record.clientSpan ? [record] : []));
  if (results.length === 0 && spans.length === 0) return rows;
  // An export may have many spans, so its workspace is locked instead of each of them. Locks are held until the end of the transaction, and
  // taken in the same order by all.
  const locks = new Set([...results, ...spans.map(({ workspaceId }) => `spans/${workspaceId}`)]);
  for (const lock of [...locks].sort()) await executeBound(tx, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
  const read = (condition: string, ...values: readonly unknown[]) =>
    executeBound<{ id: string }>(tx, `select id from request_records where id = any($1::uuid[]) ${condition}`, values);
  const ids = spans.map(({ id }) => id);
  const stored = [
    ...(results.length === 0 ? [] : await read('', results)),
    ...(spans.length === 0 ? [] : await read('and created_at between $2 and $3', ids, ...timesAround(spans))),
  ];
  const known = new Set(stored.map(({ id }) => id));
  return rows.filter(({ id }) => !known.has(id));
}

/** Returns the times between which records of the same calls are: clocks of clients differ, and calls may be long. */
export function timesAround(records: readonly RequestRecord[]): Date[] {
  const times = records.map(({ createdAt }) => Date.parse(createdAt));
  return [new Date(Math.min(...times) - dayMs), new Date(Math.max(...times) + dayMs)];
}

/** Returns one row for each id: the final record, or the one with the highest checkpoint. */
export function newestOf(rows: readonly RecordRow[]): RecordRow[] {
  const newest = new Map<string, RecordRow>();
  for (const row of rows) {
    const known = newest.get(row.id);
    if (known === undefined || numberOf(row) > numberOf(known)) newest.set(row.id, row);
  }
  return [...newest.values()];
}

/**
 * Replaces the stored checkpoints of these sessions. Returns the rows that were newer, with the rows they replaced. Must run
 * inside a transaction, after `insertRows`: a concurrent insert of the same id has then committed.
 */
export async function replaceCheckpoints(
  tx: EntityManager,
  rows: readonly RecordRow[],
): Promise<(RecordRow & { before: { record: RequestRecord; cost: number | null } })[]> {
  const ofSessions = rows.filter(({ record }) => record.session);
  if (ofSessions.length === 0) return [];
  const known = await tx.execute<Known[]>(
    `select id, checkpoint, cost_micro_usd, cost_nano_rest, record from request_records
     where id in (select x::uuid from jsonb_array_elements_text(?::jsonb) x) and checkpoint is not null
     order by id for update`,
    [JSON.stringify(ofSessions.map(({ id }) => id))],
    'all',
  );
  const byId = new Map(known.map((row) => [row.id, row]));
  const newer = ofSessions.flatMap((row) => {
    const old = byId.get(row.id);
    if (!old || numberOf(row) <= Number(old.checkpoint)) return [];
    const cost = old.cost_micro_usd === null ? null : toNanoUsd(old.cost_micro_usd, old.cost_nano_rest);
    return [{ ...row, before: { record: old.record, cost } }];
  });
  if (newer.length > 0) await replaceRecords(tx, newer);
  return newer;
}

/** Replaces stored records and their prices. */
export async function replaceRecords(tx: EntityManager, rows: readonly RecordRow[]): Promise<void> {
  await tx.execute(
    `update request_records r set status = (sent.record->>'status')::int, outcome = sent.record->>'outcome',
       provider = sent.record->>'provider', provider_slug = sent.record->>'providerSlug', model = sent.record->>'model',
       (cost_micro_usd, cost_nano_rest) = row(${costColumns('sent.')}), price_source = sent.source, record = sent.record,
       checkpoint = (sent.record->>'checkpoint')::bigint
     from jsonb_to_recordset(?::jsonb) as sent(id uuid, cost bigint, source text, record jsonb) where r.id = sent.id`,
    [JSON.stringify(rows.map(({ id, cost, source, record }) => ({ id, cost, source, record })))],
    'run',
  );
}

interface Known {
  readonly id: string;
  readonly checkpoint: number | string;
  readonly cost_micro_usd: number | string | null;
  readonly cost_nano_rest: number;
  readonly record: RequestRecord;
}

/** Splits a cost in nano-USD into its two columns. */
function costColumns(from: string): string {
  return `${from}cost / 1000, coalesce(${from}cost % 1000, 0)`;
}

/** The final record of a session comes after every checkpoint. */
function numberOf({ record }: RecordRow): number {
  return record.checkpoint ?? Number.POSITIVE_INFINITY;
}
