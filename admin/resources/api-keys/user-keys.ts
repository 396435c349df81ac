import { dataPlaneScopes, scopesByType } from '../../access/scopes.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../publish/write-change.ts';
import { effectiveKeySettings } from '../organisations/key-settings.ts';
import { deleteApiKey } from './delete-key.ts';
import { type ApiKey, apiKeys } from './entity.ts';
import { insertKey } from './insert-key.ts';
import { mergeRotationPolicy } from './rotation-policy.ts';
import { endOfLife, type KeyOwner, lockOwner } from './user-key-rules.ts';

/**
 * Creates the key of a user who joins a workspace, if its settings require one, with the configured life, rotation, default
 * config and scopes. Without `user_api_key_auto_create_scopes` it may call models and use the related routes. Null if no key is
 * required or the user already has one there; safe to call again. Only the return value contains the text of the key: the reply
 * to an accepted invite shows it once. Users who join in another way get a secret by rotating the key.
 */
export async function provisionUserKey(
  change: Change,
  pepper: Uint8Array,
  owner: KeyOwner,
): Promise<{ row: ApiKey; text: string } | null> {
  const { tx } = change;
  const settings = await effectiveKeySettings(tx, owner.organisationId, owner.workspaceId);
  if (!settings.autoCreate || settings.countMax === 0) return null;
  await lockOwner(tx, owner);
  if ((await tx.count(apiKeys, owner)) > 0) return null;
  const now = new Date();
  const possible = scopesByType['workspace-user'];
  const asked = settings.autoCreateScopes.length > 0 ? settings.autoCreateScopes : dataPlaneScopes;
  return insertKey(change, pepper, {
    ...owner,
    ...mergeRotationPolicy(null, null, settings.rotationPeriodDays, now),
    type: 'workspace-user',
    name: 'Personal key',
    scopes: asked.filter((scope) => possible.has(scope)),
    grantedByKeyId: null,
    grantedByUserId: null,
    defaultConfigId: settings.defaultConfigId,
    creationMode: 'auto',
    expiresAt: endOfLife(settings, undefined, now),
  });
}

/** Deletes the keys of a user who leaves one workspace, or (null) the organisation. Returns how many. */
export async function deleteKeysOfUser(
  change: Change,
  user: { readonly organisationId: string; readonly userId: string; readonly workspaceId: string | null },
): Promise<number> {
  const { organisationId, userId, workspaceId } = user;
  const rows = await change.tx.find(apiKeys, { organisationId, userId, ...(workspaceId === null ? {} : { workspaceId }) });
  for (const row of rows) await deleteApiKey(change, row);
  return rows.length;
}

/**
 * Deletes the keys of many users who left workspaces, in two statements. Owners and admins can still use the workspace, and keep theirs.
 * Keys that granted other keys are deleted one by one.
 */
export async function deleteKeysOfMembers(
  change: Change,
  organisationId: string,
  members: readonly { readonly user_id: string; readonly workspace_id: string }[],
): Promise<void> {
  const { tx } = change;
  const keys = await tx.execute<{ id: string; public_id: string; is_grantor: boolean }[]>(
    `select k.id, k.public_id, exists (select 1 from api_keys g where g.granted_by_key_id = k.id) as is_grantor
     from jsonb_to_recordset(?::jsonb) as r (workspace_id uuid, user_id uuid)
       join api_keys k on k.user_id = r.user_id and k.workspace_id = r.workspace_id
       join users u on u.id = r.user_id and u.role = 'member'
     where k.organisation_id = ?`,
    [JSON.stringify(members.map(({ user_id, workspace_id }) => ({ user_id, workspace_id }))), organisationId],
  );
  const grantors = await tx.find(apiKeys, {
    organisationId,
    id: { $in: keys.filter((one) => one.is_grantor).map((one) => one.id) },
  });
  for (const row of grantors) await deleteApiKey(change, row);
  await tx.flush();
  const plain = keys.filter((one) => !one.is_grantor);
  await tx.execute(
    'delete from api_keys where organisation_id = ? and id in (select jsonb_array_elements_text(?::jsonb)::uuid)',
    [organisationId, JSON.stringify(plain.map((one) => one.id))],
    'run',
  );
  for (const { public_id } of plain) change.emit({ kind: 'api-key', id: public_id, op: 'delete' });
}

/** A user is deleted or deactivated: the API keys they granted keep the scopes they have now. */
export async function releaseGrantsOfUser(
  tx: EntityManager,
  user: { readonly id: string; readonly organisationId: string },
): Promise<void> {
  await tx.execute(
    `update api_keys set granted_scopes = scopes, granted_by_user_id = null, revision = revision + 1
     where organisation_id = ? and granted_by_user_id = ?`,
    [user.organisationId, user.id],
    'run',
  );
}
