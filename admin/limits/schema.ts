import * as v from 'valibot';
import {
  budgetTypes,
  type RateUnit,
  rateTypes,
  rateUnits,
  resetPeriods,
} from '../../core/contract/protocol/limits/limit-kinds.ts';
import { oneOf } from '../../core/contract/values/text/one-of.ts';
import { newId } from '../db/new-id.ts';
import { invalid } from '../http/errors.ts';
import { timestamp } from '../http/request/schemas.ts';

type OnUnavailable = 'allow' | 'deny';

/** A budget as stored in rows and documents. */
export interface UsageLimits {
  readonly id: string;
  readonly type: (typeof budgetTypes)[number];
  /** The request named no type, so replies omit it: clients compare the reply with their request. */
  readonly typeIsImplied?: true;
  /** US dollars for `cost`, tokens for `tokens`; null: no limit. */
  readonly creditLimit: number | null;
  /** In the same unit. Crossing it sends a notice. It is below the limit. */
  readonly alertThreshold: number | null;
  readonly periodicReset: (typeof resetPeriods)[number] | null;
  /** 1 to 365; never together with `periodicReset`. */
  readonly periodicResetDays: number | null;
  /** ISO time of the next reset if the caller set it; null: the period decides. */
  readonly nextUsageResetAt: string | null;
  /** Action while the remaining amount is unknown; absent: deny. */
  readonly onUnavailable?: OnUnavailable;
}

/** A rate limit as stored in rows and documents. A value of 0 rejects every call. */
export interface RateLimit {
  readonly type: (typeof rateTypes)[number];
  readonly unit: RateUnit;
  readonly value: number;
  /** Action while the remaining amount is unknown; absent: allow. Rows store these entries as sent. */
  readonly on_unavailable?: OnUnavailable | undefined;
}

/** An addition to the reference. */
const onUnavailable = oneOf(['allow', 'deny']);

const amount = v.pipe(v.number(), v.finite(), v.minValue(1, 'at least 1'), v.maxValue(1e12, 'at most 1e12'));

/** Read-only fields of a budget. Clients may send them back without effect. `reset_usage` sets the usage to zero. */
const readBack = {
  status: v.optional(v.unknown()),
  current_usage: v.optional(v.unknown()),
  is_threshold_alerts_sent: v.optional(v.unknown()),
  is_exhausted_alerts_sent: v.optional(v.unknown()),
};

/** The fields of a budget that decide about its resets. Null clears a field. */
export const resetEntries = {
  // Some clients send "" for no value.
  periodic_reset: v.nullish(
    v.pipe(
      v.picklist([...resetPeriods, ''], `${resetPeriods.join(', ')} or null is expected`),
      v.transform((period) => (period === '' ? null : period)),
    ),
  ),
  periodic_reset_days: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(365, 'at most 365 days'))),
  next_usage_reset_at: v.nullish(timestamp),
};

/** `usage_limits` as sent. Omitted fields keep their value. Null clears a field. `mergeUsageLimits` has the rules between them. */
export const usageLimitsBody = v.strictObject({
  ...readBack,
  /** Id of the existing budget; set by the service. */
  id: v.optional(v.string()),
  type: v.optional(oneOf(budgetTypes)),
  credit_limit: v.nullish(amount),
  alert_threshold: v.nullish(amount),
  ...resetEntries,
  on_unavailable: v.nullish(onUnavailable),
});

export type UsageLimitsBody = v.InferOutput<typeof usageLimitsBody>;

/** One entry of `rate_limits` as sent. */
const rateLimitBody = v.strictObject({
  type: oneOf(rateTypes),
  unit: oneOf(rateUnits),
  value: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1e12)),
  on_unavailable: v.optional(onUnavailable),
});

/** `rate_limits` as sent: at most one entry per type and unit. An empty list, or null if allowed, clears them. */
export const rateLimitsBody = v.pipe(
  v.array(rateLimitBody),
  v.maxLength(10, 'at most 10 rate limits'),
  v.check(
    (list) => new Set(list.map(({ type, unit }) => `${type} ${unit}`)).size === list.length,
    'the same type and unit twice',
  ),
);

/** Largest budget of each type. A cost budget is counted in micro-USD, in numbers that stay exact up to 2^53. */
const amountMax = { cost: 1e9, tokens: 1e12 } as const;

export interface MergeRules {
  /** The path of the limits in the body; messages begin with it. */
  readonly path?: string;
  /** Accepts a threshold that the budget never reaches. Used for the access of workspaces to integrations. */
  readonly anyThreshold?: boolean;
}

