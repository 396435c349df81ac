import * as v from 'valibot';
import { policyBudgetTypes, resetPeriods } from '../../../core/contract/protocol/limits/limit-kinds.ts';
import { policyKeys, policyTargets } from '../../../core/contract/protocol/limits/policies.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { listOf, nullableTime, uuid } from '../../http/reply/reply-schemas.ts';
import { pageEntries, queryFlag, search, tenantEntries } from '../../http/request/schemas.ts';
import { resetEntries } from '../../limits/schema.ts';
import { conditionsOver, createEntries, groupOver, listEntries, replyEntries, statusEntry, updateEntries } from './schema.ts';

const type = oneOf(policyBudgetTypes);
const target = oneOf(policyTargets);
const amount = v.pipe(v.number(), v.finite(), v.minValue(0, 'at least 0'), v.maxValue(1e12, 'at most 1e12'));
const conditions = conditionsOver(policyKeys.usage);
const groupBy = groupOver(policyKeys.usage);

/** The fields that decide about size and resets. `null` clears; `check` of usage-service.ts has the rules between them. */
const budgetEntries = {
  alert_threshold: v.nullish(amount),
  ...resetEntries,
};

export const createBody = v.strictObject({
  ...createEntries,
  conditions,
  group_by: groupBy,
  type,
  target: v.nullish(target),
  credit_limit: amount,
  ...budgetEntries,
});

export const updateBody = v.strictObject({
  ...updateEntries,
  conditions: v.optional(conditions),
  group_by: v.optional(groupBy),
  type: v.optional(type),
  target: v.nullish(target),
  credit_limit: v.optional(amount),
  ...budgetEntries,
  /** Value key of the counter to set to zero. */
  reset_usage_for_value: v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(4_096))),
});

export const listQuery = v.strictObject({ ...listEntries, type: v.optional(type), target: v.optional(target) });
export const readQuery = v.strictObject({ ...tenantEntries, status: statusEntry, include_usage: queryFlag });
export const countersQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  status: v.optional(oneOf(['active', 'exhausted'])),
  search,
});

const usage = v.strictObject({
  current_usage: v.number(),
  status: v.picklist(['active', 'exhausted']),
  is_threshold_alerts_sent: v.boolean(),
  is_exhausted_alerts_sent: v.boolean(),
});

export const readReply = v.strictObject({
  ...replyEntries,
  type,
  target: v.nullable(target),
  credit_limit: v.number(),
  alert_threshold: v.nullable(v.number()),
  periodic_reset: v.nullable(v.picklist(resetPeriods)),
  periodic_reset_days: v.nullable(v.number()),
  next_usage_reset_at: nullableTime,
  last_reset_at: nullableTime,
  /** With `include_usage`: the counters with the highest usage, by value key. */
  value_key_usage_map: v.optional(v.record(v.string(), usage)),
  object: v.literal('policy_usage_limits'),
});

export const listReply = listOf(readReply);
export const createReply = v.strictObject({ id: uuid, object: v.literal('policy_usage_limits') });
export const countersReply = listOf(
  v.strictObject({ id: uuid, value_key: v.string(), ...usage.entries, object: v.literal('policy_usage_limits_entity') }),
);

export type CreateUsage = v.InferOutput<typeof createBody>;
export type UpdateUsage = v.InferOutput<typeof updateBody>;
