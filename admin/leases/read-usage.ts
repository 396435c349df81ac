import { budgetWindow } from '../../core/contract/protocol/limits/limit-window.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { BudgetUsage, UsageLimits } from '../limits/schema.ts';
import { moneyOf } from '../pricing/nano-usd.ts';
import { usedUnits } from './budget-ledger.ts';
import { limitBudgets } from './entity.ts';

const microUsd = 1_000_000;

/** A row with a budget of its own. */
interface Budgeted {
  readonly usageLimits?: UsageLimits | null;
  readonly lastResetAt?: Date | null;
}

/** Reads the usage of the budgets of these rows, by budget id. */
export function readUsageOf(
  em: EntityManager,
  organisationId: string,
  rows: readonly Budgeted[],
  nowMs: number,
): Promise<Map<string, BudgetUsage>> {
  const resets = new Map(rows.map((row) => [row.usageLimits?.id, row.lastResetAt ?? null]));
  const budgets = rows.flatMap((row) => row.usageLimits ?? []);
  return readUsage(em, organisationId, budgets, (budget) => resets.get(budget.id) ?? null, nowMs);
}

/**
 * Reads the usage of these budgets in their current windows, by budget id. `resetAt`: time of the last manual reset of the
 * entity's usage, for all budgets or for each. An unused budget has usage 0.
 */
export async function readUsage(
  em: EntityManager,
  organisationId: string,
  budgets: readonly UsageLimits[],
  resetAt: Date | null | ((budget: UsageLimits) => Date | null),
  nowMs: number,
): Promise<Map<string, BudgetUsage>> {
  if (budgets.length === 0) return new Map();
  const keys = budgets.map((budget) => `budget:${budget.id}`);
  const rows = await em.find(limitBudgets, { organisationId, key: { $in: keys } });
  const found = new Map(rows.map((row) => [row.key, row]));
  return new Map(
    budgets.map((budget) => {
      const row = found.get(`budget:${budget.id}`);
      const reset = typeof resetAt === 'function' ? resetAt(budget) : resetAt;
      const startedMs = Math.max(row?.startMs ?? nowMs, reset?.getTime() ?? 0);
      const window = budgetWindow(budget, startedMs, nowMs);
      const current = row && row.startMs === window.startMs ? row : null;
      const used = current ? usedUnits({ used: current.used, used_nano_rest: current.usedNanoRest }) : 0;
      const perUnit = budget.type === 'cost' ? microUsd : 1;
      const limit = budget.creditLimit === null ? Number.POSITIVE_INFINITY : budget.creditLimit * perUnit;
      const threshold = budget.alertThreshold === null ? Number.POSITIVE_INFINITY : budget.alertThreshold * perUnit;
      const usage: BudgetUsage = {
        currentUsage:
          current === null ? 0 : budget.type === 'cost' ? moneyOf(current.used, current.usedNanoRest, 'usd') : current.used,
        nextResetAt: window.endMs === null ? null : new Date(window.endMs).toISOString(),
        isThresholdCrossed: used >= threshold,
        // A budget is marked early if it has rejected a usual call because less is left.
        isExhausted: used >= limit || (current?.exhaustedAt != null && current.capacity >= limit),
      };
      return [budget.id, usage];
    }),
  );
}
