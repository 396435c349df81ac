import { isObject } from '../../../core/contract/values/json/json.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type ContentServices, forRequest, type LogContent, readContents } from './contents.ts';
import type { StoredRecord } from './entity.ts';
import { cursorOf, type ListedLogs, type LogPage } from './list-logs.ts';
import type { LogStore } from './log-store.ts';
import type { LogQuery } from './seen-logs.ts';

/** Maximum number of records whose bodies one page opens. */
const openedMax = 1_000;
/** Records that are opened at the same time. */
const groupRows = 50;

/**
 * Returns records whose stored bodies contain all words, newest first. Bodies are sealed and have no index, so each is opened. The page ends
 * after 1,000 bodies: it may hold fewer records than its size while `next` is not null. Rejects with ObjectStoreError if bodies are in the
 * object store and it does not reply, because the result would not be complete.
 */
export async function searchLogs(
  em: EntityManager,
  services: Pick<ContentServices, 'vault' | 'objects'>,
  store: LogStore,
  query: LogQuery,
  { size, after }: Pick<LogPage, 'size' | 'after'>,
  search: string,
): Promise<ListedLogs> {
  const words = wordsOf(search);
  const found: StoredRecord[] = [];
  let cursor = after;
  for (let opened = 0; opened < openedMax; opened += groupRows) {
    const group = await store.listWithContents(query, { size: groupRows, offset: 0, after: cursor });
    const contents = await readContents(em, forRequest(services), query.organisationId, group.rows);
    for (const row of group.rows) {
      const content = contents.get(row.id);
      if (content && containsAll(content, words)) found.push(row);
      if (found.length === size) return { rows: found, next: row === group.rows.at(-1) ? group.next : cursorOf(row) };
    }
    cursor = group.next;
    if (cursor === null) break;
  }
  return { rows: found, next: cursor };
}

function wordsOf(search: string): string[] {
  return search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

function containsAll({ request, response }: LogContent, words: readonly string[]): boolean {
  const text = [...textsIn(request.body), ...textsIn(response.body)].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The texts of a JSON value, without the names of its fields. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const one of value) yield* textsIn(one);
  else if (isObject(value)) for (const one of Object.values(value)) yield* textsIn(one);
}
