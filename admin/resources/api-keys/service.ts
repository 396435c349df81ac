import type * as v from 'valibot';
import { digestSecret, newApiKey } from '../../../core/contract/api-key.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../db/write-change.ts';
import { kindOfType } from '../../http/authenticate.ts';
import { conflict, invalid, notFound, unknownReference } from '../../http/errors.ts';
import { itemOf } from '../../http/find-item.ts';
import type { Actor } from '../../http/route.ts';
import { configs } from '../configs/entity.ts';
import { checkScopes } from './check-scopes.ts';
import { type ApiKey, type ApiKeyType, apiKeys } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';

interface Tenant {
  readonly organisationId: string;
  readonly workspaceId: string | null;
}

/** Makes a key. Its text is in the answer and nowhere else. */
export async function createApiKey(
  change: Change,
  pepper: Uint8Array,
  actor: Actor,
  tenant: Tenant,
  type: ApiKeyType,
  body: v.InferOutput<typeof createBody>,
): Promise<{ row: ApiKey; text: string }> {
  if ((type === 'workspace-user') !== (body.user_id !== undefined)) {
    throw invalid(type === 'workspace-user' ? 'user_id: required' : 'user_id: only keys of users have one');
  }
  const key = newApiKey(kindOfType[type]);
  const now = new Date();
  const row = change.tx.create(apiKeys, {
    ...tenant,
    id: newId(),
    userId: body.user_id ?? null,
    type,
    name: body.name,
    description: body.description ?? null,
    publicId: key.id,
    digest: digestSecret(pepper, key.secret),
    lastCharacters: key.text.slice(-4),
    previousDigest: null,
    previousExpiresAt: null,
    scopes: checkScopes(actor, type, body.scopes),
    defaultConfigId: await configIdOf(change.tx, tenant, body.defaults?.config_id ?? null),
    defaultMetadata: body.defaults?.metadata ?? {},
    allowConfigOverride: body.defaults?.allow_config_override ?? true,
    creationMode: 'api',
    expiresAt: body.expires_at ?? null,
    createdAt: now,
    lastUpdatedAt: now,
  });
  announce(change, row, 'upsert');
  return { row, text: key.text };
}

/** Changes what is named; null clears. A key cannot be given more than its changer has. */
export async function updateApiKey(
  change: Change,
  actor: Actor,
  row: ApiKey,
  body: v.InferOutput<typeof updateBody>,
): Promise<void> {
  if (body.name !== undefined) row.name = body.name;
  if (body.description !== undefined) row.description = body.description;
  if (body.scopes !== undefined) row.scopes = checkScopes(actor, row.type, body.scopes);
  if (body.expires_at !== undefined) row.expiresAt = body.expires_at;
  const defaults = body.defaults ?? {};
  if (defaults.metadata !== undefined) row.defaultMetadata = defaults.metadata ?? {};
  if (defaults.allow_config_override !== undefined) row.allowConfigOverride = defaults.allow_config_override;
  if (defaults.config_id !== undefined) {
    const tenant = { organisationId: row.organisationId, workspaceId: row.workspaceId ?? null };
    row.defaultConfigId = await configIdOf(change.tx, tenant, defaults.config_id);
  }
  row.lastUpdatedAt = new Date();
  announce(change, row, 'upsert');
}

/** Gives the key a new secret; the one before stays good for the transition. Throws AB07 while a transition is running. */
export function rotateApiKey(
  change: Change,
  pepper: Uint8Array,
  row: ApiKey,
  transitionMs: number,
): { text: string; transitionEndsAt: Date } {
  const now = Date.now();
  if ((row.previousExpiresAt?.getTime() ?? 0) > now) throw conflict('The rotation before this one is still in transition');
  const key = newApiKey(kindOfType[row.type], row.publicId);
  const transitionEndsAt = new Date(now + transitionMs);
  row.previousDigest = row.digest;
  row.previousExpiresAt = transitionEndsAt;
  row.digest = digestSecret(pepper, key.secret);
  row.lastCharacters = key.text.slice(-4);
  row.lastUpdatedAt = new Date(now);
  announce(change, row, 'upsert');
  return { text: key.text, transitionEndsAt };
}

export function deleteApiKey(change: Change, row: ApiKey): void {
  change.tx.remove(row);
  announce(change, row, 'delete');
}

/** The caller's key by row id; workspace keys reach only keys of their workspace. Throws AB08. */
export async function findApiKey(em: EntityManager, call: Tenant, id: string): Promise<ApiKey> {
  const where = itemOf(call, id);
  const found = where.id === undefined ? null : await em.findOne(apiKeys, where);
  if (!found) throw notFound('API key');
  return found;
}

async function configIdOf(em: EntityManager, tenant: Tenant, idOrSlug: string | null): Promise<string | null> {
  if (idOrSlug === null) return null;
  if (tenant.workspaceId === null) throw invalid('defaults.config_id: organisation keys have no config');
  const found = await em.findOne(configs, { ...itemOf(tenant, idOrSlug), status: 'active' });
  if (!found) throw unknownReference('defaults.config_id', 'Config');
  return found.id;
}

function announce(change: Change, row: ApiKey, op: 'upsert' | 'delete'): void {
  change.about(row.id);
  change.emit({ kind: 'api-key', id: row.publicId, op });
}
