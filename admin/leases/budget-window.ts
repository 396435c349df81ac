import type { BudgetRules } from '../../core/contract/protocol/limits/budget-rules.ts';
import { budgetWindow } from '../../core/contract/protocol/limits/limit-window.ts';
import type { BudgetRow } from './budget-ledger.ts';

/** Rules that decide when a budget window starts. */
export type BudgetRule = Pick<BudgetRules, 'periodicReset' | 'periodicResetDays' | 'nextUsageResetAt' | 'resetAt'>;

export interface Window {
  readonly startMs: number;
  /** Null: the window has no end. */
  readonly endMs: number | null;
  /** True if it differs from the window stored in the row. */
  readonly isNew: boolean;
}

/** Picks the members that decide about windows, so that a stored rule can be compared with the current one. */
export function ruleOf({ periodicReset, periodicResetDays, nextUsageResetAt, resetAt }: BudgetRule): BudgetRule {
  return { periodicReset, periodicResetDays, nextUsageResetAt, resetAt };
}

/** Returns the current window. A manual reset and the end of each period start a new one. */
export function windowOf(row: Pick<BudgetRow, 'start_ms'>, rule: BudgetRule, nowMs: number): Window {
  const knownMs = Number(row.start_ms);
  const { startMs, endMs } = budgetWindow(rule, Math.max(knownMs, resetMs(rule)), nowMs);
  return { startMs, endMs, isNew: startMs !== knownMs };
}

/**
 * Returns the window of a request at this time; null for a window that has ended. The window may be one that no gateway has asked
 * about yet. Times before the first ask of a budget belong to its first window.
 */
export function windowAt(row: Pick<BudgetRow, 'start_ms' | 'end_ms' | 'rule'>, atMs: number): Window | null {
  const startMs = Number(row.start_ms);
  const known = { startMs, endMs: row.end_ms === null ? null : Number(row.end_ms), isNew: false };
  if (row.rule === null) return known;
  if (atMs < resetMs(row.rule)) return null;
  if (atMs >= startMs) return windowOf(row, row.rule, atMs);
  return budgetWindow(row.rule, atMs, startMs).startMs === atMs ? known : null;
}

function resetMs({ resetAt }: BudgetRule): number {
  return resetAt === null ? 0 : Date.parse(resetAt);
}
