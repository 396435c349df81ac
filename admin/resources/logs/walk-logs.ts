import type { Clock } from '../../../core/contract/values/time/clock.ts';
import { dayMs, hourMs, minuteMs } from '../../../core/contract/values/time/durations.ts';
import { isStatementLate } from '../../database-problem.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { AdminError } from '../../http/errors.ts';
import type { StoredRecord } from './entity.ts';
import type { Condition } from './filters.ts';
import { cursorAt, isCursorAtTime, type ListedLogs, type LogPage, listLogs, positionOf, toPage } from './list-logs.ts';
import { logConditions } from './log-conditions.ts';
import type { LogQuery } from './seen-logs.ts';

/** Milliseconds that one statement may take before it is repeated over less time. */
const statementMs = 500;
/** The same for a page that skips records. Below the time limit of statements of the driver, so that the error is that of the server. */
const skippingMs = 1_800;
/** Milliseconds after which a page ends. With the statement before them, below the time limit of requests of the admin API. */
const pageMs = 1_000;
/** Length of the first slice, bounds of the length, and the length from which a slice has no beginning. */
const [firstMs, leastMs, endlessMs] = [hourMs, minuteMs / 60, 4_000 * dayMs];
/** A slice that took less is followed by a longer one, and one that took more by a shorter one. */
const [quickMs, slowMs] = [100, 250];

export interface WalkOptions {
  /** True: statements have no time limit in this database, so the first one reads a slice, unless an index serves the filters. */
  readonly isEmbedded: boolean;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
}

/**
 * Returns a page of records, newest first, that may hold fewer records than its size while `next` is not null. If one statement over the whole
 * time is late, because few records match the filters, slices of time are read, newest first, and the page ends after a second. Rejects with
 * the error of the database if not even a slice of a second is read in time, or if records are to be skipped.
 */
export async function walkLogs(em: EntityManager, query: LogQuery, page: LogPage, options: WalkOptions): Promise<ListedLogs> {
  const conditions = logConditions(query);
  const limited = withinTime(em, statementMs);
  if (page.offset > 0) return listAfterSkipped(withinTime(em, skippingMs), conditions, page);
  const isSliced = isCursorAtTime(page.after) || (options.isEmbedded && isUnserved(query));
  if (!isSliced) {
    try {
      return await listLogs(limited, conditions, page);
    } catch (error) {
      if (!isStatementLate(error)) throw error;
    }
  }
  return readSlices(limited, query, conditions, page, options.clock);
}

/** A page that ends early has fewer logs than the next one would skip, so these pages are whole. */
async function listAfterSkipped(em: EntityManager, conditions: readonly Condition[], page: LogPage): Promise<ListedLogs> {
  try {
    return await listLogs(em, conditions, page);
  } catch (error) {
    if (!isStatementLate(error)) throw error;
    throw new AdminError(
      'AB10',
      'current_page: the database did not reply in time. Use cursor, the next_cursor of the previous page, or shorten the time range',
    );
  }
}

/** Returns a fork whose statements the server ends after this time. The embedded database has no timers and does not end them. */
export function withinTime(em: EntityManager, ms: number): EntityManager {
  const fork = em.fork();
  fork.setSessionContext({ variables: { statement_timeout: String(ms) } });
  return fork;
}

/** True if filters are set and no index finds the records of any. */
function isUnserved({ filters, workspaceId, id, ofUser }: LogQuery): boolean {
  if (id !== undefined || filters.trace_id !== undefined) return false;
  if (workspaceId !== null && (filters.configs ?? filters.virtual_keys ?? filters.prompt_slug) !== undefined) return false;
  const { time_of_generation_min: _, time_of_generation_max: __, ...others } = filters;
  return ofUser !== null || Object.values(others).some((value) => value !== undefined);
}

async function readSlices(
  em: EntityManager,
  { filters, until }: LogQuery,
  conditions: readonly Condition[],
  { size, after }: LogPage,
  clock: WalkOptions['clock'],
): Promise<ListedLogs> {
  const endsAtMs = clock.elapsed() + pageMs;
  const leastTimeMs = filters.time_of_generation_min?.getTime() ?? Number.NEGATIVE_INFINITY;
  const found: StoredRecord[] = [];
  // One record more than the page shows that another page follows.
  const wanted = size + 1;
  let cursor = after;
  let lengthMs = firstMs;
  let isRead = false;
  for (;;) {
    const newestMs = (cursor === null ? (filters.time_of_generation_max ?? until) : positionOf(cursor).createdAt)?.getTime();
    const startMs = Math.floor((newestMs ?? clock.now()) - lengthMs);
    const isLast = startMs <= leastTimeMs || lengthMs >= endlessMs;
    const slice = isLast ? conditions : [...conditions, { text: 'r.created_at >= ?', values: [new Date(startMs)] }];
    const beganMs = clock.elapsed();
    try {
      const { rows } = await listLogs(em, slice, { size: wanted - found.length, offset: 0, after: cursor });
      found.push(...rows);
      isRead = true;
      if (isLast || found.length === wanted) return toPage(found, size);
      cursor = cursorAt(startMs);
    } catch (error) {
      const canShrink = lengthMs > leastMs && clock.elapsed() < endsAtMs;
      if (!isStatementLate(error) || !(isRead || canShrink)) throw error;
      lengthMs = Math.max(leastMs, lengthMs / 16);
      if (canShrink) continue;
    }
    const tookMs = clock.elapsed() - beganMs;
    if (clock.elapsed() >= endsAtMs) return { rows: found, next: cursor };
    if (tookMs < quickMs) lengthMs *= 4;
    else if (tookMs > slowMs) lengthMs = Math.max(leastMs, lengthMs / 2);
  }
}