/** Returns the budget that results from the body over the one before (null: none). Throws AB01 if the result breaks a rule. */
export function mergeUsageLimits(before: UsageLimits | null, sent: UsageLimitsBody, rules: MergeRules = {}): UsageLimits {
  const { path = 'usage_limits' } = rules;
  if (sent.id !== undefined && sent.id !== before?.id) throw invalid(`${path}.id: cannot be set or changed. Remove it`);
  const at = sent.next_usage_reset_at;
  const type = sent.type ?? before?.type ?? 'cost';
  // Tokens are not dollars: a budget of another type begins at zero, and keeps neither limit nor threshold.
  const same = before?.type === type ? before : null;
  const merged: UsageLimits = {
    id: same?.id ?? newId(),
    type,
    ...(sent.type === undefined && (before === null || before.typeIsImplied) ? { typeIsImplied: true as const } : {}),
    creditLimit: pick(sent.credit_limit, same?.creditLimit),
    alertThreshold: pick(sent.alert_threshold, same?.alertThreshold),
    // Setting one kind of reset removes the other.
    periodicReset: pick(sent.periodic_reset, sent.periodic_reset_days ? null : before?.periodicReset),
    periodicResetDays: pick(sent.periodic_reset_days, sent.periodic_reset ? null : before?.periodicResetDays),
    nextUsageResetAt: at ? new Date(at).toISOString() : pick(at as null | undefined, before?.nextUsageResetAt),
    ...optional(pick(sent.on_unavailable, before?.onUnavailable)),
  };
  requireValid(merged, rules);
  const isNew = merged.nextUsageResetAt !== before?.nextUsageResetAt;
  if (at && isNew && Date.parse(at) <= Date.now()) throw invalid(`${path}.next_usage_reset_at: must be in the future`);
  return merged;
}

/** Checks the rules between the fields of a budget. Throws AB01. */
function requireValid(merged: UsageLimits, { path = 'usage_limits', anyThreshold = false }: MergeRules): void {
  if (merged.creditLimit === null && merged.alertThreshold === null) {
    throw invalid(`${path}.credit_limit: required if alert_threshold is not set. To remove the budget, send null as ${path}`);
  }
  if (merged.type === 'tokens' && !Number.isInteger(merged.creditLimit ?? 0)) {
    throw invalid(`${path}.credit_limit: a whole number is expected for tokens`);
  }
  const most = amountMax[merged.type];
  if ((merged.creditLimit ?? 0) > most) throw invalid(`${path}.credit_limit: at most ${most} for ${merged.type}`);
  if ((merged.alertThreshold ?? 0) > most) throw invalid(`${path}.alert_threshold: at most ${most} for ${merged.type}`);
  const isReached = merged.creditLimit === null || merged.alertThreshold === null || merged.alertThreshold < merged.creditLimit;
  if (!isReached && !anyThreshold) {
    throw invalid(`${path}.alert_threshold: must be below credit_limit`);
  }
  if (merged.periodicReset !== null && merged.periodicResetDays !== null) {
    throw invalid(`${path}.periodic_reset_days: not together with periodic_reset`);
  }
}

/** True if the new budget is higher than the previous one, another one or removed, so that waiting requests can continue. */
export function raisesLimit(before: UsageLimits | null, after: UsageLimits | null): boolean {
  if (before === null || before.creditLimit === null) return false;
  return after === null || after.id !== before.id || after.creditLimit === null || after.creditLimit > before.creditLimit;
}

/** Usage of a budget in its current window, in the budget's unit. */
export interface BudgetUsage {
  readonly currentUsage: number;
  readonly nextResetAt: string | null;
  readonly isThresholdCrossed: boolean;
  readonly isExhausted: boolean;
}

/** Reply form of a budget, with its usage if requested. */
export function usageLimitsReply(limits: UsageLimits | null, usage?: BudgetUsage | undefined) {
  if (limits === null) return null;
  return {
    id: limits.id,
    ...(limits.typeIsImplied ? {} : { type: limits.type }),
    credit_limit: limits.creditLimit,
    alert_threshold: limits.alertThreshold,
    periodic_reset: limits.periodicReset,
    periodic_reset_days: limits.periodicResetDays,
    next_usage_reset_at: usage?.nextResetAt ?? limits.nextUsageResetAt,
    ...(limits.onUnavailable ? { on_unavailable: limits.onUnavailable } : {}),
    ...(usage
      ? {
          current_usage: usage.currentUsage,
          status: usage.isExhausted ? ('exhausted' as const) : ('active' as const),
          is_threshold_alerts_sent: usage.isThresholdCrossed,
          is_exhausted_alerts_sent: usage.isExhausted,
        }
      : {}),
  };
}

/** Reply schema of a budget; strict. */
export const usageLimitsReplySchema = v.strictObject({
  id: v.string(),
  /** Absent if the caller named no type. The type is then `cost`. */
  type: v.optional(v.picklist(budgetTypes)),
  credit_limit: v.nullable(v.number()),
  alert_threshold: v.nullable(v.number()),
  periodic_reset: v.nullable(v.picklist(resetPeriods)),
  periodic_reset_days: v.nullable(v.number()),
  next_usage_reset_at: v.nullable(v.string()),
  on_unavailable: v.optional(onUnavailable),
  /** With `include_usage`: US dollars or tokens. */
  current_usage: v.optional(v.number()),
  status: v.optional(v.picklist(['active', 'exhausted'])),
  is_threshold_alerts_sent: v.optional(v.boolean()),
  is_exhausted_alerts_sent: v.optional(v.boolean()),
});

/** Reply schema of a rate limit; strict. */
export const rateLimitReplySchema = v.strictObject({
  type: v.picklist(rateTypes),
  unit: v.picklist(rateUnits),
  value: v.number(),
  on_unavailable: v.optional(onUnavailable),
});

function optional(onUnavailable: OnUnavailable | null): { onUnavailable?: OnUnavailable } {
  return onUnavailable === null ? {} : { onUnavailable };
}

function pick<T>(sent: T | null | undefined, before: T | null | undefined): T | null {
  return sent === undefined ? (before ?? null) : sent;
}
