import type { ApiKeyType } from '../../../core/contract/values/credentials/api-key.ts';
import { followGrants } from '../../access/follow-grants.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { invalid, unknownReference } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { mergeUsageLimits, raisesLimit } from '../../limits/schema.ts';
import type { Change } from '../../publish/write-change.ts';
import { configs } from '../configs/entity.ts';
import { effectiveKeySettings, type KeySettings } from '../organisations/key-settings.ts';
import { checkMetadata } from './check-metadata.ts';
import { checkOwner } from './check-owner.ts';
import type { ApiKey } from './entity.ts';
import { checkScopes, grantorOfChange, holdGrantor } from './grants.ts';
import { announceKey, insertKey } from './insert-key.ts';
import { sentOptions } from './options.ts';
import { boundsOf, requireOwnBounds } from './own-bounds.ts';
import { mergeRotationPolicy } from './rotation-policy.ts';
import type { CreateBody, UpdateBody } from './schema.ts';
import { checkKeyCount, endOfLife } from './user-key-rules.ts';

/** Creates a key. Only the return value contains its text. */
export async function createApiKey(
  change: Change,
  pepper: Uint8Array,
  actor: Actor,
  tenant: Tenant,
  type: ApiKeyType,
  body: CreateBody,
): Promise<{ row: ApiKey; text: string }> {
  const { tx } = change;
  const now = new Date();
  const scopes = checkScopes(actor, type, body.scopes);
  const owner = ownerOf(tenant, type, body.user_id);
  const settings = await settingsFor(tx, tenant, owner !== null);
  if (owner) {
    await checkOwner(tx, owner);
    await checkKeyCount(tx, owner, settings);
  }
  const { config_id: config, metadata, allow_config_override: override } = body.defaults ?? {};
  await checkMetadata(tx, tenant.organisationId, metadata ?? {});
  return insertKey(change, pepper, {
    ...tenant,
    ...(await holdGrantor(tx, actor, { scopes, workspaceId: tenant.workspaceId })),
    ...sentOptions(body),
    ...mergeRotationPolicy(null, body.rotation_policy ?? null, settings.rotationPeriodDays, now),
    type,
    userId: owner?.userId ?? null,
    name: body.name,
    scopes,
    defaultConfigId: (await configIdOf(tx, tenant, config ?? null)) ?? settings.defaultConfigId,
    defaultMetadata: metadata ?? {},
    allowConfigOverride: override ?? true,
    usageLimits: body.usage_limits ? mergeUsageLimits(null, body.usage_limits) : null,
    rateLimits: body.rate_limits ?? [],
    creationMode: actor.session ? 'ui' : 'api',
    expiresAt: endOfLife(settings, body.expires_at ?? undefined, now),
  });
}

/** Updates the sent fields; null clears. The actor cannot give a key more scopes than they have. */
export async function updateApiKey(change: Change, actor: Actor, row: ApiKey, body: UpdateBody): Promise<void> {
  const { tx } = change;
  const now = new Date();
  const boundsBefore = boundsOf(row);
  const tenant = { organisationId: row.organisationId, workspaceId: row.workspaceId ?? null };
  if (body.name !== undefined) row.name = body.name;
  if (body.rate_limits !== undefined) row.rateLimits = body.rate_limits ?? [];
  Object.assign(row, sentOptions(body));
  updateUsage(row, body, now);
  if (body.expires_at !== undefined || body.rotation_policy !== undefined) {
    const settings = await settingsFor(tx, tenant, row.userId !== null);
    if (body.expires_at !== undefined && body.expires_at?.getTime() !== row.expiresAt?.getTime())
      row.expiresAt = endOfLife(settings, body.expires_at, now);
    if (body.rotation_policy !== undefined) {
      Object.assign(row, mergeRotationPolicy(row, body.rotation_policy, settings.rotationPeriodDays, now));
    }
  }
  const defaults = body.defaults === null ? noDefaults : (body.defaults ?? {});
  if (defaults.metadata !== undefined) {
    await checkMetadata(tx, row.organisationId, defaults.metadata ?? {});
    row.defaultMetadata = defaults.metadata ?? {};
  }
  if (defaults.allow_config_override !== undefined) row.allowConfigOverride = defaults.allow_config_override;
  if (defaults.config_id !== undefined) row.defaultConfigId = await configIdOf(tx, tenant, defaults.config_id);
  requireOwnBounds(actor, row, boundsBefore);
  row.lastUpdatedAt = now;
  announceKey(change, row, 'upsert');
  if (body.scopes !== undefined) {
    row.scopes = checkScopes(actor, row.type, body.scopes);
    row.grantedScopes = row.scopes;
    Object.assign(row, await grantorOfChange(tx, actor, row));
    await tx.flush();
    await followGrants(change, row.organisationId, row.id);
  }
}

/** A higher limit or a manual reset re-enables a key with an exhausted budget. */
function updateUsage(row: ApiKey, body: UpdateBody, now: Date): void {
  if (body.usage_limits !== undefined) {
    const before = row.usageLimits ?? null;
    row.usageLimits = body.usage_limits === null ? null : mergeUsageLimits(before, body.usage_limits);
    if (raisesLimit(before, row.usageLimits)) row.exhaustedAt = null;
  }
  if (body.reset_usage) {
    row.lastResetAt = now;
    row.exhaustedAt = null;
  }
}

const noDefaults = { metadata: null, config_id: null, allow_config_override: true } as const;

function ownerOf(tenant: Tenant, type: ApiKeyType, sentId: string | null | undefined) {
  const userId = sentId ?? undefined;
  if ((type === 'workspace-user') !== (userId !== undefined)) {
    throw invalid(
      type === 'workspace-user'
        ? 'user_id: required, because the API key of this request belongs to no user'
        : 'user_id: only user keys have this field. Remove it',
    );
  }
  if (userId === undefined || tenant.workspaceId === null) return null;
  return { organisationId: tenant.organisationId, workspaceId: tenant.workspaceId, userId };
}

/** Returns the workspace's rules for keys of users. They do not apply to other keys. */
async function settingsFor(em: EntityManager, tenant: Tenant, ofUser: boolean): Promise<KeySettings | NoRules> {
  if (!ofUser || tenant.workspaceId === null) return noRules;
  return effectiveKeySettings(em, tenant.organisationId, tenant.workspaceId);
}

const noRules = { rotationPeriodDays: null, ttlSeconds: null, countMax: null, defaultConfigId: null } as const;
type NoRules = typeof noRules;

async function configIdOf(em: EntityManager, tenant: Tenant, idOrSlug: string | null): Promise<string | null> {
  if (idOrSlug === null) return null;
  // Organisation keys may name a config of any workspace.
  const found = await em.find(configs, { ...itemOf(tenant, idOrSlug), status: 'active' }, { limit: 2 });
  if (found.length > 1) throw invalid('defaults.config_id: several workspaces have a config with this slug; use its id');
  if (!found[0]) throw unknownReference('defaults.config_id', 'Config');
  return found[0].id;
}
