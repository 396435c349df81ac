import { dayMs } from '../../values/time/durations.ts';
import type { UsageLimitsDocument } from '../documents.ts';

/** Returns the start of the fixed window of this time. Windows of one length follow each other from the epoch on, in UTC. */
export function windowStartMs(nowMs: number, lengthMs: number): number {
  return Math.floor(nowMs / lengthMs) * lengthMs;
}

/** The fields that determine when a budget resets. */
export type ResetRule = Pick<UsageLimitsDocument, 'periodicReset' | 'periodicResetDays' | 'nextUsageResetAt'>;

/**
 * Returns when a budget whose current window began at `startedMs` resets, in milliseconds since the epoch; null: never. Weekly
 * means Mondays and monthly the first, at 00:00 UTC. Every N days is counted from the day on which the window began. A reset time
 * set by the caller takes precedence over the period if it was still ahead when the window began.
 */
export function nextResetMs(rule: ResetRule, startedMs: number): number | null {
  const fixedMs = rule.nextUsageResetAt === null ? Number.NaN : Date.parse(rule.nextUsageResetAt);
  if (fixedMs > startedMs) return fixedMs;
  const midnightMs = Math.floor(startedMs / dayMs) * dayMs;
  if (rule.periodicResetDays !== null) return midnightMs + rule.periodicResetDays * dayMs;
  const day = new Date(midnightMs);
  if (rule.periodicReset === 'weekly') return midnightMs + (7 - ((day.getUTCDay() + 6) % 7)) * dayMs;
  if (rule.periodicReset === 'monthly') return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1);
  return null;
}

/** Returns the window of a budget at `nowMs`, counted from its last known window. Windows without any request are skipped. */
export function budgetWindow(rule: ResetRule, startedMs: number, nowMs: number): { startMs: number; endMs: number | null } {
  let startMs = startedMs;
  for (;;) {
    const endMs = nextResetMs(rule, startMs);
    if (endMs === null || endMs > nowMs) return { startMs, endMs };
    startMs = endMs;
  }
}
