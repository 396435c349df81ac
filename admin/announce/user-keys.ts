import type { Change } from '../publish/write-change.ts';
import { announceUsers } from './users.ts';

/**
 * Announces that the scopes of users' keys changed, with a role or with a setting about roles. Gateways load those keys and the grants of
 * OAuth clients again, and the users to whom JWTs are attributed. Null: any workspace, any user.
 */
export async function announceUserKeys(
  change: Change,
  of: { readonly organisationId: string; readonly workspaceId: string | null; readonly userId: string | null },
): Promise<void> {
  const keys = await change.tx.execute<{ public_id: string }[]>(
    `select public_id from api_keys where organisation_id = ? and type = 'workspace-user'
       and (?::uuid is null or workspace_id = ?::uuid) and (?::uuid is null or user_id = ?::uuid)`,
    [of.organisationId, of.workspaceId, of.workspaceId, of.userId, of.userId],
  );
  for (const { public_id } of keys) change.emit({ kind: 'api-key', id: public_id, op: 'upsert' });
  const grants = await change.tx.execute<{ id: string }[]>(
    `select id from oauth_grants where organisation_id = ? and status = 'active'
       and (?::uuid is null or workspace_id = ?::uuid) and (?::uuid is null or user_id = ?::uuid)`,
    [of.organisationId, of.workspaceId, of.workspaceId, of.userId, of.userId],
  );
  for (const { id } of grants) change.emit({ kind: 'oauth-grant', id, op: 'upsert' });
  await announceUsers(change, of);
}
