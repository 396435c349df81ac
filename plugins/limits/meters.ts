import { createHash } from 'node:crypto';
import type { EntityLimits } from '../../core/contract/plugin/requests/entity-limits.ts';
import type { RateLimitDocument, UsageLimitsDocument } from '../../core/contract/protocol/documents.ts';
import { limitUnitsMax, valueKeyMax } from '../../core/contract/protocol/limits/budget-rules.ts';
import { type LeaseAccount, type Leases, rateKeyPrefix } from '../../core/contract/protocol/limits/leases.ts';
import { type BudgetScope, type policyBudgetTypes, rateWindows } from '../../core/contract/protocol/limits/limit-kinds.ts';
import type { RatePolicy, UsagePolicy } from '../../core/contract/protocol/limits/policies.ts';
import { cutText } from '../../core/contract/values/text/cut-text.ts';

type MeterUnit = (typeof policyBudgetTypes)[number];

/** One limit of one entity. */
export interface Meter {
  readonly scope: BudgetScope;
  readonly unit: MeterUnit;
  readonly isBudget: boolean;
  /** Capacity of one window: requests, tokens or micro-USD. */
  readonly capacity: number;
  /** For messages: `minute`, `hour`, …; null for budgets. */
  readonly period: string | null;
  /** Decision while the remaining amount is unknown. */
  readonly onUnavailable: 'allow' | 'deny';
  readonly account: LeaseAccount;
  /** The policy and its counter; null for limits of other scopes. */
  readonly policy: { readonly id: string; readonly valueKey: string } | null;
}

/** The owner of a set of limits. */
export interface Entity {
  readonly scope: BudgetScope;
  /** Key of the limit in the ledger. */
  readonly id: string;
  readonly organisationId: string;
}

/** Represents a budget with an alert threshold and no limit. */
const unlimited = limitUnitsMax;
export const microUsd = 1_000_000;

/** Returns the budgets and rate limits of an entity as meters. Budgets come first because they are checked first. */
export function metersOf(leases: Leases, entity: Entity, limits: EntityLimits): Meter[] {
  return [
    ...limits.usageLimits.map((budget) => budgetMeter(leases, entity, budget, limits.usageResetAt)),
    ...limits.rateLimits.map((limit) => rateMeter(leases, entity, limit)),
  ];
}

function budgetMeter(leases: Leases, entity: Entity, budget: UsageLimitsDocument, resetAt: string | null): Meter {
  const { periodicReset, periodicResetDays, nextUsageResetAt } = budget;
  const perUnit = budget.type === 'cost' ? microUsd : 1;
  const capacity = budget.creditLimit === null ? unlimited : Math.min(unlimited, Math.round(budget.creditLimit * perUnit));
  const account = leases.account({
    kind: 'budget',
    key: `budget:${budget.id}`,
    organisationId: entity.organisationId,
    scope: entity.scope,
    entityId: entity.id,
    unit: budget.type,
    capacity,
    alertThreshold: budget.alertThreshold === null ? null : Math.round(budget.alertThreshold * perUnit),
    periodicReset,
    periodicResetDays,
    nextUsageResetAt,
    resetAt,
  });
  const onUnavailable = budget.onUnavailable ?? 'deny';
  return { scope: entity.scope, unit: budget.type, isBudget: true, capacity, period: null, onUnavailable, account, policy: null };
}

function rateMeter(leases: Leases, entity: Entity, { type, unit, value, ...rest }: RateLimitDocument): Meter {
  const account = leases.account({
    kind: 'rate',
    key: `${rateKeyPrefix}${entity.scope}:${entity.id}:${type}:${unit}`,
    organisationId: entity.organisationId,
    capacity: value,
    lengthMs: rateWindows[unit].ms,
  });
  const onUnavailable = rest.on_unavailable ?? 'allow';
  return {
    scope: entity.scope,
    unit: type,
    isBudget: false,
    capacity: value,
    period: rateWindows[unit].name,
    onUnavailable,
    account,
    policy: null,
  };
}

/** Returns the meter of one counter of a usage policy. */
export function usagePolicyMeter(leases: Leases, organisationId: string, policy: UsagePolicy, valueKey: string): Meter {
  const { id, type, creditLimit, alertThreshold, periodicReset, periodicResetDays, nextUsageResetAt } = policy;
  const perUnit = type === 'cost' ? microUsd : 1;
  const capacity = Math.min(unlimited, Math.round(creditLimit * perUnit));
  const account = leases.account({
    kind: 'budget',
    key: `budget:${counterId(id, valueKey)}`,
    organisationId,
    scope: 'policy',
    entityId: id,
    valueKey: cutText(valueKey, valueKeyMax),
    unit: type,
    capacity,
    alertThreshold: alertThreshold === null ? null : Math.round(alertThreshold * perUnit),
    periodicReset,
    periodicResetDays,
    nextUsageResetAt,
    resetAt: null,
  });
  const policyOf = { id, valueKey };
  return {
    scope: 'policy',
    unit: type,
    isBudget: true,
    capacity,
    period: null,
    onUnavailable: 'deny',
    account,
    policy: policyOf,
  };
}

/** Returns the meter of one counter of a rate limit policy. */
export function ratePolicyMeter(leases: Leases, organisationId: string, policy: RatePolicy, valueKey: string): Meter {
  const { id, type, unit, value } = policy;
  const account = leases.account({
    kind: 'rate',
    key: `${rateKeyPrefix}policy:${counterId(id, valueKey)}:${unit}`,
    organisationId,
    capacity: value,
    lengthMs: rateWindows[unit].ms,
  });
  const shared = { scope: 'policy', isBudget: false, onUnavailable: 'deny' } as const;
  return { ...shared, unit: type, capacity: value, period: rateWindows[unit].name, account, policy: { id, valueKey } };
}

/** Returns the UUID of a counter of a policy. The same in every process, so that all share one row of the ledger. */
function counterId(policyId: string, valueKey: string): string {
  const hex = createHash('sha256').update(`${policyId}\n${valueKey}`).digest('hex');
  // Version 8: a UUID of an own making.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
