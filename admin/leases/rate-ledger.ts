import type { Grant, RateAsk } from '../../core/contract/protocol/limits/leases.ts';
import type { EntityManager } from '../db/open-database.ts';
import { grantOf } from './share.ts';

interface WindowRow {
  readonly key: string;
  readonly start_ms: number | string;
  readonly handed_out: number | string;
}

interface LeaseRow {
  readonly lease: string;
  readonly seq: number | string;
  readonly units: number | string;
  readonly start_ms: number | string;
}

/** A process that is cut off from the ledger may still settle a lease for this long after its window. */
const lateMs = 60_000;

/**
 * Grants units of rate limits, each unit of a window once. Locks the rows of the windows in the order of their keys, from the
 * first statement to the commit. Must run inside a transaction; every key at most once.
 */
export async function grantRates(tx: EntityManager, asks: readonly RateAsk[], holder: string | null): Promise<Grant[]> {
  if (asks.length === 0) return [];
  const windows = await tx.execute<WindowRow[]>(
    `insert into limit_windows (key, start_ms, organisation_id, end_ms)
     select key, "startMs", "organisationId", "startMs" + "lengthMs"
     from jsonb_to_recordset(?::jsonb) as a(key text, "startMs" bigint, "organisationId" uuid, "lengthMs" bigint)
     order by key
     on conflict (key, start_ms) do update set end_ms = excluded.end_ms
     returning key, start_ms, handed_out`,
    [JSON.stringify(asks)],
    'all',
  );
  const leases = await tx.execute<LeaseRow[]>(
    `select lease, seq, units, start_ms from limit_leases
     where lease in (select x::uuid from jsonb_array_elements_text(?::jsonb) x)`,
    [JSON.stringify(asks.map((ask) => ask.lease))],
    'all',
  );
  const handedOut = new Map(windows.map((row) => [`${row.key} ${row.start_ms}`, Number(row.handed_out)]));
  const byLease = new Map(leases.map((row) => [row.lease, row]));
  const granted = asks.map((ask) => grantOne(ask, handedOut.get(`${ask.key} ${ask.startMs}`) ?? 0, byLease.get(ask.lease)));
  await store(
    tx,
    granted.filter((one) => !one.isOvertaken),
    holder,
  );
  return granted.map(({ grant }) => grant);
}

interface Granted {
  readonly ask: RateAsk;
  readonly grant: Grant;
  /** Units of the window that are granted now. */
  readonly out: number;
  /** Units that the lease has now. */
  readonly units: number;
  /** True if the ledger has already processed a later ask about the previous lease. */
  readonly isOvertaken: boolean;
}

function grantOne(ask: RateAsk, handedOut: number, own: LeaseRow | undefined): Granted {
  const isOvertaken = own !== undefined && ask.seq <= Number(own.seq);
  const isNew = own === undefined || Number(own.start_ms) !== ask.startMs;
  const held = isNew ? 0 : ask.kept;
  const before = isOvertaken ? handedOut : Math.max(0, handedOut + held - (isNew ? 0 : Number(own.units)));
  const units = isOvertaken ? 0 : grantOf(ask.capacity - before, ask);
  const out = before + units;
  const grant = {
    key: ask.key,
    startMs: ask.startMs,
    endMs: ask.startMs + ask.lengthMs,
    units,
    remaining: Math.max(0, ask.capacity - out),
    leaseMs: null,
    isNew,
  };
  return { ask, grant, out, units: held + units, isOvertaken };
}

async function store(tx: EntityManager, granted: readonly Granted[], holder: string | null): Promise<void> {
  const rows = granted.map(({ ask, grant, out, units }) => ({
    key: ask.key,
    startMs: ask.startMs,
    out,
    lease: ask.lease,
    organisationId: ask.organisationId,
    seq: ask.seq,
    units,
    expiresMs: (grant.endMs as number) + lateMs,
  }));
  await tx.execute(
    `update limit_windows w set handed_out = a.out
     from jsonb_to_recordset(?::jsonb) as a(key text, "startMs" bigint, out bigint)
     where w.key = a.key and w.start_ms = a."startMs"`,
    [JSON.stringify(rows)],
    'run',
  );
  // A lease has one row, which follows its holder from window to window.
  await tx.execute(
    `insert into limit_leases (lease, key, organisation_id, seq, units, expires_ms, holder, start_ms)
     select lease, key, "organisationId", seq, units, "expiresMs", ?::uuid, "startMs"
     from jsonb_to_recordset(?::jsonb) as a(lease uuid, key text, "organisationId" uuid, seq bigint, units bigint,
       "expiresMs" bigint, "startMs" bigint)
     order by lease
     on conflict (lease) do update set seq = excluded.seq, units = excluded.units, expires_ms = excluded.expires_ms,
       settled = case when limit_leases.start_ms = excluded.start_ms then limit_leases.settled else 0 end,
       start_ms = excluded.start_ms`,
    [holder, JSON.stringify(rows)],
    'run',
  );
}
