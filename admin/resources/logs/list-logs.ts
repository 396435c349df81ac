import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { plainRows } from '../../db/plain-rows.ts';
import { invalid } from '../../http/errors.ts';
import { requestRecords, type StoredRecord } from './entity.ts';
import { allOf, type Condition } from './filters.ts';

export interface LogPage {
  readonly size: number;
  /** Number of records to skip. */
  readonly offset: number;
  /** Cursor of the previous page; null: the first page. */
  readonly after: string | null;
}

/** A page of records, and the cursor of the next page; null: this is the last one. */
export interface ListedLogs {
  readonly rows: readonly StoredRecord[];
  readonly next: string | null;
}

/** Returns a page of records, newest first. */
export async function listLogs(
  em: EntityManager,
  conditions: readonly Condition[],
  { size, offset, after }: LogPage,
): Promise<ListedLogs> {
  const { text, values } = allOf(after === null ? conditions : [...conditions, beforeCursor(after)]);
  const found = await plainRows<StoredRecord>(
    em
      .createQueryBuilder(requestRecords, 'r')
      .where(text, [...values])
      .orderBy({ createdAt: 'desc', id: 'desc' })
      .limit(size + 1)
      .offset(offset),
  );
  return toPage(found, size);
}

/** Splits one row more than the size of a page into the page and the cursor of the next one. */
export function toPage(found: readonly StoredRecord[], size: number): ListedLogs {
  const rows = found.slice(0, size);
  return { rows, next: found.length > size ? cursorOf(rows.at(-1) as StoredRecord) : null };
}

/** Returns the number of records, at most `max`. */
export async function countLogs(em: EntityManager, conditions: readonly Condition[], max: number | null = null): Promise<number> {
  const { text, values } = allOf(conditions);
  const [row] = await em.execute<[{ count: number | string }]>(
    `select count(*) as count from (select from request_records r where ${text} limit ?) matching`,
    [...values, max],
  );
  return Number(row.count);
}

/** Returns the cursor of the records after this one. Times of records are in whole milliseconds, so the ISO form is exact. */
export function cursorOf({ createdAt, id }: Pick<StoredRecord, 'createdAt' | 'id'>): string {
  return Buffer.from(`${createdAt.toISOString()} ${id}`).toString('base64url');
}

/** Id of a cursor that is a time: no record has a smaller one, so the records before the time follow. */
const leastId = '00000000-0000-0000-0000-000000000000';

/** Returns the cursor of the records before this time. */
export function cursorAt(ms: number): string {
  return cursorOf({ createdAt: new Date(ms), id: leastId });
}

/** True for a cursor made by `cursorAt`. Throws AB01 for a text that is no cursor. */
export function isCursorAtTime(cursor: string | null): boolean {
  return cursor !== null && positionOf(cursor).id === leastId;
}

/** Returns the position after which a page begins. Throws AB01 for a text that is no cursor. */
export function positionOf(cursor: string): { readonly createdAt: Date; readonly id: string } {
  const [time = '', id = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const createdAt = new Date(time);
  if (Number.isNaN(createdAt.getTime()) || !isUuid(id)) throw invalid('cursor: the next_cursor of an earlier page is expected');
  return { createdAt, id };
}

function beforeCursor(cursor: string): Condition {
  const { createdAt, id } = positionOf(cursor);
  // The first condition excludes the partitions of later days.
  return { text: 'r.created_at <= ? and (r.created_at, r.id) < (?, ?::uuid)', values: [createdAt, createdAt, id] };
}
