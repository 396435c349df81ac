import { LockMode } from '@mikro-orm/core';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant, WorkspaceTenant } from '../../db/tenant.ts';
import { invalid, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import type { Change } from '../../publish/write-change.ts';
import { type RatePolicyRow, ratePolicies } from './entity.ts';
import type { CreateRate, UpdateRate } from './rate-schema.ts';
import { announce, checkKeys, isFirstPolicy, policiesMax, requireSame } from './service.ts';

/** Creates a rate limit policy. Throws AB01 if a key does not exist for its target. */
export async function createRatePolicy(change: Change, tenant: WorkspaceTenant, sent: CreateRate): Promise<RatePolicyRow> {
  const { organisationId, workspaceId } = tenant;
  checkKeys(sent.target, sent);
  const active = await change.tx.count(ratePolicies, { organisationId, workspaceId, status: 'active' });
  if (active >= policiesMax) throw invalid(`A workspace can have at most ${policiesMax} rate limit policies`);
  const isFirst = await isFirstPolicy(change.tx, tenant);
  const now = new Date();
  const row = change.tx.create(ratePolicies, {
    ...{ id: newId(), organisationId, workspaceId },
    ...{ name: sent.name ?? null, description: sent.description ?? null },
    ...{ conditions: sent.conditions, groupBy: sent.group_by, status: 'active' },
    ...{ type: sent.type, unit: sent.unit, value: sent.value, target: sent.target },
    ...{ createdAt: now, lastUpdatedAt: now },
  });
  await change.tx.flush();
  announce(change, row, isFirst);
  return row;
}

/** Changes the fields that were sent; null clears. Another unit begins a new window. */
export function updateRatePolicy(change: Change, row: RatePolicyRow, sent: UpdateRate): void {
  requireSame('type', sent.type, row.type);
  requireSame('target', sent.target, row.target);
  requireSame('group_by', sent.group_by, row.groupBy);
  checkKeys(row.target, sent);
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  if (sent.conditions !== undefined) row.conditions = sent.conditions;
  if (sent.unit !== undefined) row.unit = sent.unit;
  if (sent.value !== undefined) row.value = sent.value;
  row.lastUpdatedAt = new Date();
  announce(change, row);
}

/** Finds a rate limit policy of the tenant. Throws AB08. */
export async function findRatePolicy(
  em: EntityManager,
  tenant: Tenant,
  id: string,
  status: 'active' | 'archived',
  lock?: 'to change',
): Promise<RatePolicyRow> {
  const { slug, ...where } = itemOf(tenant, id);
  const options = lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {};
  const row = slug === undefined ? await em.findOne(ratePolicies, { ...where, status }, options) : null;
  if (!row) throw notFound('Rate limits policy');
  return row;
}
