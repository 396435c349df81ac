import { budgetWindow } from '../../../core/contract/protocol/limits/limit-window.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { containing } from '../../http/filters/search-in.ts';
import { type BudgetRow, beginAnew } from '../../leases/budget-ledger.ts';
import { moneyOf } from '../../pricing/nano-usd.ts';
import type { UsagePolicyRow } from './entity.ts';

const microUsd = 1_000_000;
/** Counters in `value_key_usage_map`: those with the highest usage. */
const shownMax = 1_000;

/** A row of `limit_budgets`, as drivers return it. */
interface CounterRow {
  readonly key: string;
  readonly value_key: string | null;
  readonly used: number | string;
  readonly used_nano_rest: number;
  readonly start_ms: number | string;
  readonly is_marked: boolean;
}

/** Selects counters of a policy. */
interface CounterFilter {
  readonly status?: 'active' | 'exhausted' | undefined;
  readonly search?: string | undefined;
  /** Ids of API keys: only counters of one of them are selected. Null: those of all callers. */
  readonly ofKeys: readonly string[] | null;
}

interface CountersPage extends CounterFilter {
  readonly limit: number;
  readonly offset: number;
}

const keyPrefix = 'budget:';
const columns = 'key, value_key, used, used_nano_rest, start_ms, exhausted_at is not null as is_marked';

/** Returns a page of the counters of a policy in the order of their value keys, and how many there are. */
export async function listCounters(em: EntityManager, policy: UsagePolicyRow, page: CountersPage, nowMs: number) {
  const { filter, values } = filterOf(policy, page, nowMs);
  const [{ total }] = await em.execute<[{ total: number }]>(`select count(*)::int as total from limit_budgets ${filter}`, values);
  const rows = await em.execute<CounterRow[]>(
    `select ${columns} from limit_budgets ${filter}
     order by value_key, key limit ? offset ?`,
    [...values, page.limit, page.offset],
  );
  const data = rows.map((row) => ({
    id: row.key.slice(keyPrefix.length),
    value_key: row.value_key ?? '',
    ...usageOf(row, policy, nowMs),
    object: 'policy_usage_limits_entity' as const,
  }));
  return { object: 'list' as const, total, data };
}

/** Returns the counters with the highest usage, by value key. */
export async function usageByValueKey(
  em: EntityManager,
  policy: UsagePolicyRow,
  chosen: Pick<CounterFilter, 'ofKeys'>,
  nowMs: number,
) {
  const { filter, values } = filterOf(policy, chosen, nowMs);
  const rows = await em.execute<CounterRow[]>(`select ${columns} from limit_budgets ${filter} order by used desc, key limit ?`, [
    ...values,
    shownMax,
  ]);
  return Object.fromEntries(rows.map((row) => [row.value_key ?? '', usageOf(row, policy, nowMs)]));
}

/**
 * Sets a counter of a policy to zero, by its id or value key: a new window begins, as after a reset of a key's budget. Requests
 * whose records arrive later count in the window in which they were admitted. Returns false if there is no such counter.
 */
export async function resetCounter(
  tx: EntityManager,
  policy: UsagePolicyRow,
  which: { readonly id: string } | { readonly valueKey: string },
  nowMs: number,
): Promise<boolean> {
  const [column, value] = 'id' in which ? ['key', `${keyPrefix}${which.id.toLowerCase()}`] : ['value_key', which.valueKey];
  const rows = await tx.execute<BudgetRow[]>(
    `select * from limit_budgets where scope = 'policy' and entity_id = ? and organisation_id = ? and ${column} = ?
     order by key for update`,
    [policy.id, policy.organisationId, value],
    'all',
  );
  for (const row of rows) {
    const startMs = Math.max(nowMs, Number(row.start_ms) + 1);
    await beginAnew(tx, row, budgetWindow(ruleOf(policy), startMs, startMs));
  }
  return rows.length > 0;
}

/** Stores the limit of a policy in its counters, and removes the marks of limits that are no longer reached. */
export async function applyToCounters(tx: EntityManager, policy: UsagePolicyRow): Promise<void> {
  const capacity = unitsOf(policy.creditLimit, policy);
  const threshold = policy.alertThreshold == null ? null : unitsOf(policy.alertThreshold, policy);
  await tx.execute(
    `update limit_budgets set capacity = ?, alert_threshold = ?,
       exhausted_at = case when used < ? then null else exhausted_at end,
       exhausted_told_at = case when used < ? then null else exhausted_told_at end,
       threshold_crossed_at = case when used < ? then null else threshold_crossed_at end,
       threshold_told_at = case when used < ? then null else threshold_told_at end
     where key in (select key from limit_budgets where scope = 'policy' and entity_id = ? and organisation_id = ?
       order by key for update)`,
    [capacity, threshold, capacity, capacity, ...twice(threshold ?? Number.MAX_SAFE_INTEGER), policy.id, policy.organisationId],
    'run',
  );
}

const twice = (value: number): readonly number[] => [value, value];

function filterOf(policy: UsagePolicyRow, { status, search, ofKeys }: CounterFilter, nowMs: number) {
  const values: (string | number)[] = [policy.id, policy.organisationId];
  let filter = `where scope = 'policy' and entity_id = ? and organisation_id = ?`;
  if (search !== undefined && search !== '') {
    filter += ' and value_key ilike ?';
    values.push(containing(search));
  }
  if (ofKeys !== null) {
    filter += ' and value_key ~ ?';
    values.push(`(^|-)api_key:(${ofKeys.join('|') || 'none'})(-|$)`);
  }
  if (status !== undefined) {
    const exhausted = '((used + (used_nano_rest > 0)::int >= ? or exhausted_at is not null) and (end_ms is null or end_ms > ?))';
    filter += status === 'exhausted' ? ` and ${exhausted}` : ` and not ${exhausted}`;
    values.push(unitsOf(policy.creditLimit, policy), nowMs);
  }
  return { filter, values };
}

/** A counter whose window has ended has not been used since: its usage is zero. */
function usageOf(row: CounterRow, policy: UsagePolicyRow, nowMs: number) {
  const startMs = Number(row.start_ms);
  const isCurrent = budgetWindow(ruleOf(policy), startMs, nowMs).startMs === startMs;
  const used = isCurrent ? Number(row.used) : 0;
  const rest = isCurrent ? row.used_nano_rest : 0;
  const units = used + (rest > 0 ? 1 : 0);
  // A counter is marked early if it has rejected a call because less is left.
  const isExhausted = units >= unitsOf(policy.creditLimit, policy) || (isCurrent && row.is_marked);
  return {
    current_usage: policy.type === 'cost' ? moneyOf(used, rest, 'usd') : used,
    status: isExhausted ? ('exhausted' as const) : ('active' as const),
    is_threshold_alerts_sent: policy.alertThreshold != null && units >= unitsOf(policy.alertThreshold, policy),
    is_exhausted_alerts_sent: isExhausted,
  };
}

/** Returns the rule for the windows of a policy's counters. */
export function ruleOf({ periodicReset, periodicResetDays, nextUsageResetAt }: UsagePolicyRow) {
  return {
    periodicReset: periodicReset ?? null,
    periodicResetDays: periodicResetDays ?? null,
    nextUsageResetAt: nextUsageResetAt?.toISOString() ?? null,
  };
}

/** Returns an amount of a policy in the units of the ledger. */
function unitsOf(amount: number, { type }: UsagePolicyRow): number {
  return Math.round(amount * (type === 'cost' ? microUsd : 1));
}
