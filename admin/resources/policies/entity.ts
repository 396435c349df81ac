import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { policyBudgetTypes, RateUnit, rateTypes, resetPeriods } from '../../../core/contract/protocol/limits/limit-kinds.ts';
import type { PolicyCondition, PolicyTarget } from '../../../core/contract/protocol/limits/policies.ts';

const shared = {
  id: p.uuid().primary(),
  organisationId: p.uuid(),
  workspaceId: p.uuid(),
  name: p.text().nullable(),
  description: p.text().nullable(),
  /** As sent: gateways compile them. */
  conditions: p.json().$type<PolicyCondition[]>(),
  groupBy: p.json().$type<{ key: string }[]>(),
  status: p.text().$type<'active' | 'archived'>(),
  createdAt: p.datetime(),
  lastUpdatedAt: p.datetime(),
};

/** Increases with every change; the `etag`. */
const revision = () => p.integer().version();

/** A budget over all calls that meet its conditions, one counter for each combination of the values it groups by. */
export const usagePolicies = defineEntity({
  name: 'UsagePolicy',
  tableName: 'usage_policies',
  properties: {
    ...shared,
    type: p.text().$type<(typeof policyBudgetTypes)[number]>(),
    /** Null: see `target` of `UsagePolicy` in the contract. */
    target: p.text().$type<PolicyTarget>().nullable(),
    /** US dollars, tokens or requests. */
    creditLimit: p.float(),
    alertThreshold: p.float().nullable(),
    periodicReset: p.text().$type<(typeof resetPeriods)[number]>().nullable(),
    periodicResetDays: p.integer().nullable(),
    nextUsageResetAt: p.datetime().nullable(),
    /** Last manual reset of a counter. */
    lastResetAt: p.datetime().nullable(),
    revision: revision(),
  },
});

/** A rate limit over all calls that meet its conditions. */
export const ratePolicies = defineEntity({
  name: 'RatePolicy',
  tableName: 'rate_policies',
  properties: {
    ...shared,
    type: p.text().$type<(typeof rateTypes)[number]>(),
    unit: p.text().$type<RateUnit>(),
    value: p.bigint('number'),
    target: p.text().$type<PolicyTarget>(),
    revision: revision(),
  },
});

export type UsagePolicyRow = InferEntity<typeof usagePolicies>;
export type RatePolicyRow = InferEntity<typeof ratePolicies>;
