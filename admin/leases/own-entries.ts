import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { executeBound } from '../db/execute-bound.ts';
import type { EntityManager } from '../db/open-database.ts';

/** Amount that a record used of a budget in one window. */
export interface OwnEntry {
  readonly recordId: string;
  readonly key: string;
  readonly organisationId: string;
  /** Time of the record. */
  readonly createdAt: string;
  readonly startMs: number;
  /** Tokens, requests or nano-USD. */
  readonly amount: number;
}

/**
 * Returns true if the entries of a record are stored separately. The record itself states its usage of each window, except for sessions,
 * whose usage may belong to several windows, and for reservations without a window.
 */
export function hasOwnEntries({ session }: RequestRecord, startMs: number): boolean {
  return (session !== undefined && session !== null) || startMs === 0;
}

/** Adds to the entries of records that are stored apart. */
export async function noteEntries(tx: EntityManager, ...lists: readonly (readonly OwnEntry[])[]): Promise<void> {
  const sent = lists.flat().filter(({ amount }) => amount !== 0);
  if (sent.length === 0) return;
  await executeBound(
    tx,
    `insert into limit_entries as e (record_id, key, start_ms, organisation_id, created_at, amount)
     select "recordId", key, "startMs", "organisationId", "createdAt", sum(amount)
     from jsonb_to_recordset($1::jsonb) as a("recordId" uuid, key text, "startMs" bigint, "organisationId" uuid, "createdAt" timestamptz,
       amount bigint)
     group by "recordId", key, "startMs", "organisationId", "createdAt"
     on conflict (record_id, key, start_ms) do update set amount = e.amount + excluded.amount`,
    [JSON.stringify(sent)],
  );
}
