import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import { entrySources } from '../../leases/entry-sources.ts';
import { allOf, type Condition } from '../logs/filters.ts';

/** An entry, as drivers return it. */
export interface EntryRow {
  readonly log_id: string;
  readonly created_at: string;
  readonly trace_id: string;
  readonly api_key_id: string | null;
  readonly workspace_id: string | null;
  readonly model: string | null;
  readonly outcome: string;
  readonly key: string;
  readonly start_ms: number | string;
  readonly amount: number | string;
  readonly scope: string;
  readonly entity_id: string;
  readonly value_key: string | null;
  readonly unit: 'cost' | 'tokens' | 'requests';
  readonly is_current: boolean;
}

const columns = `r.id as log_id, to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at, r.trace_id, r.api_key_id,
  r.workspace_id, r.model, r.outcome, e.key, e.start_ms, b.scope, b.entity_id, b.value_key, b.unit, e.start_ms = b.start_ms as is_current`;

/** Returns a page of entries, newest first, and the cursor of the next page; null: this is the last one. */
export async function listEntries(
  em: EntityManager,
  conditions: readonly Condition[],
  { size, after }: { readonly size: number; readonly after: string | null },
): Promise<{ readonly rows: readonly EntryRow[]; readonly next: string | null }> {
  const { text, values } = allOf(after === null ? conditions : [...conditions, afterCursor(after)]);
  const found: EntryRow[] = [];
  for (const { from, where, amount } of Object.values(entrySources)) {
    const rows = await em.execute<EntryRow[]>(
      `select ${columns}, ${amount} as amount from ${from} where ${where} and ${text}
       order by r.created_at desc, r.id desc, e.key, e.start_ms limit ?`,
      [...values, size + 1],
    );
    found.push(...rows);
  }
  const rows = found.sort(compare).slice(0, size);
  return { rows, next: found.length > size ? cursorOf(rows.at(-1) as EntryRow) : null };
}

function compare(a: EntryRow, b: EntryRow): number {
  return (
    descending(a.created_at, b.created_at) ||
    descending(a.log_id, b.log_id) ||
    descending(b.key, a.key) ||
    Number(a.start_ms) - Number(b.start_ms)
  );
}

function descending(a: string, b: string): number {
  return a === b ? 0 : a < b ? 1 : -1;
}

function cursorOf({ created_at, log_id, key, start_ms }: EntryRow): string {
  return Buffer.from([created_at, log_id, start_ms, key].join(' ')).toString('base64url');
}

function afterCursor(cursor: string): Condition {
  const [time = '', id = '', startMs = '', ...rest] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const createdAt = new Date(time);
  if (Number.isNaN(createdAt.getTime()) || !isUuid(id) || !/^\d{1,15}$/.test(startMs)) {
    throw invalid('cursor: the next_cursor of an earlier page is expected');
  }
  return {
    text: `(r.created_at, r.id) <= (?, ?::uuid) and ((r.created_at, r.id) < (?, ?::uuid) or (e.key, e.start_ms) > (?, ?::bigint))`,
    values: [createdAt, id, createdAt, id, rest.join(' '), startMs],
  };
}
