import { LockMode } from '@mikro-orm/core';
import type { Filter } from 'scim2-parse-filter';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { announceUser } from '../../announce/users.ts';
import { executeBound } from '../../db/execute-bound.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { notFound } from '../../http/errors.ts';
import { validate } from '../../http/request/validate.ts';
import type { Dependents } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import { filterToSql } from '../../scim/filter-to-sql.ts';
import { type PatchStep, requireSimple } from '../../scim/patch.ts';
import { ScimError } from '../../scim/scim-error.ts';
import { groupSchema } from '../../scim/urns.ts';
import type { AuthSettings } from '../organisations/entity.ts';
import { scimSettings } from '../organisations/scim-settings.ts';
import { followGroups } from '../scim-users/follow-groups.ts';
import type { Making } from '../workspace-users/memberships.ts';
import { type ScimGroup, scimGroups, scimGroupWorkspaces } from './entity.ts';
import { archiveUnused, mapByName } from './mappings.ts';
import { MemberChanges } from './member-changes.ts';
import { addMembers, deleteWhere } from './members.ts';
import { displayName, externalId, type GroupBody, memberList } from './schema.ts';

/** The parts of a request that a change of a group needs. */
export interface Context {
  readonly actor: Actor;
  readonly making: Making;
  readonly dependents: Dependents;
}

/** Thrown to roll back a change that would change nothing, so that it leaves no audit entry either. */
export class Unchanged extends Error {}

/** A group of the organisation by id. Throws AB08. */
export async function findGroup(
  em: EntityManager,
  organisationId: string,
  id: string,
  options: { readonly lockMode?: LockMode } = {},
): Promise<ScimGroup> {
  const row = isUuid(id) ? await em.findOne(scimGroups, { id, organisationId }, options) : null;
  if (!row) throw notFound('Group');
  return row;
}

