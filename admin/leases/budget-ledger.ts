import type { BudgetAsk, Grant } from '../../core/contract/protocol/limits/leases.ts';
import { dayMs } from '../../core/contract/values/time/durations.ts';
import type { EntityManager } from '../db/open-database.ts';
import { type BudgetRule, ruleOf, type Window, windowOf } from './budget-window.ts';
import { clearExhausted, markExhausted } from './entity-state.ts';
import { storePastWindow } from './past-windows.ts';
import { grantOf } from './share.ts';

/**
 * Milliseconds for which a grant may be spent without a renewal. If a holder dies, its remaining units are free once another
 * process has reported its records. Otherwise they stay reserved for this time, because they may have been spent.
 */
const leaseMs = dayMs;

/** A call of at most this part of a budget is of a usual size. If less is left for it, the budget counts as exhausted. */
const usualPart = 4;

/** A row of `limit_budgets`, as drivers return it. */
export interface BudgetRow {
  readonly key: string;
  readonly organisation_id: string;
  readonly scope: BudgetAsk['scope'];
  readonly entity_id: string;
  readonly unit: BudgetAsk['unit'];
  readonly start_ms: number | string;
  readonly end_ms: number | string | null;
  readonly capacity: number | string;
  readonly alert_threshold: number | string | null;
  readonly used: number | string;
  /** Nano-USD beyond `used`, 0 to 999. */
  readonly used_nano_rest: number;
  /** Null: not marked as exhausted. */
  readonly exhausted_at: Date | string | null;
  /** Rules for the start of a window; null: not reported since this column exists. */
  readonly rule: BudgetRule | null;
}

/** Returns the units used of a budget. A partly used micro-USD counts as used, because leases hold whole ones. */
export function usedUnits({ used, used_nano_rest: rest }: Pick<BudgetRow, 'used' | 'used_nano_rest'>): number {
  return Number(used) + (rest > 0 ? 1 : 0);
}

interface LeaseRow {
  readonly lease: string;
  readonly key: string;
  readonly seq: number | string;
  readonly units: number | string;
  readonly settled: number | string;
  readonly expires_ms: number | string;
  /** Time at which its holder last confirmed that calls in flight need all of it; null: not confirmed with the last ask. */
  readonly firm_ms: number | string | null;
}

/**
 * Grants leases of budgets. Used units, and units held by others and not settled, are never granted again. Rows are locked in the
 * order of their keys. Must run inside a transaction; every key at most once.
 */
export async function grantBudgets(
  tx: EntityManager,
  asks: readonly BudgetAsk[],
  holder: string | null,
  nowMs: number,
): Promise<Grant[]> {
  if (asks.length === 0) return [];
  const rows = await tx.execute<BudgetRow[]>(
    `insert into limit_budgets as b (key, organisation_id, scope, entity_id, value_key, unit, start_ms, capacity, alert_threshold, rule)
     select key, "organisationId", scope, "entityId", "valueKey", unit, ?, capacity, "alertThreshold", rule
     from jsonb_to_recordset(?::jsonb) as a(key text, "organisationId" uuid, scope text, "entityId" text, "valueKey" text,
       unit text, capacity bigint, "alertThreshold" bigint, rule jsonb)
     order by key
     on conflict (key) do update set capacity = excluded.capacity, alert_threshold = excluded.alert_threshold, rule = excluded.rule,
       ${marksOfNewLimits}
     returning *`,
    [nowMs, JSON.stringify(asks.map((ask) => ({ ...ask, rule: ruleOf(ask) })))],
    'all',
  );
  await noteLeft(tx, asks);
  const leases = await tx.execute<LeaseRow[]>(
    `select * from limit_leases where key in (select * from jsonb_array_elements_text(?::jsonb))`,
    [JSON.stringify(asks.map((ask) => ask.key))],
    'all',
  );
  const found = new Map(rows.map((row) => [row.key, row]));
  const grants: Grant[] = [];
  const stored: StoredLease[] = [];
  const rejecting: string[] = [];
  for (const ask of asks) {
    const row = found.get(ask.key);
    if (!row) continue;
    const window = windowOf(row, ask, nowMs);
    const used = window.isNew ? 0 : usedUnits(row);
    if (window.isNew) await beginAnew(tx, row, window);
    else if (window.endMs !== numberOrNull(row.end_ms)) {
      await tx.execute('update limit_budgets set end_ms = ? where key = ?', [window.endMs, ask.key], 'run');
    }
    const ofKey = window.isNew ? [] : leases.filter((lease) => lease.key === ask.key);
    const { grant, lease, isTooLittle } = grantOne(ask, { window, used, leases: ofKey, nowMs });
    grants.push(grant);
    if (lease !== null) stored.push(lease);
    // A limit that was lowered below the usage is not crossed by a call.
    const isUsedUp = row.exhausted_at === null && used >= ask.capacity;
    if (isTooLittle || isUsedUp) rejecting.push(ask.key);
  }
  await storeLeases(tx, stored, holder, nowMs);
  if (rejecting.length > 0) await markRejecting(tx, rejecting);
  return grants;
}

