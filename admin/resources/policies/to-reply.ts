import { budgetWindow } from '../../../core/contract/protocol/limits/limit-window.ts';
import { ruleOf } from './counters.ts';
import type { RatePolicyRow, UsagePolicyRow } from './entity.ts';

/** A usage policy as replies show it. */
export function toUsageReply(row: UsagePolicyRow, nowMs: number) {
  const window = budgetWindow(ruleOf(row), row.createdAt.getTime(), nowMs);
  const lastMs = Math.max(window.startMs, row.lastResetAt?.getTime() ?? 0);
  return {
    ...shared(row),
    type: row.type,
    target: row.target ?? null,
    credit_limit: row.creditLimit,
    alert_threshold: row.alertThreshold ?? null,
    periodic_reset: row.periodicReset ?? null,
    periodic_reset_days: row.periodicResetDays ?? null,
    next_usage_reset_at: window.endMs === null ? null : new Date(window.endMs).toISOString(),
    last_reset_at: lastMs > row.createdAt.getTime() ? new Date(lastMs).toISOString() : null,
    object: 'policy_usage_limits' as const,
  };
}

/** A rate limit policy as replies show it. */
export function toRateReply(row: RatePolicyRow) {
  return {
    ...shared(row),
    type: row.type,
    unit: row.unit,
    value: row.value,
    target: row.target,
    object: 'policy_rate_limits' as const,
  };
}

function shared(row: UsagePolicyRow | RatePolicyRow) {
  return {
    id: row.id,
    name: row.name ?? null,
    description: row.description ?? null,
    conditions: row.conditions,
    group_by: row.groupBy,
    status: row.status,
    workspace_id: row.workspaceId,
    organisation_id: row.organisationId,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
  };
}
