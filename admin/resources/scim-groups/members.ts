import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { ScimError } from '../../scim/scim-error.ts';

export interface Group {
  readonly id: string;
  readonly organisationId: string;
}

/** Members per statement. One of 20,000 took 1.4 s of a busy database, which ends each statement after two. */
const membersPerStatement = 2_000;

/** Names the member with this index in errors. */
type FieldOf = (index: number) => string;

/** Adds members and returns those that were not in the group. Throws `invalidValue` for unknown users. */
export async function addMembers(
  tx: EntityManager,
  group: Group,
  ids: readonly string[],
  fieldOf: FieldOf = (index) => `members[${index}]`,
): Promise<string[]> {
  const wrong = ids.findIndex((id) => !isUuid(id));
  if (wrong !== -1) throw unknown(fieldOf(wrong));
  const added: string[] = [];
  for (let at = 0; at < ids.length; at += membersPerStatement) {
    const part = ids.slice(at, at + membersPerStatement);
    for (const id of await addPart(tx, group, part, (index) => fieldOf(at + index))) added.push(id);
  }
  return added;
}

async function addPart(tx: EntityManager, group: Group, ids: readonly string[], fieldOf: FieldOf): Promise<string[]> {
  const lower = ids.map((id) => id.toLowerCase());
  const rows = await executeBound<{ id: string; is_added: boolean }>(
    tx,
    `with known as materialized (select id from users where organisation_id = $1 and id = any($3::uuid[])),
       added as (
         insert into scim_group_members (organisation_id, group_id, user_id) select $1, $2::uuid, id from known
         on conflict do nothing returning user_id)
     select id, false as is_added from known union all select user_id, true from added`,
    [group.organisationId, group.id, lower],
  );
  const known = new Set(rows.map((row) => row.id));
  const missing = lower.findIndex((id) => !known.has(id));
  if (missing !== -1) throw unknown(fieldOf(missing));
  return rows.filter((row) => row.is_added).map((row) => row.id);
}

/** Removes members and returns those that were in the group. */
export async function removeMembers(tx: EntityManager, group: Group, ids: readonly string[]): Promise<string[]> {
  const gone = await executeBound<{ user_id: string }>(
    tx,
    'delete from scim_group_members where organisation_id = $1 and group_id = $2 and user_id = any($3::uuid[]) returning user_id',
    [group.organisationId, group.id, ids.filter(isUuid)],
  );
  return gone.map((row) => row.user_id);
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

function unknown(field: string): ScimError {
  return new ScimError('invalidValue', `${field}.value: User not found`);
}