/** `usedUnits` in SQL. */
const used = '(b.used + (b.used_nano_rest > 0)::int)';
const isRaised = `excluded.capacity > b.capacity and ${used} < excluded.capacity`;
const isBelowThreshold = `${used} < coalesce(excluded.alert_threshold, ${used} + 1)`;
/** Removes the marks of limits that are no longer reached, because the limit or the threshold was raised. */
const marksOfNewLimits = `
  exhausted_at = case when ${isRaised} then null else b.exhausted_at end,
  exhausted_told_at = case when ${isRaised} then null else b.exhausted_told_at end,
  threshold_crossed_at = case when ${isBelowThreshold} then null else b.threshold_crossed_at end,
  threshold_told_at = case when ${isBelowThreshold} then null else b.threshold_told_at end`;

/** The size of a lease after a grant. */
interface StoredLease {
  readonly lease: string;
  readonly key: string;
  readonly organisationId: string;
  readonly seq: number;
  readonly units: number;
  readonly firmMs: number | null;
}

async function storeLeases(
  tx: EntityManager,
  leases: readonly StoredLease[],
  holder: string | null,
  nowMs: number,
): Promise<void> {
  if (leases.length === 0) return;
  await tx.execute(
    `insert into limit_leases (lease, key, organisation_id, seq, units, expires_ms, holder, firm_ms)
     select lease, key, "organisationId", seq, units, ?, ?::uuid, "firmMs"
     from jsonb_to_recordset(?::jsonb) as a(lease uuid, key text, "organisationId" uuid, seq bigint, units bigint, "firmMs" bigint)
     order by lease
     on conflict (lease) do update set seq = excluded.seq, units = excluded.units, expires_ms = excluded.expires_ms,
       firm_ms = excluded.firm_ms`,
    [nowMs + leaseMs, holder, JSON.stringify(leases)],
    'run',
  );
}

/** Stores the final size of leases that their holders no longer spend from. Their records settle it, now or later. */
async function noteLeft(tx: EntityManager, asks: readonly BudgetAsk[]): Promise<void> {
  const left = asks.flatMap((ask) => (ask.left ?? []).map((one) => ({ ...one, key: ask.key })));
  if (left.length === 0) return;
  await tx.execute(
    `update limit_leases l set units = a.kept, seq = a.seq
     from jsonb_to_recordset(?::jsonb) as a(lease uuid, key text, seq bigint, kept bigint)
     where l.lease = a.lease and l.key = a.key and l.seq < a.seq`,
    [JSON.stringify(left)],
    'run',
  );
}

/** Starts a new window: the usage of the previous one is stored apart, usage is zero, and its leases are deleted. */
export async function beginAnew(tx: EntityManager, row: BudgetRow, { startMs, endMs }: Omit<Window, 'isNew'>): Promise<void> {
  await storePastWindow(tx, row.key, startMs);
  await tx.execute(
    `update limit_budgets set start_ms = ?, end_ms = ?, used = 0, used_nano_rest = 0, threshold_crossed_at = null, exhausted_at = null,
       threshold_told_at = null, exhausted_told_at = null
     where key = ?`,
    [startMs, endMs, row.key],
    'run',
  );
  await tx.execute('delete from limit_leases where key = ?', [row.key], 'run');
  await clearExhausted(tx, row);
}

interface Standing {
  readonly window: Window;
  readonly used: number;
  /** The leases of this budget in this window. */
  readonly leases: readonly LeaseRow[];
  readonly nowMs: number;
}