/** Like `findGroup`, and locks the group: changes of one group follow each other. */
export async function holdGroup(tx: EntityManager, organisationId: string, id: string): Promise<ScimGroup> {
  return findGroup(tx, organisationId, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Adds a group. Throws `uniqueness` if the name is taken. */
export async function createGroup(change: Change, body: GroupBody, context: Context): Promise<ScimGroup> {
  const { organisationId } = context.actor;
  const row = await insertGroup(change, organisationId, body, context.making.now);
  const effects = await effectsOf(change.tx, row);
  const added = effects.hasMembers ? await addMembers(change.tx, row, body.members ?? []) : [];
  await applied(change, row, { touched: added, added, isRenamed: true, effects }, context);
  return row;
}

/** Inserts the row of a group, without members and mappings. */
export async function insertGroup(
  change: Change,
  organisationId: string,
  { displayName: name, externalId: external }: Pick<GroupBody, 'displayName' | 'externalId'>,
  now: number,
): Promise<ScimGroup> {
  await requireFree(change.tx, organisationId, name, null);
  const row = change.tx.create(scimGroups, {
    id: newId(),
    organisationId,
    displayName: name,
    externalId: external ?? null,
    createdAt: new Date(now),
    lastUpdatedAt: new Date(now),
  });
  await change.tx.flush();
  change.about(row);
  return row;
}

/**
 * Replaces name, external id and members of a group. Absent members stay. Members are ignored if directories write them with users. Throws
 * Unchanged.
 */
export async function replaceGroup(change: Change, row: ScimGroup, body: GroupBody, context: Context): Promise<void> {
  const edit = new GroupEdit(change, row, await effectsOf(change.tx, row));
  edit.rename(body.displayName);
  edit.setExternalId(body.externalId ?? null);
  if (body.members) edit.replaceMembers(body.members);
  await edit.finish(context);
}

/** Applies the operations of a PATCH, each as changes of rows. Throws Unchanged. */
export async function patchGroup(change: Change, row: ScimGroup, steps: readonly PatchStep[], context: Context): Promise<void> {
  const edit = new GroupEdit(change, row, await effectsOf(change.tx, row));
  for (const step of steps) await edit.apply(step);
  await edit.finish(context);
}

/** Removes a group with its mappings. Memberships that only it gave end. */
export async function deleteGroup(change: Change, row: ScimGroup, context: Context): Promise<void> {
  const { organisationId, id: groupId } = row;
  const made = await change.tx.find(scimGroupWorkspaces, { organisationId, groupId });
  const members = await deleteWhere(change.tx, row, 'true', []);
  await change.tx.nativeDelete(scimGroupWorkspaces, { organisationId, groupId });
  change.tx.remove(row);
  await change.tx.flush();
  change.about({ id: groupId });
  await followGroups(
    change,
    organisationId,
    { userIds: members, workspaceIds: made.map((one) => one.workspaceId) },
    context.making,
  );
  await archiveUnused(change, context.actor, made, context.dependents);
}

/** Changes of one group in one transaction. */
class GroupEdit {
  readonly #change: Change;
  readonly #row: ScimGroup;
  readonly #effects: Effects;
  /** The members that the operations have added, and those that they have removed. A member that is in the group again is in neither. */
  readonly #added = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #members = new MemberChanges();
  /** The name after the operations. */
  #name: string;
  #isChanged = false;

  constructor(change: Change, row: ScimGroup, effects: Effects) {
    this.#change = change;
    this.#row = row;
    this.#effects = effects;
    this.#name = row.displayName;
  }

  async apply(step: PatchStep): Promise<void> {
    const { op, path, value, isNamed } = step;
    switch (path.attribute) {
      case 'displayname':
        requireSimple('displayName', path);
        if (op === 'remove') throw new ScimError('mutability', 'displayName: required, so it cannot be removed');
        return this.rename(validate(displayName, value, 'displayName'));
      case 'externalid':
        requireSimple('externalId', path);
        return this.setExternalId(op === 'remove' ? null : (validate(externalId, value, 'externalId') ?? null));
      case 'members':
        return this.#applyToMembers(step);
      case 'id':
      case 'meta':
      case 'schemas':
        // Okta repeats the id in an object without path.
        if (isNamed) throw new ScimError('mutability', `${path.attribute}: read-only`);
    }
  }

  /** Entra ID removes members with a value beside the path `members`. Only a `remove` without both empties the group. */
  async #applyToMembers({ op, path, value, at }: PatchStep): Promise<void> {
    const { tx } = this.#change;
    if (!this.#effects.hasMembers) return;
    // `members.display` must not be read as `members`, which would empty the group.
    if (path.sub !== null) throw new ScimError('mutability', `members.${path.sub}: read-only. Add or remove whole members`);
    if (path.filter !== null) {
      if (op !== 'remove') throw new ScimError('noTarget', 'members: elements can be added, replaced as a whole, or removed');
      const only = memberOf(path.filter);
      if (only !== null) return this.#members.remove([only]);
      const { sql, values } = filterToSql({ op: '[]', attrPath: 'members', valFilter: path.filter }, elementColumns, groupSchema);
      await this.#writeMembers();
      return this.#removed(await deleteWhere(tx, this.#row, sql, values));
    }
    const ids =
      value === undefined || value === null ? null : validate(memberList, Array.isArray(value) ? value : [value], 'members');
    if (op === 'add') this.#members.add(ids ?? [], at);
    else if (op === 'remove' && ids !== null) this.#members.remove(ids);
    else this.#members.replace(ids ?? [], at);
  }

  async #writeMembers(): Promise<void> {
    const { added, removed } = await this.#members.write(this.#change.tx, this.#row);
    this.#addedTo(added);
    this.#removed(removed);
  }

  /** Returns false if the name is the same as before the operations. */
  async #writeName(): Promise<boolean> {
    if (this.#name === this.#row.displayName) return false;
    await requireFree(this.#change.tx, this.#row.organisationId, this.#name, this.#row.id);
    this.#row.displayName = this.#name;
    this.#isChanged = true;
    return true;
  }

  replaceMembers(ids: readonly string[]): void {
    if (this.#effects.hasMembers) this.#members.replace(ids, '');
  }

  rename(name: string): void {
    this.#name = name;
  }

  setExternalId(value: string | null): void {
    if (value === (this.#row.externalId ?? null)) return;
    this.#row.externalId = value;
    this.#isChanged = true;
  }

  async finish(context: Context): Promise<void> {
    await this.#writeMembers();
    const isRenamed = await this.#writeName();
    if (!this.#isChanged && this.#added.size + this.#gone.size === 0) throw new Unchanged();
    const { id } = this.#row;
    this.#row.lastUpdatedAt = new Date(context.making.now);
    this.#change.about({ id });
    await this.#change.tx.flush();
    const added = [...this.#added];
    await applied(
      this.#change,
      this.#row,
      { touched: [...added, ...this.#gone], added, isRenamed, effects: this.#effects },
      context,
    );
  }

  #addedTo(ids: readonly string[]): void {
    for (const id of ids) if (!this.#gone.delete(id)) this.#added.add(id);
  }

  #removed(ids: readonly string[]): void {
    for (const id of ids) if (!this.#added.delete(id)) this.#gone.add(id);
  }
}

/** Returns the member that a filter such as `value eq "2819c223-…"` selects; null for another filter. */
function memberOf(filter: Filter): string | null {
  if (filter.op !== 'eq' || filter.attrPath.toLowerCase() !== 'value') return null;
  return typeof filter.compValue === 'string' && isUuid(filter.compValue) ? filter.compValue : null;
}

const elementColumns = {
  members: {
    type: 'list' as const,
    any: (condition: string) => condition,
    members: { value: { type: 'uuid' as const, sql: 'm.user_id' } },
  },
};

interface Changed {
  readonly touched: readonly string[];
  readonly added: readonly string[];
  readonly isRenamed: boolean;
  readonly effects: Effects;
}

/** Applies the effects of a changed group: mapping by name, reactivation, memberships. */
async function applied(
  change: Change,
  row: ScimGroup,
  { touched, added, isRenamed, effects }: Changed,
  { actor, making }: Context,
): Promise<void> {
  const { organisationId, id } = row;
  const { settings, workspaceIds: mapped } = effects;
  const remapped = isRenamed ? await mapByName(change, actor, row, settings, making) : [];
  if (settings.group_based_user_provisioning && added.length > 0) {
    const userIds = await reactivate(change, organisationId, added, making.now);
    await followGroups(change, organisationId, { userIds, workspaceIds: null }, making);
  }
  const userIds = remapped.length > 0 ? [...new Set([...touched, ...(await membersOf(change.tx, row))])] : touched;
  const workspaceIds = [...new Set([...remapped, ...mapped])];
  await followGroups(change, organisationId, { userIds, workspaceIds }, making);
  change.about({ id });
}

interface Effects {
  readonly settings: ReturnType<typeof scimSettings>;
  /** Workspaces in which the group gives a role. */
  readonly workspaceIds: readonly string[];
  /** False if directories write memberships with users. */
  readonly hasMembers: boolean;
}

/** Reads what a change of the group has effects on. */
async function effectsOf(tx: EntityManager, { id, organisationId }: ScimGroup): Promise<Effects> {
  const [found] = await executeBound<{ auth_settings: AuthSettings | null; workspace_ids: string[] }>(
    tx,
    `select o.auth_settings, array(
       select w.workspace_id::text from scim_group_workspaces w where w.organisation_id = o.id and w.group_id = $2) as workspace_ids
     from organisations o where o.id = $1`,
    [organisationId, id],
  );
  const settings = scimSettings(found?.auth_settings ?? {});
  return { settings, workspaceIds: found?.workspace_ids ?? [], hasMembers: settings.membership_mode === 'groups' };
}

/** Returns the ids of all members. */
export async function membersOf(tx: EntityManager, { id, organisationId }: ScimGroup): Promise<string[]> {
  const rows = await tx.execute<{ user_id: string }[]>(
    'select user_id from scim_group_members where organisation_id = ? and group_id = ?',
    [organisationId, id],
  );
  return rows.map((row) => row.user_id);
}

/** Activates deactivated users (`group_based_user_provisioning`) and returns them. */
async function reactivate(change: Change, organisationId: string, ids: readonly string[], now: number): Promise<string[]> {
  const rows = await change.tx.execute<{ id: string; email: string; has_tokens: boolean }[]>(
    `update users u set deactivated_at = null, last_updated_at = ?, revision = u.revision + 1 from organisations o
     where o.id = ? and u.organisation_id = o.id and u.deactivated_at is not null
       and u.id in (select jsonb_array_elements_text(?::jsonb)::uuid)
     returning u.id, u.email, coalesce(jsonb_typeof(o.auth_settings->'jwt') = 'object', false) as has_tokens`,
    [new Date(now), organisationId, JSON.stringify(ids)],
  );
  // Gateways reject the JWTs of deactivated users.
  for (const { email, has_tokens } of rows) if (has_tokens) announceUser(change, organisationId, email);
  return rows.map((row) => row.id);
}

async function requireFree(tx: EntityManager, organisationId: string, name: string, own: string | null): Promise<void> {
  const taken = await tx.execute<unknown[]>(
    'select 1 from scim_groups where organisation_id = ? and lower(display_name) = lower(?::text) and id is distinct from ?::uuid limit 1',
    [organisationId, name, own],
  );
  if (taken.length > 0) throw new ScimError('uniqueness', 'displayName: another group already has this name');
}
