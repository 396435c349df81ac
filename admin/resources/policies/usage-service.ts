import { LockMode } from '@mikro-orm/core';
import type { PolicyTarget } from '../../../core/contract/protocol/limits/policies.ts';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant, WorkspaceTenant } from '../../db/tenant.ts';
import { invalid, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import type { Change } from '../../publish/write-change.ts';
import { applyToCounters, resetCounter } from './counters.ts';
import { type UsagePolicyRow, usagePolicies } from './entity.ts';
import { announce, checkKeys, isFirstPolicy, policiesMax, requireSame } from './service.ts';
import type { CreateUsage, UpdateUsage } from './usage-schema.ts';

/** Smallest and largest limit of each type: US dollars, tokens, requests. */
const bounds = { cost: [1, 1e9], tokens: [100, 1e12], requests: [1, 1e12] } as const;

/** Creates a usage policy. Throws AB01 if its fields contradict each other. */
export async function createUsagePolicy(change: Change, tenant: WorkspaceTenant, sent: CreateUsage): Promise<UsagePolicyRow> {
  const { organisationId, workspaceId } = tenant;
  checkTarget(sent.target ?? null, sent.type, sent);
  const active = await change.tx.count(usagePolicies, { organisationId, workspaceId, status: 'active' });
  if (active >= policiesMax) throw invalid(`A workspace can have at most ${policiesMax} usage limit policies`);
  const isFirst = await isFirstPolicy(change.tx, tenant);
  const now = new Date();
  const row = change.tx.create(usagePolicies, {
    ...{ id: newId(), organisationId, workspaceId },
    ...{ name: sent.name ?? null, description: sent.description ?? null },
    ...{ conditions: sent.conditions, groupBy: sent.group_by, status: 'active' },
    ...{ type: sent.type, target: sent.target ?? null },
    ...{ creditLimit: sent.credit_limit, alertThreshold: sent.alert_threshold ?? null },
    periodicReset: sent.periodic_reset ?? null,
    periodicResetDays: sent.periodic_reset_days ?? null,
    nextUsageResetAt: midnightOf(sent.next_usage_reset_at) ?? null,
    lastResetAt: null,
    ...{ createdAt: now, lastUpdatedAt: now },
  });
  check(row);
  await change.tx.flush();
  announce(change, row, isFirst);
  return row;
}

/** Changes the fields that were sent; null clears. Counters follow a new limit at once. */
export async function updateUsagePolicy(change: Change, row: UsagePolicyRow, sent: UpdateUsage): Promise<void> {
  requireSame('type', sent.type, row.type);
  requireSame('target', sent.target, row.target ?? null);
  requireSame('group_by', sent.group_by, row.groupBy);
  checkTarget(row.target ?? null, row.type, sent);
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  if (sent.conditions !== undefined) row.conditions = sent.conditions;
  if (sent.credit_limit !== undefined) row.creditLimit = sent.credit_limit;
  if (sent.alert_threshold !== undefined) row.alertThreshold = sent.alert_threshold;
  // Naming one way of resetting ends the other.
  if (sent.periodic_reset !== undefined) row.periodicReset = sent.periodic_reset;
  else if (sent.periodic_reset_days) row.periodicReset = null;
  if (sent.periodic_reset_days !== undefined) row.periodicResetDays = sent.periodic_reset_days;
  else if (sent.periodic_reset) row.periodicResetDays = null;
  const at = midnightOf(sent.next_usage_reset_at);
  const isSameTime = at instanceof Date && at.getTime() === row.nextUsageResetAt?.getTime();
  if (at !== undefined && !isSameTime) row.nextUsageResetAt = at;
  check(row, isSameTime);
  await applyToCounters(change.tx, row);
  if (sent.reset_usage_for_value !== undefined) {
    const now = new Date();
    const isFound = await resetCounter(change.tx, row, { valueKey: sent.reset_usage_for_value }, now.getTime());
    if (!isFound) throw invalid('reset_usage_for_value: this policy has no counter with this value key');
    row.lastResetAt = now;
  }
  row.lastUpdatedAt = new Date();
  announce(change, row);
}

/** Finds a usage policy of the tenant, with this status or, if it is null, with any. Throws AB08. */
export async function findUsagePolicy(
  em: EntityManager,
  tenant: Tenant,
  id: string,
  status: 'active' | 'archived' | null,
  lock?: 'to change',
): Promise<UsagePolicyRow> {
  const { slug, ...where } = itemOf(tenant, id);
  const options = lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {};
  const row = slug === undefined ? await em.findOne(usagePolicies, { ...where, ...(status && { status }) }, options) : null;
  if (!row) throw notFound('Usage limits policy');
  return row;
}

/** Returns the start of the UTC day of a time; undefined if none was sent, null if it was cleared. */
function midnightOf(sent: string | null | undefined): Date | null | undefined {
  return sent ? new Date(Math.floor(Date.parse(sent) / dayMs) * dayMs) : (sent as null | undefined);
}

/** Throws AB01 if the calls of a target have no units of this type, or not one of the keys. */
function checkTarget(target: PolicyTarget | null, type: UsagePolicyRow['type'], sent: Parameters<typeof checkKeys>[1]): void {
  if (target === null) return;
  if (type === 'cost' && target !== 'llm') throw invalid(`type: calls of ${target} have no cost. Use tokens or requests`);
  checkKeys(target, sent);
}

/** Throws AB01 if the fields of a policy contradict each other. */
function check(row: UsagePolicyRow, isOldTime = false): void {
  const [least, most] = bounds[row.type];
  if (row.creditLimit < least) throw invalid(`credit_limit: at least ${least} for ${row.type}`);
  if (row.creditLimit > most) throw invalid(`credit_limit: at most ${most} for ${row.type}`);
  if (row.type !== 'cost' && !Number.isInteger(row.creditLimit)) {
    throw invalid(`credit_limit: a whole number is expected for ${row.type}`);
  }
  if (row.type !== 'cost' && !Number.isInteger(row.alertThreshold ?? 0)) {
    throw invalid(`alert_threshold: a whole number is expected for ${row.type}`);
  }
  if (row.alertThreshold != null && row.alertThreshold >= row.creditLimit) {
    throw invalid('alert_threshold: must be below credit_limit');
  }
  if (row.periodicReset != null && row.periodicResetDays != null) {
    throw invalid('periodic_reset_days: not together with periodic_reset');
  }
  if (!isOldTime && row.nextUsageResetAt != null && row.nextUsageResetAt.getTime() <= Date.now()) {
    throw invalid('next_usage_reset_at: must be after the present UTC day, because it is set to 00:00 UTC');
  }
}