/** Marks budgets as exhausted that are used up, or whose rest is too small for usual calls. */
async function markRejecting(tx: EntityManager, keys: readonly string[]): Promise<void> {
  const marked = await tx.execute<Pick<BudgetRow, 'key' | 'organisation_id' | 'scope' | 'entity_id' | 'capacity'>[]>(
    `update limit_budgets set exhausted_at = now(), exhausted_told_at = null
     where exhausted_at is null and key in (select * from jsonb_array_elements_text(?::jsonb))
     returning key, organisation_id, scope, entity_id, capacity`,
    [JSON.stringify(keys)],
    'all',
  );
  for (const owner of marked) await markExhausted(tx, owner);
}

interface Granted {
  readonly grant: Grant;
  /** Null if a later ask has overtaken this one. */
  readonly lease: StoredLease | null;
  /** True if a call of a usual size was rejected, and no lease holds units that may return. */
  readonly isTooLittle: boolean;
}

function grantOne(ask: BudgetAsk, { window, used, leases, nowMs }: Standing): Granted {
  const own = leases.find((lease) => lease.lease === ask.lease);
  // The settled part of an unknown lease is unknown. The lease starts with the units granted now, and the grant is marked as new.
  const held = own && ask.startMs === window.startMs ? ask.kept : 0;
  const isOvertaken = own !== undefined && ask.seq <= Number(own.seq);
  const settled = own ? Number(own.settled) : 0;
  const ownUnits = own && isOvertaken ? Number(own.units) : held;
  // Without a recall, all units are pending.
  const { others, pending } = heldByOthers(leases, own, nowMs, nowMs - (ask.recalledMs ?? 0));
  const left = ask.capacity - used - others - Math.max(0, ownUnits - settled);
  // Records have settled more than the lease has: calls used more than they took. That usage is in `used`, so it is covered here
  // without taking it from the budget a second time.
  const covered = isOvertaken ? 0 : Math.max(0, settled - held);
  const uncovered = { need: Math.max(0, ask.need - covered), want: Math.max(0, ask.want - covered) };
  const units = isOvertaken ? 0 : covered + (left < uncovered.need ? servable(ask, left, covered) : grantOf(left, uncovered));
  // Calls in flight need all units of the holder, if it has no spare units and the grant does not exceed its immediate need.
  const isFirm = (ask.spare ?? 0) === 0 && units <= Math.max(covered, ask.need);
  const { key, lease, organisationId, seq } = ask;
  const stored = { lease, key, organisationId, seq, units: held + units, firmMs: isFirm ? nowMs : null };
  const grant = {
    key,
    startMs: window.startMs,
    endMs: window.endMs,
    units,
    remaining: Math.max(0, left - (units - covered)),
    leaseMs,
    isNew: own === undefined,
    others,
    pending,
  };
  const isLast = others === 0 && ownUnits <= settled;
  const isTooLittle = ask.refused !== undefined && isLast && ask.refused > left && ask.refused <= ask.capacity / usualPart;
  return { grant, lease: isOvertaken ? null : stored, isTooLittle };
}

/** Returns the number of units that serve some waiting requests in full. The others could not use the rest. */
function servable({ parts = [], need }: BudgetAsk, left: number, covered: number): number {
  if (parts.length === 0) return Math.max(0, left);
  // Units that a lease lacks because calls used more than they took.
  const missing = need - parts.reduce((sum, part) => sum + part, 0) - covered;
  let served = 0;
  for (const part of parts) if (missing + served + part <= left) served += part;
  return Math.max(0, Math.min(left, missing + served));
}

/** Returns the units of other leases that are not settled, and how many of them are not confirmed to be in use since `sinceMs`. */
function heldByOthers(leases: readonly LeaseRow[], own: LeaseRow | undefined, nowMs: number, sinceMs: number) {
  let others = 0;
  let pending = 0;
  for (const lease of leases) {
    // Spent units are free when their records are stored, the others when the holder, or its successor, reports it.
    if (lease === own || Number(lease.expires_ms) <= nowMs) continue;
    const units = Math.max(0, Number(lease.units) - Number(lease.settled));
    others += units;
    if (lease.firm_ms === null || Number(lease.firm_ms) <= sinceMs) pending += units;
  }
  return { others, pending };
}

function numberOrNull(value: number | string | null): number | null {
  return value === null ? null : Number(value);
}
