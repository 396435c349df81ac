import { executeBound } from '../db/execute-bound.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { OwnEntry } from './own-entries.ts';

/** Usage of a record in a window that has ended. */
export interface LateUsage extends OwnEntry {
  /** Time of the request. It determines the window if `startMs` is 0. */
  readonly atMs: number;
  /** True if the entry is stored apart from its record. */
  readonly isOwn: boolean;
  /** Start of the current window, at which every earlier one has ended. */
  readonly currentMs: number;
}

/** Stores the current window of a budget as a past one that ends at `endMs` or earlier. */
export async function storePastWindow(tx: EntityManager, key: string, endMs: number): Promise<void> {
  await executeBound(
    tx,
    `insert into limit_past_windows (key, start_ms, organisation_id, end_ms, amount)
     select key, start_ms, organisation_id, least(end_ms, $2::bigint), case when unit = 'cost' then used * 1000 + used_nano_rest else used end
     from limit_budgets where key = $1 and (used > 0 or used_nano_rest > 0)
     on conflict (key, start_ms) do update set amount = limit_past_windows.amount + excluded.amount`,
    [key, endMs],
  );
}

/** Adds usage to the windows that it belongs to. Returns the entries that are stored apart, with their windows; 0: unknown. */
export async function addLateUsage(tx: EntityManager, late: readonly LateUsage[]): Promise<OwnEntry[]> {
  const sent = late.filter(({ amount }) => amount !== 0);
  if (sent.length === 0) return [];
  const placed = await placeInWindows(tx, sent);
  const known = placed.filter(({ startMs }) => startMs !== 0);
  if (known.length > 0) {
    await executeBound(
      tx,
      `insert into limit_past_windows as w (key, start_ms, organisation_id, end_ms, amount)
       select key, "startMs", "organisationId", max("currentMs"), sum(amount)
       from jsonb_to_recordset($1::jsonb) as a(key text, "startMs" bigint, "organisationId" uuid, "currentMs" bigint, amount bigint)
       group by key, "startMs", "organisationId" order by key, "startMs"
       on conflict (key, start_ms) do update set amount = w.amount + excluded.amount`,
      [JSON.stringify(known)],
    );
  }
  return placed.filter(({ isOwn }) => isOwn);
}

/** Finds the windows of usage that states none: the last one that began before the request. */
async function placeInWindows(tx: EntityManager, late: readonly LateUsage[]): Promise<LateUsage[]> {
  const open = late.filter(({ startMs }) => startMs === 0);
  if (open.length === 0) return [...late];
  const found = await executeBound<{ start_ms: number | string | null }>(
    tx,
    `select (select max(w.start_ms) from limit_past_windows w where w.key = one->>'key' and w.start_ms <= (one->>'atMs')::bigint) as start_ms
     from jsonb_array_elements($1::jsonb) with ordinality as sent(one, at) order by at`,
    [JSON.stringify(open)],
  );
  const placed = open.map((one, at) => ({ ...one, startMs: Number(found[at]?.start_ms ?? 0) }));
  return [...late.filter(({ startMs }) => startMs !== 0), ...placed];
}
