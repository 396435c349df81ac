import { newId } from '../../db/new-id.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { AdminError } from '../../http/errors.ts';
import type { Dependents } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import { ScimError } from '../../scim/scim-error.ts';
import type { Making } from '../workspace-users/memberships.ts';
import { deleteWorkspace } from '../workspaces/delete-workspace.ts';
import { type Workspace, workspaces } from '../workspaces/entity.ts';
import { createWorkspace } from '../workspaces/service.ts';
import { type GroupRole, type ScimGroup, type ScimGroupWorkspace, scimGroupWorkspaces } from './entity.ts';
import { type NamePattern, parseGroupName } from './group-name.ts';

/**
 * Makes the mapping that the name of a group stands for, with its workspace if there is none of that name, and removes the mapping of
 * an earlier name. Returns the workspaces whose mapping changed. Throws `invalidValue` if the group has another role in other workspaces.
 */
export async function mapByName(
  change: Change,
  actor: Actor,
  group: ScimGroup,
  pattern: NamePattern,
  making: Making,
): Promise<string[]> {
  const { organisationId, id: groupId } = group;
  const named = parseGroupName(group.displayName, pattern);
  const mappings = await change.tx.find(scimGroupWorkspaces, { organisationId, groupId });
  const before = mappings.find((one) => one.byName);
  const others = mappings.filter((one) => !one.byName);
  const found = named && (await findNamed(change, organisationId, named.workspace));
  if (before && named && found?.id === before.workspaceId && before.role === named.role) return [];
  const ended = before ? [before.workspaceId] : [];
  if (before) change.tx.remove(before);
  await change.tx.flush();
  if (!named) return ended;
  if (others.some((one) => one.role !== named.role)) {
    throw new ScimError('invalidValue', `displayName: the group already has the role ${others[0]?.role} in another workspace`);
  }
  if (found && others.some((one) => one.workspaceId === found.id)) return ended;
  const workspace = found ?? (await createWorkspace(change, actor, { name: named.workspace } as never, making));
  addMapping(change, group, workspace.id, named.role, { byName: true, madeWorkspace: found === null, now: making.now });
  await change.tx.flush();
  return [...ended, workspace.id];
}

/** Adds a mapping. The caller lets the members follow. */
export function addMapping(
  change: Change,
  { id: groupId, organisationId }: ScimGroup,
  workspaceId: string,
  role: GroupRole,
  { byName, madeWorkspace, now }: { readonly byName: boolean; readonly madeWorkspace: boolean; readonly now: number },
): ScimGroupWorkspace {
  return change.tx.create(scimGroupWorkspaces, {
    id: newId(),
    organisationId,
    groupId,
    workspaceId,
    role,
    byName,
    madeWorkspace,
    createdAt: new Date(now),
  });
}

/**
 * Archives the workspaces that a removed group had created, if they are empty and no other group has a role in them. Others stay: a
 * directory must not delete what people have built.
 */
export async function archiveUnused(
  change: Change,
  actor: Actor,
  made: readonly ScimGroupWorkspace[],
  dependents: Dependents,
): Promise<void> {
  for (const { organisationId, workspaceId, madeWorkspace } of made) {
    if (!madeWorkspace || (await change.tx.count(scimGroupWorkspaces, { organisationId, workspaceId })) > 0) continue;
    const row = await change.tx.findOne(workspaces, { id: workspaceId, organisationId, status: 'active' });
    if (!row || (await hasMembers(change, row))) continue;
    await deleteWorkspace(change, row, { force_delete: false }, dependents, actor).catch((error: unknown) => {
      if (!(error instanceof AdminError) || error.code !== 'AB07') throw error;
    });
  }
}

async function hasMembers({ tx }: Change, { id, organisationId }: Workspace): Promise<boolean> {
  const found = await tx.execute<unknown[]>(
    'select 1 from workspace_members where organisation_id = ? and workspace_id = ? limit 1',
    [organisationId, id],
  );
  return found.length > 0;
}

/** Finds a workspace by slug or name. Throws `invalidValue` if the name is not unique. */
async function findNamed({ tx }: Change, organisationId: string, name: string): Promise<Workspace | null> {
  const bySlug = await tx.findOne(workspaces, { organisationId, status: 'active', slug: name });
  if (bySlug) return bySlug;
  const found = await tx.find(workspaces, { organisationId, status: 'active', name }, { limit: 2 });
  if (found.length > 1)
    throw new ScimError('invalidValue', 'displayName: several workspaces have this name. Use the slug of one');
  return found[0] ?? null;
}
