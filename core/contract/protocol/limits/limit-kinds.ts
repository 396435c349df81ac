import { dayMs, hourMs, minuteMs } from '../../values/time/durations.ts';

/** Amounts that a rate limit counts. */
export const rateTypes = ['requests', 'tokens'] as const;

/** Windows of rate limits by the unit of the limit: their length, and their name in errors. */
export const rateWindows = {
  rps: { ms: 1_000, name: 'second' },
  rpm: { ms: minuteMs, name: 'minute' },
  rph: { ms: hourMs, name: 'hour' },
  rpd: { ms: dayMs, name: 'day' },
  rpw: { ms: 604_800_000, name: 'week' },
} as const;

export type RateUnit = keyof typeof rateWindows;
export const rateUnits = Object.keys(rateWindows) as RateUnit[];

/** Amounts that a budget of a key, workspace, provider or integration counts: US dollars or tokens. */
export const budgetTypes = ['cost', 'tokens'] as const;

/** Amounts that a budget of a policy counts. */
export const policyBudgetTypes = [...budgetTypes, 'requests'] as const;

/** Owners of budgets. */
export const budgetScopes = ['key', 'workspace', 'provider', 'integration', 'policy'] as const;
export type BudgetScope = (typeof budgetScopes)[number];

/** Calendar periods after which a budget resets. */
export const resetPeriods = ['weekly', 'monthly'] as const;
