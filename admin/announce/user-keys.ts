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

/** Like `announceUserKeys` for keys and grants of many members of workspaces, in two statements. Call `announceUsers` for the users. */
export async function announceMembers(
  change: Change,
  organisationId: string,
  members: readonly { readonly user_id: string; readonly workspace_id: string }[],
): Promise<void> {
  const pairs = JSON.stringify(members.map(({ user_id, workspace_id }) => ({ user_id, workspace_id })));
  const of = 'from jsonb_to_recordset(?::jsonb) as r (workspace_id uuid, user_id uuid)';
  const keys = await change.tx.execute<{ public_id: string }[]>(
    `select k.public_id ${of} join api_keys k on k.user_id = r.user_id and k.workspace_id = r.workspace_id
     where k.organisation_id = ? and k.type = 'workspace-user'`,
    [pairs, organisationId],
  );
  for (const { public_id } of keys) change.emit({ kind: 'api-key', id: public_id, op: 'upsert' });
  const grants = await change.tx.execute<{ id: string }[]>(
    `select g.id ${of} join oauth_grants g on g.user_id = r.user_id and g.workspace_id = r.workspace_id
     where g.organisation_id = ? and g.status = 'active'`,
    [pairs, organisationId],
  );
  for (const { id } of grants) change.emit({ kind: 'oauth-grant', id, op: 'upsert' });
}
