import type { Grant, RateAsk } from '../../core/contract/leases.ts';
import type { EntityManager } from '../db/open-database.ts';
import { grantOf } from './share.ts';

interface WindowRow {
  readonly key: string;
  readonly start_ms: number | string;
  readonly handed_out: number | string;
}

/**
 * Hands out units of rate limits, each unit of a window once: the rows are locked, in the order of their keys, from the first
 * statement to the commit. Must run inside a transaction; every key at most once.
 */
export async function grantRates(tx: EntityManager, asks: readonly RateAsk[]): Promise<Grant[]> {
  if (asks.length === 0) return [];
  const rows = await tx.execute<WindowRow[]>(
    `insert into limit_windows (key, start_ms, organisation_id, end_ms)
     select key, "startMs", "organisationId", "startMs" + "lengthMs"
     from jsonb_to_recordset(?::jsonb) as a(key text, "startMs" bigint, "organisationId" uuid, "lengthMs" bigint)
     order by key
     on conflict (key, start_ms) do update set end_ms = excluded.end_ms
     returning key, start_ms, handed_out`,
    [JSON.stringify(asks)],
    'all',
  );
  const handedOut = new Map(rows.map((row) => [`${row.key} ${row.start_ms}`, Number(row.handed_out)]));
  const grants = asks.map((ask) => {
    const before = Math.max(0, (handedOut.get(`${ask.key} ${ask.startMs}`) ?? 0) - ask.give);
    const units = grantOf(ask.capacity - before, ask);
    const after = before + units;
    return {
      after,
      grant: {
        key: ask.key,
        startMs: ask.startMs,
        endMs: ask.startMs + ask.lengthMs,
        units,
        remaining: Math.max(0, ask.capacity - after),
        leaseMs: null,
      },
    };
  });
  const changed = grants.map(({ after, grant }) => ({ key: grant.key, startMs: grant.startMs, after }));
  await tx.execute(
    `update limit_windows w set handed_out = a.after
     from jsonb_to_recordset(?::jsonb) as a(key text, "startMs" bigint, after bigint)
     where w.key = a.key and w.start_ms = a."startMs"`,
    [JSON.stringify(changed)],
    'run',
  );
  return grants.map(({ grant }) => grant);
}
