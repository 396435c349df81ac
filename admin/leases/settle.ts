import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { rateKeyPrefix } from '../../core/contract/protocol/limits/leases.ts';
import { totalTokens } from '../../core/contract/values/models/usage.ts';
import type { EntityManager } from '../db/open-database.ts';
import { nanoPerMicro } from '../pricing/nano-usd.ts';
import { type BudgetRow, beginAnew, usedUnits } from './budget-ledger.ts';
import { ruleOf, windowAt } from './budget-window.ts';
import { markExhausted } from './entity-state.ts';
import { hasOwnEntries, noteEntries, type OwnEntry } from './own-entries.ts';
import { addLateUsage, type LateUsage } from './past-windows.ts';

/** A newly stored record with its cost. */
export interface Settled {
  readonly record: RequestRecord;
  /** Whole nano-USD. Null: unknown, which counts as zero. */
  readonly cost: number | null;
  /** Earlier record of the same session, which is already settled. */
  readonly before?: Omit<Settled, 'before'>;
}

/** Effect of one record on one budget. */
interface Entry {
  readonly record: RequestRecord;
  readonly key: string;
  /** Start of the window. 0: the window is determined by the time of the request. */
  readonly startMs: number;
  readonly atMs: number;
  readonly lease: string | null;
  /** Units of the lease that the gateway counted as used. */
  readonly reserved: number;
  readonly tokens: number;
  readonly requests: number;
  /** Nano-USD. */
  readonly cost: number;
}

/**
 * Replaces the reservations of requests with their actual usage. Must run in the transaction that stores the records, so that
 * each counts once. Marks budgets that cross their threshold or their limit.
 */
export async function settleRecords(tx: EntityManager, stored: readonly Settled[], nowMs: number): Promise<void> {
  const all = stored.flatMap((one) => entriesOf(one, nowMs));
  if (all.length === 0) return;
  const isRate = ({ key }: Entry): boolean => key.startsWith(rateKeyPrefix);
  const ofBudgets = await settleBudgets(
    tx,
    stored,
    all.filter((entry) => !isRate(entry)),
    nowMs,
  );
  await settleLeases(tx, [...all.filter(isRate), ...ofBudgets]);
}

/** Adds the usage to the budgets, and returns the entries that count in the current windows. */
async function settleBudgets(
  tx: EntityManager,
  stored: readonly Settled[],
  entries: readonly Entry[],
  nowMs: number,
): Promise<Entry[]> {
  if (entries.length === 0) return [];
  await noteBudgets(tx, stored, nowMs);
  const rows = await tx.execute<BudgetRow[]>(
    `select * from limit_budgets where key in (select * from jsonb_array_elements_text(?::jsonb)) order by key for update`,
    [JSON.stringify([...new Set(entries.map((entry) => entry.key))])],
    'all',
  );
  const counted: Entry[] = [];
  const late: LateUsage[] = [];
  const own: OwnEntry[] = [];
  for (const row of rows) {
    const ofRow = entries.filter((entry) => entry.key === row.key);
    const added = await addUsage(tx, row, ofRow);
    counted.push(...added.counted);
    late.push(...added.late);
    own.push(...added.own);
  }
  await noteEntries(tx, own, await addLateUsage(tx, late));
  return counted;
}

/** Adds the units of each lease that records have reported. A lease of a rate limit may belong to a later window by now. */
async function settleLeases(tx: EntityManager, entries: readonly Entry[]): Promise<void> {
  const byLease = new Map<string, { lease: string; startMs: number; units: number }>();
  for (const { lease, startMs, reserved } of entries) {
    if (lease === null) continue;
    const id = `${lease} ${startMs}`;
    const known = byLease.get(id);
    if (known) known.units += reserved;
    else byLease.set(id, { lease, startMs, units: reserved });
  }
  if (byLease.size === 0) return;
  // Locked in the order in which grants lock them.
  await tx.execute(
    `with reported as (
       select lease, "startMs", units from jsonb_to_recordset(?::jsonb) as a(lease uuid, "startMs" bigint, units bigint)
     ), locked as (
       select l.lease, r.units from limit_leases l join reported r on r.lease = l.lease
       where l.start_ms is null or l.start_ms = r."startMs" order by l.lease for update of l
     )
     update limit_leases l set settled = l.settled + s.units
     from (select lease, sum(units) as units from locked group by lease) s where l.lease = s.lease`,
    [JSON.stringify([...byLease.values()])],
    'run',
  );
}

interface Added {
  /** Entries of the current window. */
  counted: Entry[];
  /** Entries of windows that have ended: they do not count in the current one. */
  readonly late: LateUsage[];
  /** Entries of the current window that are stored apart from their records. */
  readonly own: OwnEntry[];
}

