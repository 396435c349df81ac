import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject } from '../../../core/contract/values/json/json.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type ContentServices, forRequest, type LogContent, openContent, readSealed } from './contents.ts';
import type { StoredRecord } from './entity.ts';
import { cursorOf, type ListedLogs, type LogPage } from './list-logs.ts';
import type { LogStore } from './log-store.ts';
import type { LogQuery } from './seen-logs.ts';

/** Maximum number of records whose bodies one page opens. */
const openedMax = 1_000;
/** Milliseconds after which a page ends. Below the deadline of requests of the admin API. */
const pageMs = 1_000;
/** Records that are read at the same time. The stored bodies of one may have a megabyte. */
const groupRows = 10;

/**
 * Returns records whose stored bodies contain all words, newest first. Bodies are sealed and have no index, so each is opened. The page ends
 * after 1,000 bodies or a second: it may hold fewer records than its size while `next` is not null. Rejects with ObjectStoreError if bodies
 * are in the object store and it does not reply, because the result would not be complete.
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
  const endsAtMs = performance.now() + pageMs;
  let cursor = after;
  for (let opened = 0; opened < openedMax; opened += groupRows) {
    const group = await store.listWithContents(query, { size: groupRows, offset: 0, after: cursor });
    const last = await oneAtATime(async () => {
      const sealed = await readSealed(em, forRequest(services).objects, query.organisationId, group.rows);
      for (const row of group.rows) {
        const bytes = sealed.get(row.id);
        const content = bytes && (await openContent(em, services.vault, query.organisationId, row.id, bytes));
        if (content && containsAll(content, words)) found.push(row);
        if (found.length === size || performance.now() > endsAtMs) return row;
        // Opening a large body takes milliseconds, in which no other request runs.
        await nextTurn();
      }
      return null;
    });
    if (last !== null) return { rows: found, next: last === group.rows.at(-1) ? group.next : cursorOf(last) };
    cursor = group.next;
    if (cursor === null) break;
  }
  return { rows: found, next: cursor };
}

let lastGroup: Promise<unknown> = Promise.resolve();

/** Runs the work when that of earlier calls has ended, so that searches together hold the bodies of one group, and leave time to others. */
function oneAtATime<Result>(work: () => Promise<Result>): Promise<Result> {
  const result = lastGroup.then(work);
  lastGroup = result.catch(() => {});
  return result;
}

function wordsOf(search: string): string[] {
  return search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

function containsAll({ request, response }: LogContent, words: readonly string[]): boolean {
  const texts: string[] = [];
  addTexts(request.body, texts);
  addTexts(response.body, texts);
  const text = texts.join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Adds the texts of a JSON value, without the names of its fields. */
function addTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (Array.isArray(value)) for (const one of value) addTexts(one, texts);
  else if (isObject(value)) for (const one of Object.values(value)) addTexts(one, texts);
}
