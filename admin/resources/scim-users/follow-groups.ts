import { holdWorkspace } from '../../access/hold-workspace.ts';
import { roleChanged } from '../../access/role-changed.ts';
import { announceMembers } from '../../announce/user-keys.ts';
import { announceUser } from '../../announce/users.ts';
import { newId } from '../../db/new-id.ts';
import type { Change } from '../../publish/write-change.ts';
import { deleteKeysOfMembers } from '../api-keys/user-keys.ts';
import { users } from '../users/entity.ts';
import type { Making } from '../workspace-users/memberships.ts';
import { type Affected, type Difference, findDifferences } from './find-differences.ts';
import { provisionKeys } from './provision-keys.ts';

/**
 * Gives users the memberships of their groups: the strongest role of each workspace. Memberships that an administrator made stay as they
 * are. Works on sets, so that a group of thousands is a few statements. Call it after the groups are written.
 */
export async function followGroups(change: Change, organisationId: string, affected: Affected, making: Making): Promise<void> {
  const { tx } = change;
  const differences = await findDifferences(tx, organisationId, affected);
  if (differences.length === 0) return;
  for (const id of new Set(differences.map((one) => one.workspace_id))) await holdWorkspace(tx, organisationId, id);
  const joined = differences.filter((one) => one.current === null);
  const changed = differences.filter((one) => one.current !== null && one.wanted !== null);
  const left = differences.filter((one) => one.wanted === null);
  await writeMemberships(change, organisationId, { joined, changed, left }, new Date(making.now));
  await followRoles(change, organisationId, changed, left);
  await announceAll(change, organisationId, differences);
  await provisionKeys(change, organisationId, joined, making);
}

async function writeMemberships(
  { tx }: Change,
  organisationId: string,
  { joined, changed, left }: Readonly<Record<'joined' | 'changed' | 'left', readonly Difference[]>>,
  now: Date,
): Promise<void> {
  if (joined.length > 0) {
    const rows = joined.map((one) => ({ id: newId(), ...one }));
    await tx.execute(
      `insert into workspace_members
         (id, organisation_id, workspace_id, user_id, role, by_group, created_at, last_updated_at, revision)
       select r.id, ?, r.workspace_id, r.user_id, r.wanted, true, ?, ?, 1
       from jsonb_to_recordset(?::jsonb) as r (id uuid, workspace_id uuid, user_id uuid, wanted text)
       on conflict do nothing`,
      [organisationId, now, now, JSON.stringify(rows)],
      'run',
    );
  }
  if (changed.length > 0) {
    await tx.execute(
      `update workspace_members m set role = r.wanted, last_updated_at = ?, revision = m.revision + 1
       from jsonb_to_recordset(?::jsonb) as r (workspace_id uuid, user_id uuid, wanted text)
       where m.organisation_id = ? and m.workspace_id = r.workspace_id and m.user_id = r.user_id`,
      [now, JSON.stringify(changed), organisationId],
      'run',
    );
  }
  if (left.length > 0) {
    await tx.execute(
      `delete from workspace_members m using jsonb_to_recordset(?::jsonb) as r (workspace_id uuid, user_id uuid)
       where m.organisation_id = ? and m.workspace_id = r.workspace_id and m.user_id = r.user_id`,
      [JSON.stringify(left), organisationId],
      'run',
    );
  }
}

/**
 * Applies new and lost roles to the keys of these users, to the access of their OAuth clients, and to the keys they granted. Only users who
 * granted keys cost statements of their own.
 */
async function followRoles(
  change: Change,
  organisationId: string,
  changed: readonly Difference[],
  left: readonly Difference[],
): Promise<void> {
  const affected = [...changed, ...left];
  if (affected.length === 0) return;
  if (left.length > 0) await deleteKeysOfMembers(change, organisationId, left);
  await announceMembers(change, organisationId, affected);
  const grantors = await change.tx.execute<{ user_id: string; workspace_id: string }[]>(
    `select distinct r.user_id, r.workspace_id from jsonb_to_recordset(?::jsonb) as r (workspace_id uuid, user_id uuid)
       join api_keys k on k.granted_by_user_id = r.user_id and k.workspace_id = r.workspace_id
     where k.organisation_id = ?`,
    [JSON.stringify(affected), organisationId],
  );
  if (grantors.length === 0) return;
  const rows = await change.tx.find(users, { organisationId, id: { $in: grantors.map((one) => one.user_id) } });
  for (const { user_id: userId, workspace_id: workspaceId } of grantors) {
    const user = rows.find((row) => row.id === userId);
    if (user) await roleChanged(change, user, workspaceId);
  }
}

/** Announces the users to gateways, if the organisation attributes JWTs to users. */
async function announceAll(change: Change, organisationId: string, differences: readonly Difference[]): Promise<void> {
  const found = await change.tx.execute<{ email: string }[]>(
    `select u.email from users u join organisations o on o.id = u.organisation_id
     where o.id = ? and jsonb_typeof(o.auth_settings->'jwt') = 'object'
       and u.id in (select jsonb_array_elements_text(?::jsonb)::uuid)`,
    [organisationId, JSON.stringify([...new Set(differences.map((one) => one.user_id))])],
  );
  for (const { email } of found) announceUser(change, organisationId, email);
}
