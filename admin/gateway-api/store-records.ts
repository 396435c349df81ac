import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';
import type { RecordsReply } from '../../core/contract/protocol/internal-api.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import type { Clock } from '../../core/contract/values/time/clock.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import type { NewRecord, RecordWriter } from '../define-resource.ts';
import { AdminError } from '../http/errors.ts';
import { isDatabaseAway } from '../is-database-away.ts';
import { discardedCallsOf, priceRecord, priceWhole, savedCallOf } from '../pricing/price-record.ts';
import { readPricing } from '../resources/integrations/models/read-pricing.ts';
import { joinClientSpans, joinStoredSpans } from './join-client-spans.ts';
import { parseBatch } from './parse-batch.ts';
import { insertRows, newestOf, type RecordRow, replaceCheckpoints, withoutStoredCopies } from './record-rows.ts';

/**
 * Stores valid records, each once. `json` is their JSON array if the caller has it. `begin` runs in the transaction before them. Throws the
 * error of `begin`, and the database's error if it is temporary, and stores none of them.
 */
export type StoreRecords = (records: readonly RequestRecord[], json?: string, begin?: Begin) => Promise<Stored>;

type Begin = (tx: EntityManager) => Promise<void>;

/**
 * Stores a batch. Each record is stored once, however often it is sent. A record that can never be stored is listed in `rejected`
 * and does not block others. Its reason is logged, without values. Throws AB01 if the batch is not a JSON array, and the database's error if it
 * is unreachable.
 */
export async function storeBatch(storeRecords: StoreRecords, bytes: Uint8Array, log: Pick<Log, 'warn'>): Promise<RecordsReply> {
  const { records, rejected, issues, json } = parseBatch(bytes);
  const stored = await storeRecords(records, rejected.length === 0 ? json : undefined);
  const all = [...rejected, ...stored.refused];
  const reasons = new Set([...issues, ...(stored.reasons ?? [])]);
  if (all.length > 0)
    log.warn({ ids: all.slice(0, 20), count: all.length, reasons: [...reasons].slice(0, 5) }, 'could not store records');
  return { inserted: stored.inserted, duplicates: stored.duplicates, rejected: all };
}

/**
 * Returns a function that prices records, stores them, and runs the writers on the new ones in the same transaction. `onStored` is called
 * with the new ones after the commit and must not throw.
 */
export function createRecordStore(
  database: Database,
  writers: readonly RecordWriter[],
  clock: Pick<Clock, 'now'>,
  onStored: (rows: readonly NewRecord[]) => void = () => {},
): StoreRecords {
  return async (sent, json, begin) => {
    if (sent.length === 0) return { inserted: 0, duplicates: 0, refused: [] };
    const em = database.em();
    const records = await joinClientSpans(em, sent);
    const savedCalls = records.map(savedCallOf);
    const further = [...savedCalls.filter((call) => call !== null), ...records.flatMap(discardedCallsOf)];
    const pricingOf = await readPricing(em, [...records, ...further]);
    const rows = records.map((record, at): RecordRow => {
      const { costNanoUsd, source, record: priced } = priceWhole(record, pricingOf);
      const call = savedCalls[at];
      const saved = call ? priceRecord(call, pricingOf(call)).costNanoUsd : null;
      return { id: record.id, cost: costNanoUsd, source, record: priced, ...(saved === null ? undefined : { saved }) };
    });
    let first = begin;
    const insertAll = async (some: readonly RecordRow[], text?: string) => {
      const stored = await insert(em, some, text ?? null, writers, clock.now(), first);
      first = undefined;
      onStored(stored);
      return stored.length;
    };
    const storeAll = async (): Promise<Stored> => {
      try {
        const isSent = rows.every(({ record }, at) => record === sent[at]);
        const inserted = await insertAll(rows, isSent ? json : undefined);
        return { inserted, duplicates: rows.length - inserted, refused: [] };
      } catch (error) {
        if (isOfBatch(error) || error instanceof AdminError) throw error;
        return storeOneByOne(insertAll, rows);
      }
    };
    const stored = await storeAll();
    await joinStoredSpans(em, records, writers, clock.now());
    return stored;
  };
}

/** True if every record of the batch would fail: the database is unreachable, or another transaction got in the way. */
function isOfBatch(error: unknown): boolean {
  const code = codeOf(error);
  return conflictCodes.has(code) || (isDatabaseAway(error) && code !== statementTimeout);
}

/** The statement for the whole batch took too long. Those for single records are shorter. */
const statementTimeout = '57014';

/** Serialization failure, deadlock, lock timeout. */
const conflictCodes: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);

/** True if the record can never be stored: the database rejected its values, or this program could not handle it. */
function isOfRecord(error: unknown): boolean {
  if (isOfBatch(error)) return false;
  const code = codeOf(error);
  return !sqlState.test(code) || rejectedValues.test(code);
}

const sqlState = /^[0-9A-Z]{5}$/;

/** Classes of PostgreSQL's errors: cardinality violation, data exception, integrity constraint violation, program limit exceeded. */
const rejectedValues = /^(21|22|23|54)/;

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}

/** The text of an error may contain values of the record. */
function refusalOf(error: unknown): string {
  const code = codeOf(error);
  return sqlState.test(code) ? `the database rejected it with code ${code}` : `it caused a ${(error as Error).name}`;
}

interface Stored {
  readonly inserted: number;
  readonly duplicates: number;
  /** Ids of records that the database will never accept. */
  readonly refused: readonly string[];
  /** The reason for each of these, without values. Absent: none was refused. */
  readonly reasons?: readonly string[];
}

/** Slow path, when the database rejected something in the batch: finds the record. */
async function storeOneByOne(
  insertAll: (rows: readonly RecordRow[]) => Promise<number>,
  rows: readonly RecordRow[],
): Promise<Stored> {
  const refused: string[] = [];
  const reasons: string[] = [];
  let inserted = 0;
  let duplicates = 0;
  for (const row of rows) {
    try {
      const count = await insertAll([row]);
      inserted += count;
      duplicates += 1 - count;
    } catch (error) {
      if (!isOfRecord(error)) throw error;
      refused.push(row.id);
      reasons.push(refusalOf(error));
    }
  }
  return { inserted, duplicates, refused, reasons };
}

/** Inserts the records and runs the writers in the same transaction. Returns those that were stored. `json` is the JSON array of `rows`. */
async function insert(
  em: EntityManager,
  rows: readonly RecordRow[],
  json: string | null,
  writers: readonly RecordWriter[],
  nowMs: number,
  begin?: Begin,
): Promise<NewRecord[]> {
  return em.fork().transactional(async (tx) => {
    await begin?.(tx);
    // For a session, the newest record counts. Copies of the same record are equal.
    const newest = await withoutStoredCopies(tx, newestOf(rows));
    const isWhole = json !== null && newest.length === rows.length;
    const inserted = await insertRows(tx, newest, isWhole ? json : JSON.stringify(newest.map(({ record }) => record)));
    const known = newest.filter(({ id }) => !inserted.has(id));
    const replaced = await replaceCheckpoints(tx, known);
    const stored = [...newest.filter(({ id }) => inserted.has(id)), ...replaced];
    if (stored.length === 0) return stored;
    for (const write of writers) await write(tx, stored, nowMs);
    return stored;
  });
}
