import { newId, newSlug } from '../../../db/new-id.ts';
import type { WorkspaceTenant } from '../../../db/tenant.ts';
import { conflict } from '../../../http/errors.ts';
import { mergeUsageLimits, type RateLimit, type UsageLimitsBody } from '../../../limits/schema.ts';
import type { Change } from '../../../publish/write-change.ts';
import { type Provider, providers } from '../../providers/entity.ts';

export interface NewProvider {
  readonly name: string;
  readonly slug?: string | undefined;
  readonly integrationId: string;
  readonly note?: string | null | undefined;
  readonly expiresAt?: Date | null | undefined;
  readonly usageLimits?: UsageLimitsBody | null | undefined;
  readonly rateLimits?: readonly RateLimit[] | null | undefined;
  readonly tags?: Record<string, unknown> | null | undefined;
}

/** Adds a provider to a workspace. Throws AB07 if the workspace has its slug already. */
export async function createProvider(change: Change, tenant: WorkspaceTenant, sent: NewProvider): Promise<Provider> {
  const { tx } = change;
  const { organisationId, workspaceId } = tenant;
  const slug = sent.slug ?? newSlug('', sent.name);
  if ((await tx.count(providers, { workspaceId, slug })) > 0)
    throw conflict(`slug: a provider with the slug ${slug} already exists in this workspace`);
  const now = new Date();
  const row = tx.create(providers, {
    id: newId(),
    organisationId,
    workspaceId,
    integrationId: sent.integrationId,
    slug,
    name: sent.name,
    note: sent.note ?? null,
    expiresAt: sent.expiresAt ?? null,
    usageLimits: sent.usageLimits ? mergeUsageLimits(null, sent.usageLimits) : null,
    rateLimits: [...(sent.rateLimits ?? [])],
    lastResetAt: null,
    exhaustedAt: null,
    tags: sent.tags ?? null,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await tx.flush();
  change.emit({ kind: 'provider', id: `${workspaceId}/${slug}`, op: 'upsert' });
  return row;
}
