import { isUuid } from '../../../core/contract/values/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
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

/** Returns a page of records, newest first, and the cursor of the next page; null: this is the last one. */
export async function listLogs(
  em: EntityManager,
  conditions: readonly Condition[],
  { size, offset, after }: LogPage,
): Promise<{ readonly rows: readonly StoredRecord[]; readonly next: string | null }> {
  const { text, values } = allOf(after === null ? conditions : [...conditions, beforeCursor(after)]);
  const found = await em
    .createQueryBuilder(requestRecords, 'r')
    .where(text, [...values])
    .orderBy({ createdAt: 'desc', id: 'desc' })
    .limit(size + 1)
    .offset(offset)
    .getResult();
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
export function cursorOf({ createdAt, id }: StoredRecord): string {
  return Buffer.from(`${createdAt.toISOString()} ${id}`).toString('base64url');
}

function beforeCursor(cursor: string): Condition {
  const [time = '', id = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const createdAt = new Date(time);
  if (Number.isNaN(createdAt.getTime()) || !isUuid(id)) throw invalid('cursor: the next_cursor of an earlier page is expected');
  return { text: '(r.created_at, r.id) < (?, ?::uuid)', values: [createdAt, id] };
}
