import * as v from 'valibot';
import { rateTypes, rateUnits } from '../../../core/contract/protocol/limits/limit-kinds.ts';
import { policyKeys, policyTargets } from '../../../core/contract/protocol/limits/policies.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { listOf, uuid } from '../../http/reply/reply-schemas.ts';
import { tenantEntries } from '../../http/request/schemas.ts';
import { conditionsOver, createEntries, groupOver, listEntries, replyEntries, statusEntry, updateEntries } from './schema.ts';

const type = oneOf(rateTypes);
const unit = oneOf(rateUnits);
const value = v.pipe(v.number(), v.integer('a whole number is expected'), v.minValue(1, 'at least 1'), v.maxValue(1e12));
const target = oneOf(policyTargets);

/** Keys of all targets; `checkKeys` refuses those of the others. */
const keys = [...new Set(policyTargets.flatMap((target): readonly string[] => policyKeys[target]))];
const conditions = conditionsOver(keys);
const groupBy = groupOver(keys);

export const createBody = v.strictObject({
  ...createEntries,
  conditions,
  group_by: groupBy,
  type,
  unit,
  value,
  target: v.optional(target, 'llm'),
});

export const updateBody = v.strictObject({
  ...updateEntries,
  conditions: v.optional(conditions),
  group_by: v.optional(groupBy),
  type: v.optional(type),
  target: v.optional(target),
  unit: v.optional(unit),
  value: v.optional(value),
});

export const listQuery = v.strictObject({
  ...listEntries,
  type: v.optional(type),
  unit: v.optional(unit),
  target: v.optional(target),
});
export const readQuery = v.strictObject({ ...tenantEntries, status: statusEntry });

export const readReply = v.strictObject({
  ...replyEntries,
  type,
  unit,
  value: v.number(),
  target,
  object: v.literal('policy_rate_limits'),
});
export const listReply = listOf(readReply);
export const createReply = v.strictObject({ id: uuid, object: v.literal('policy_rate_limits') });

export type CreateRate = v.InferOutput<typeof createBody>;
export type UpdateRate = v.InferOutput<typeof updateBody>;
