import type { EntityLimits } from '../../core/contract/plugin/context.ts';
import type { RateLimitDocument, UsageLimitsDocument } from '../../core/contract/protocol/documents.ts';
import { type LeaseAccount, type Leases, rateKeyPrefix } from '../../core/contract/protocol/leases.ts';
import { rateWindowMs } from '../../core/contract/protocol/limit-window.ts';

export type Scope = 'key' | 'workspace' | 'provider' | 'integration';
type MeterUnit = 'requests' | 'tokens' | 'cost';

/** One limit of one entity. */
export interface Meter {
  readonly scope: Scope;
  readonly unit: MeterUnit;
  readonly isBudget: boolean;
  /** Capacity of one window: requests, tokens or micro-USD. */
  readonly capacity: number;
  /** For messages: `minute`, `hour`, …; null for budgets. */
  readonly period: string | null;
  /** Decision while the remaining amount is unknown. */
  readonly onUnavailable: 'allow' | 'deny';
  readonly account: LeaseAccount;
}

/** The owner of a set of limits. */
export interface Entity {
  readonly scope: Scope;
  /** Key of the limit in the ledger. */
  readonly id: string;
  readonly organisationId: string;
}

/** Represents a budget with an alert threshold and no limit. */
const unlimited = 1e15;
const microUsd = 1_000_000;

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
  return { scope: entity.scope, unit: budget.type, isBudget: true, capacity, period: null, onUnavailable, account };
}

function rateMeter(leases: Leases, entity: Entity, { type, unit, value, ...rest }: RateLimitDocument): Meter {
  const account = leases.account({
    kind: 'rate',
    key: `${rateKeyPrefix}${entity.scope}:${entity.id}:${type}:${unit}`,
    organisationId: entity.organisationId,
    capacity: value,
    lengthMs: rateWindowMs[unit],
  });
  const onUnavailable = rest.on_unavailable ?? 'allow';
  return { scope: entity.scope, unit: type, isBudget: false, capacity: value, period: periods[unit], onUnavailable, account };
}

const periods = { rps: 'second', rpm: 'minute', rph: 'hour', rpd: 'day', rpw: 'week' } as const;
