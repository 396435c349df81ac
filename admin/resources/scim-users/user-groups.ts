import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { validate } from '../../http/request/validate.ts';
import type { Change } from '../../publish/write-change.ts';
import { ScimError } from '../../scim/scim-error.ts';
import type { AuthSettings } from '../organisations/entity.ts';
import { scimSettings } from '../organisations/scim-settings.ts';
import type { User } from '../users/entity.ts';
import type { Making } from '../workspace-users/memberships.ts';
import type { DirectoryUser } from './attributes.ts';
import { followGroups } from './follow-groups.ts';

/** Maximum number of groups in one request. */
const groupsMax = 1_000;

type Owner = Pick<User, 'id' | 'organisationId'>;

/** True if directories write memberships of groups through users (`membership_mode` is `users`). */
export async function writesGroups(em: EntityManager, organisationId: string): Promise<boolean> {
  const [found] = await executeBound<{ auth_settings: AuthSettings | null }>(
    em,
    'select auth_settings from organisations where id = $1',
    [organisationId],
  );
  return scimSettings(found?.auth_settings ?? {}).membership_mode === 'users';
}

/** Returns the ids of the groups of a user, sorted. */
export async function groupsOfUser(em: EntityManager, { id, organisationId }: Owner): Promise<string[]> {
  const rows = await executeBound<{ group_id: string }>(
    em,
    'select group_id from scim_group_members where organisation_id = $1 and user_id = $2 order by group_id',
    [organisationId, id],
  );
  return rows.map((row) => row.group_id);
}

const groupList = v.pipe(
  v.array(v.object({ value: v.string('required') })),
  v.maxLength(groupsMax, `at most ${groupsMax} groups`),
);

/** Returns the ids of the groups that a directory sent with a user, sorted. Undefined: not sent. Throws `invalidValue`. */
export function sentGroups({ groups }: DirectoryUser): string[] | undefined {
  if (groups === undefined) return undefined;
  const ids = validate(groupList, groups, 'groups').map(({ value }) => value.toLowerCase());
  const wrong = ids.find((id) => !isUuid(id));
  if (wrong !== undefined) throw unknown(wrong);
  return [...new Set(ids)].sort();
}

/** Makes a user a member of exactly these groups. Throws `invalidValue` for unknown groups. */
export async function replaceGroups(change: Change, user: Owner, ids: readonly string[], making: Making): Promise<void> {
  const { tx } = change;
  const { organisationId, id: userId } = user;
  const current = await groupsOfUser(tx, user);
  const added = ids.filter((id) => !current.includes(id));
  const removed = current.filter((id) => !ids.includes(id));
  if (added.length + removed.length === 0) return;
  // The revision of a group counts changes of its members. All are locked in one order, so that requests cannot wait for each other.
  const held = await executeBound<{ id: string }>(
    tx,
    `with held as (select id from scim_groups where organisation_id = $1 and id = any($2::uuid[]) order by id for update)
     update scim_groups g set last_updated_at = $3, revision = g.revision + 1 from held where g.id = held.id returning g.id`,
    [organisationId, [...added, ...removed], new Date(making.now)],
  );
  const known = new Set(held.map((row) => row.id));
  const missing = added.find((id) => !known.has(id));
  if (missing !== undefined) throw unknown(missing);
  await executeBound(
    tx,
    `insert into scim_group_members (organisation_id, group_id, user_id) select $1, id, $3 from unnest($2::uuid[]) as id
     on conflict do nothing`,
    [organisationId, added, userId],
  );
  await executeBound(
    tx,
    'delete from scim_group_members where organisation_id = $1 and group_id = any($2::uuid[]) and user_id = $3',
    [organisationId, removed, userId],
  );
  await followGroups(change, organisationId, { userIds: [userId], workspaceIds: null }, making);
}

function unknown(id: string): ScimError {
  return new ScimError('invalidValue', `groups: ${id.slice(0, 100)}: Group not found`);
}
