import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import { notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { mergeUsageLimits, type RateLimit, raisesLimit, type UsageLimitsBody } from '../../limits/schema.ts';
import type { Change } from '../../publish/write-change.ts';
import { type Provider, providers } from './entity.ts';

export interface ProviderChanges {
  readonly name?: string | undefined;
  readonly note?: string | null | undefined;
  readonly expires_at?: Date | null | undefined;
  readonly usage_limits?: UsageLimitsBody | null | undefined;
  readonly rate_limits?: readonly RateLimit[] | null | undefined;
  readonly tags?: Record<string, unknown> | null | undefined;
  readonly reset_usage?: boolean | null | undefined;
}

/** Updates the sent fields; null clears. A higher limit or a manual reset re-enables a provider with an exhausted budget. */
export function updateProvider(change: Change, row: Provider, sent: ProviderChanges): void {
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.note !== undefined) row.note = sent.note;
  if (sent.expires_at !== undefined) row.expiresAt = sent.expires_at;
  if (sent.rate_limits !== undefined) row.rateLimits = [...(sent.rate_limits ?? [])];
  if (sent.tags !== undefined) row.tags = sent.tags;
  if (sent.usage_limits !== undefined) {
    const before = row.usageLimits ?? null;
    row.usageLimits = sent.usage_limits === null ? null : mergeUsageLimits(before, sent.usage_limits);
    if (raisesLimit(before, row.usageLimits)) row.exhaustedAt = null;
  }
  if (sent.reset_usage) {
    row.lastResetAt = new Date();
    row.exhaustedAt = null;
  }
  row.lastUpdatedAt = new Date();
  announce(change, row, 'upsert');
}

/** Removes the row in the transaction, and announces the deletion to gateways. */
export function deleteProvider(change: Change, row: Provider): void {
  change.tx.remove(row);
  announce(change, row, 'delete');
}

/** Returns the caller's provider by id or slug. Throws AB08 with the name used on the route. */
export async function findProvider(em: EntityManager, call: Tenant, idOrSlug: string, what = 'Provider'): Promise<Provider> {
  const found = await em.findOne(providers, itemOf(call, idOrSlug));
  if (!found) throw notFound(what);
  return found;
}

/** Ids of the workspaces of the organisation that have a provider with this slug. */
export async function workspacesWithProvider(em: EntityManager, organisationId: string, slug: string): Promise<string[]> {
  const found = await em.find(providers, { organisationId, slug }, { fields: ['workspaceId'] });
  return found.map((row) => row.workspaceId);
}

function announce(change: Change, row: Provider, op: 'upsert' | 'delete'): void {
  change.about(row);
  change.emit({ kind: 'provider', id: `${row.workspaceId}/${row.slug}`, op });
}
