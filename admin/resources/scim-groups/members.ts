import { isUuid } from '../../../core/contract/values/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { ScimError } from '../../scim/scim-error.ts';

interface Group {
  readonly id: string;
  readonly organisationId: string;
}

/** Adds members and returns those that were not in the group. Throws `invalidValue` for unknown users. */
export async function addMembers(tx: EntityManager, group: Group, ids: readonly string[]): Promise<string[]> {
  const wrong = ids.findIndex((id) => !isUuid(id));
  if (wrong !== -1) throw unknown(wrong);
  const lower = ids.map((id) => id.toLowerCase());
  const wanted = JSON.stringify(lower);
  // Read as a set. With `not exists` PostgreSQL may compare every id with every user: 1.6 s for 2,000 members of 5,000 users.
  const users = await tx.execute<{ id: string }[]>(
    'select u.id from users u where u.organisation_id = ? and u.id in (select jsonb_array_elements_text(?::jsonb)::uuid)',
    [group.organisationId, wanted],
  );
  const known = new Set(users.map((user) => user.id));
  const missing = lower.findIndex((id) => !known.has(id));
  if (missing !== -1) throw unknown(missing);
  const added = await tx.execute<{ user_id: string }[]>(
    `insert into scim_group_members (organisation_id, group_id, user_id)
     select distinct ?::uuid, ?::uuid, s.id::uuid from jsonb_array_elements_text(?::jsonb) as s (id)
     on conflict do nothing returning user_id`,
    [group.organisationId, group.id, wanted],
  );
  return added.map((row) => row.user_id);
}

/** Removes members and returns those that were in the group. */
export async function removeMembers(tx: EntityManager, group: Group, ids: readonly string[]): Promise<string[]> {
  return deleteWhere(tx, group, 'm.user_id in (select jsonb_array_elements_text(?::jsonb)::uuid)', [
    JSON.stringify(ids.filter(isUuid)),
  ]);
}

/** Removes the members that are not in the list and returns them. */
export async function keepMembers(tx: EntityManager, group: Group, ids: readonly string[]): Promise<string[]> {
  return deleteWhere(tx, group, 'm.user_id not in (select jsonb_array_elements_text(?::jsonb)::uuid)', [
    JSON.stringify(ids.filter(isUuid)),
  ]);
}

/** Removes the members that meet a condition on `scim_group_members m` and returns them. */
export async function deleteWhere(
  tx: EntityManager,
  group: Group,
  condition: string,
  values: readonly unknown[],
): Promise<string[]> {
  const gone = await tx.execute<{ user_id: string }[]>(
    `delete from scim_group_members m where m.organisation_id = ? and m.group_id = ? and ${condition} returning m.user_id`,
    [group.organisationId, group.id, ...values],
  );
  return gone.map((row) => row.user_id);
}

function unknown(index: number): ScimError {
  return new ScimError('invalidValue', `members[${index}].value: User not found`);
}
