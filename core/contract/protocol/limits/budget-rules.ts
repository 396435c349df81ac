import * as v from 'valibot';
import { budgetScopes, policyBudgetTypes, resetPeriods } from './limit-kinds.ts';

export const limitUnitsMax = 1e15;

/** Maximum length of a policy's value key. */
export const valueKeyMax = 4_096;

/** Units of a limit: requests, tokens or micro-USD. Sums in the ledger stay exact far beyond the bound. */
export const limitUnits = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(limitUnitsMax));

/** Rules of a budget: its owner, its size and its reset schedule. */
export const budgetRules = v.object({
  scope: v.picklist(budgetScopes),
  /** Id of the entity that owns the budget: a row id, or `<integration>-<workspace>` for an integration. */
  entityId: v.pipe(v.string(), v.maxLength(100)),
  /** Names the counter of a policy: the values that its group has in a call. */
  valueKey: v.optional(v.pipe(v.string(), v.maxLength(valueKeyMax))),
  unit: v.picklist(policyBudgetTypes),
  /** Units of one window. */
  capacity: limitUnits,
  /** An alert is sent when this much is used. */
  alertThreshold: v.nullable(limitUnits),
  periodicReset: v.nullable(v.picklist(resetPeriods)),
  periodicResetDays: v.nullable(v.number()),
  nextUsageResetAt: v.nullable(v.string()),
  /** ISO time of the last manual reset. */
  resetAt: v.nullable(v.string()),
});

export type BudgetRules = Readonly<v.InferOutput<typeof budgetRules>>;