/** Adds the usage of the current window, and sorts the entries by their windows. */
async function addUsage(tx: EntityManager, known: BudgetRow, entries: readonly Entry[]): Promise<Added> {
  const added: Added = { counted: [], late: [], own: [] };
  let row = known;
  let used = 0;
  for (const entry of entries) {
    const { record, startMs, atMs } = entry;
    const one = { recordId: record.id, key: row.key, organisationId: row.organisation_id, createdAt: record.createdAt };
    const amount = entry[row.unit];
    const isOwn = hasOwnEntries(record, startMs);
    const window = startMs === 0 ? windowAt(row, atMs) : { isNew: false, startMs, endMs: null };
    if (window?.isNew) {
      if (used !== 0) await addUsed(tx, row, used);
      await beginAnew(tx, row, window);
      row = { ...row, start_ms: window.startMs, end_ms: window.endMs, used: 0, used_nano_rest: 0 };
      used = 0;
      added.counted = [];
    }
    if (window === null || window.startMs !== Number(row.start_ms)) {
      added.late.push({ ...one, startMs, atMs, amount, isOwn, currentMs: Number(row.start_ms) });
      continue;
    }
    used += amount;
    added.counted.push(entry);
    if (isOwn) added.own.push({ ...one, startMs: window.startMs, amount });
  }
  if (used !== 0) await addUsed(tx, row, used);
  return added;
}

/** `amount`: tokens, requests or nano-USD. */
async function addUsed(tx: EntityManager, row: BudgetRow, amount: number): Promise<void> {
  const sum = sumOf(row, amount);
  const before = usedUnits(row);
  const after = usedUnits(sum);
  const threshold = row.alert_threshold === null ? Number.POSITIVE_INFINITY : Number(row.alert_threshold);
  const crossed = (limit: number): boolean => before < limit && after >= limit;
  await tx.execute(
    `update limit_budgets set used = ?, used_nano_rest = ?,
       threshold_crossed_at = case when ? then coalesce(threshold_crossed_at, now()) else threshold_crossed_at end,
       exhausted_at = case when ? then now() else exhausted_at end,
       exhausted_told_at = case when ? and exhausted_at is null then null else exhausted_told_at end
     where key = ?`,
    [sum.used, sum.used_nano_rest, after >= threshold, crossed(Number(row.capacity)), crossed(Number(row.capacity)), row.key],
    'run',
  );
  if (crossed(Number(row.capacity))) await markExhausted(tx, row);
}

/** The amount can be negative, because a price can fall while a session is open. */
function sumOf(row: BudgetRow, amount: number): { used: number; used_nano_rest: number } {
  const perUnit = row.unit === 'cost' ? nanoPerMicro : 1;
  const carried = row.used_nano_rest + amount;
  const units = Math.floor(carried / perUnit);
  const used = Number(row.used) + units;
  if (used < 0) return { used: 0, used_nano_rest: 0 };
  return { used: Math.min(used, Number.MAX_SAFE_INTEGER), used_nano_rest: Math.floor(carried - units * perUnit) };
}

/** Creates rows for budgets whose first usage happened while the ledger was unreachable. */
async function noteBudgets(tx: EntityManager, stored: readonly Settled[], nowMs: number): Promise<void> {
  const unknown = stored.flatMap(({ record }) =>
    (record.reservations ?? []).flatMap(({ key, budget }) =>
      budget
        ? [{ ...budget, key, organisationId: record.organisationId, startMs: timeOf(record, nowMs), rule: ruleOf(budget) }]
        : [],
    ),
  );
  if (unknown.length === 0) return;
  await tx.execute(
    `insert into limit_budgets (key, organisation_id, scope, entity_id, value_key, unit, start_ms, capacity, alert_threshold, rule)
     select key, "organisationId", scope, "entityId", "valueKey", unit, "startMs", capacity, "alertThreshold", rule
     from jsonb_to_recordset(?::jsonb) as a(key text, "organisationId" uuid, scope text, "entityId" text, "valueKey" text,
       unit text, "startMs" bigint, capacity bigint, "alertThreshold" bigint, rule jsonb)
     order by key, "startMs"
     on conflict (key) do nothing`,
    [JSON.stringify(unknown)],
    'run',
  );
}

function entriesOf({ record, cost, before }: Settled, nowMs: number): Entry[] {
  const reservations = record.reservations ?? [];
  const tokens = totalTokens(record) - (before ? totalTokens(before.record) : 0);
  const isInterrupted = record.outcome === 'interrupted';
  const costs = (cost ?? 0) - (before?.cost ?? 0);
  return reservations.map(({ key, lease, startMs, units }, at) => {
    // If a budget has several leases, the last one is the one in use.
    const isLast = !reservations.slice(at + 1).some((later) => later.key === key);
    const settled = before?.record.reservations?.find((one) => one.key === key && one.lease === lease && one.startMs === startMs);
    // The end of the call is unknown, so everything that was reserved for it counts as used.
    const spent = isInterrupted
      ? { tokens: units, requests: units, cost: units * nanoPerMicro }
      : { tokens, requests: settled ? 0 : 1, cost: costs };
    const used = isLast ? spent : { tokens: 0, requests: 0, cost: 0 };
    return { record, key, startMs, atMs: timeOf(record, nowMs), lease, reserved: units - (settled?.units ?? 0), ...used };
  });
}

/** Returns the time of the request, at most the current time of this process. */
function timeOf(record: RequestRecord, nowMs: number): number {
  return Math.min(Date.parse(record.createdAt), nowMs);
}
