import { announceUserKeys } from '../announce/user-keys.ts';
import type { Change } from '../publish/write-change.ts';
import { readTenancy } from '../resources/organisations/effective-setting.ts';
import { type SecuritySettings, securitySettingsOf } from '../resources/organisations/security-settings.ts';
import type { User } from '../resources/users/entity.ts';
import { workspaces } from '../resources/workspaces/entity.ts';
import { followUserGrantors, type UserGrantor } from './follow-grants.ts';
import { type GrantingRoles, mayGrant } from './may-grant.ts';

/** Keys that a change concerns. Null: any workspace and the organisation, any user. */
interface Concerned {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly userId: string | null;
}

/**
 * Applies a change of a user's role, in the organisation or in one workspace, to their own keys and to the keys they granted.
 * Call it after the change is flushed.
 */
export function roleChanged(
  change: Change,
  { id: userId, organisationId }: Pick<User, 'id' | 'organisationId'>,
  workspaceId: string | null,
): Promise<void> {
  return applyRoles(change, { organisationId, workspaceId, userId });
}

/** Applies a change of security settings, of the organisation or of one workspace, like `roleChanged` for all users. */
export async function securitySettingsChanged(change: Change, organisationId: string, workspaceId: string | null): Promise<void> {
  await change.tx.flush();
  await applyRoles(change, { organisationId, workspaceId, userId: null });
}

async function applyRoles(change: Change, concerned: Concerned): Promise<void> {
  await announceUserKeys(change, concerned);
  const { organisationId } = concerned;
  const grantors = await grantorsOf(change, concerned);
  if (grantors.length === 0) return;
  const settings = await settingsOf(change, organisationId, grantors);
  // Workspaces mostly have the same settings, so there are few groups.
  const groups = new Map<string, UserGrantor[]>();
  for (const { userId, workspaceId, role, workspaceRole } of grantors) {
    const allowed = JSON.stringify([...mayGrant({ workspaceId, role, workspaceRole }, settings(workspaceId))]);
    groups.set(allowed, [...(groups.get(allowed) ?? []), { userId, workspaceId }]);
  }
  for (const [allowed, group] of groups) await followUserGrantors(change, organisationId, group, JSON.parse(allowed) as string[]);
}

type GrantorInRole = UserGrantor & GrantingRoles;

/** Users who granted keys. Those whom the directory has deactivated grant none any more, see `releaseGrantsOfUser`. */
function grantorsOf(change: Change, { organisationId, workspaceId, userId }: Concerned): Promise<GrantorInRole[]> {
  return change.tx.execute<GrantorInRole[]>(
    `select distinct u.id as "userId", k.workspace_id as "workspaceId", u.role, m.role as "workspaceRole"
     from api_keys k join users u on u.id = k.granted_by_user_id
     left join workspace_members m on m.workspace_id = k.workspace_id and m.user_id = u.id
     where k.organisation_id = ? and (?::uuid is null or k.workspace_id = ?::uuid) and (?::uuid is null or k.granted_by_user_id = ?::uuid)`,
    [organisationId, workspaceId, workspaceId, userId, userId],
  );
}

/** Returns the settings in effect for each workspace of these grantors, and for the organisation (null). */
async function settingsOf(
  { tx }: Change,
  organisationId: string,
  grantors: readonly UserGrantor[],
): Promise<(workspaceId: string | null) => SecuritySettings> {
  const { organisation } = await readTenancy(tx, organisationId, null);
  const ids = [...new Set(grantors.flatMap(({ workspaceId }) => workspaceId ?? []))];
  const rows = await tx.find(workspaces, { organisationId, id: { $in: ids } });
  const known = new Map(rows.map((workspace) => [workspace.id, securitySettingsOf({ organisation, workspace })]));
  const common = securitySettingsOf({ organisation, workspace: null });
  return (workspaceId) => known.get(workspaceId ?? '') ?? common;
}
