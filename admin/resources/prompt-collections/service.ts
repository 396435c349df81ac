import { holdWorkspace } from '../../access/hold-workspace.ts';
import { onlyWorkspace } from '../../access/resolve-workspace.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant, WorkspaceTenant } from '../../db/tenant.ts';
import { AdminError, asReference, conflict, invalid, notFound } from '../../http/errors.ts';
import { findActiveIn } from '../../http/filters/active-items.ts';
import type { Dependents } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import { type PromptCollection, promptCollections } from './entity.ts';

/** Maximum number of levels of the tree. */
const levelsMax = 20;

export const findCollection = findActiveIn(promptCollections, 'Collection');

/**
 * Returns the collection for a new item: the one that the body names, or the default collection of the workspace. It also decides the
 * workspace of organisation keys that name none. Throws AB02, and AB01 if neither a collection nor a workspace is named.
 */
export async function collectionForNew(change: Change, tenant: Tenant, named: string | undefined): Promise<PromptCollection> {
  const { organisationId } = tenant;
  const found =
    named === undefined
      ? await defaultCollection(change.tx, organisationId, await workspaceOf(change.tx, tenant))
      : await findCollection(change.tx, tenant, named).catch(asReference('collection_id', 'Collection'));
  if (!(await holdWorkspace(change.tx, organisationId, found.workspaceId))) throw notFound('Workspace');
  return found;
}

/** Returns the workspace of a new item without a collection. Throws AB01 if an organisation key names none and there are several. */
async function workspaceOf(em: EntityManager, { organisationId, workspaceId }: Tenant): Promise<string> {
  return workspaceId ?? onlyWorkspace(em, organisationId);
}

/** Returns the default collection, which every active workspace has. Throws AB08 for other workspaces. */
async function defaultCollection(em: EntityManager, organisationId: string, workspaceId: string): Promise<PromptCollection> {
  const found = await em.findOne(promptCollections, { organisationId, workspaceId, isDefault: true, status: 'active' });
  if (!found) throw notFound('Workspace');
  return found;
}

/** Adds the default collection of a new workspace. */
export function addDefaultCollection(change: Change, workspace: { readonly id: string; readonly organisationId: string }): void {
  addRow(change, { organisationId: workspace.organisationId, workspaceId: workspace.id }, 'Default', null, true);
}

/** Throws AB02 for an unknown parent, AB01 for one that is nested too deep, and AB08 for an archived workspace. */
export async function createCollection(
  change: Change,
  tenant: Tenant,
  sent: { readonly name: string; readonly parent_collection_id?: string | null | undefined },
): Promise<PromptCollection> {
  const { tx } = change;
  const parent = sent.parent_collection_id ? await findParent(tx, tenant, sent.parent_collection_id) : null;
  const workspaceId = parent?.workspaceId ?? (await workspaceOf(tx, tenant));
  if (!(await holdWorkspace(tx, tenant.organisationId, workspaceId))) throw notFound('Workspace');
  if (parent) await requireRoom(tx, parent, null);
  const row = addRow(change, { organisationId: tenant.organisationId, workspaceId }, sent.name, parent?.id ?? null, false);
  await tx.flush();
  change.about(row);
  return row;
}

/**
 * Lets one transaction at a time move collections of an organisation: two moves at once could put two collections into each other. Taken
 * before the rows are locked, so that moves cannot block each other.
 */
export async function lockTree(em: EntityManager, organisationId: string): Promise<void> {
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`collections/${organisationId}`]);
}

/** Renames or moves a collection; a parent of null moves it to the top. Throws AB01, AB02 and AB07. */
export async function updateCollection(
  change: Change,
  row: PromptCollection,
  sent: { readonly name?: string | undefined; readonly parent_collection_id?: string | null | undefined },
): Promise<void> {
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.parent_collection_id !== undefined) {
    const parent = sent.parent_collection_id === null ? null : await findParent(change.tx, row, sent.parent_collection_id);
    if (parent && row.isDefault) throw conflict('parent_collection_id: the default collection stays at the top');
    if (parent) await requireRoom(change.tx, parent, row);
    row.parentCollectionId = parent?.id ?? null;
  }
  row.lastUpdatedAt = new Date();
  change.about(row);
}

/**
 * Archives a collection. With `cascade` everything in it is archived too, at all depths. Throws AB08 for the default collection, which
 * cannot be deleted, and AB07 if it is not empty.
 */
export async function archiveCollection(
  change: Change,
  row: PromptCollection,
  cascade: boolean,
  dependents: Dependents,
): Promise<void> {
  const { tx } = change;
  if (row.isDefault) throw new AdminError('AB08', 'The default collection cannot be deleted');
  const children = await tx.find(promptCollections, { parentCollectionId: row.id, status: 'active' });
  if (!cascade) {
    const held = children.length > 0 ? [`collections (${children.length})`] : [];
    for (const { what, count } of dependents.collection) {
      const number = (await count?.(tx, row)) ?? 0;
      if (number > 0) held.push(`${what} (${number})`);
    }
    if (held.length > 0) {
      throw conflict(`This collection still has ${held.join(', ')}. Delete them first, or send cascade=true`);
    }
  }
  for (const child of children) await archiveCollection(change, child, true, dependents);
  for (const { remove } of dependents.collection) await remove?.(change, row, dependents);
  row.status = 'archived';
  row.lastUpdatedAt = new Date();
  change.about(row);
}

function addRow(
  change: Change,
  tenant: WorkspaceTenant,
  name: string,
  parentCollectionId: string | null,
  isDefault: boolean,
): PromptCollection {
  const now = new Date();
  const fields = { name, parentCollectionId, isDefault, status: 'active' as const, createdAt: now, lastUpdatedAt: now };
  return change.tx.create(promptCollections, { ...tenant, id: newId(), slug: newSlug('', name), ...fields });
}

function findParent(em: EntityManager, tenant: Tenant, named: string): Promise<PromptCollection> {
  return findCollection(em, tenant, named).catch(asReference('parent_collection_id', 'Collection'));
}

/** Throws AB01 if the tree would have too many levels, or if `moved` would become a part of itself. Null: a new collection. */
async function requireRoom(em: EntityManager, parent: PromptCollection, moved: PromptCollection | null): Promise<void> {
  const above = await pathTo(em, parent);
  if (above.some(({ id }) => id === moved?.id)) throw invalid('parent_collection_id: a collection cannot be moved into itself');
  const levels = moved ? await levelsOf(em, moved) : 1;
  if (above.length + levels > levelsMax) throw invalid(`parent_collection_id: collections can be nested ${levelsMax} deep`);
}

/** Returns a collection and those above it, at most `levelsMax`. */
async function pathTo(em: EntityManager, last: PromptCollection): Promise<PromptCollection[]> {
  const path = [last];
  for (let at = last; at.parentCollectionId && path.length < levelsMax; path.push(at))
    at = await em.findOneOrFail(promptCollections, { id: at.parentCollectionId, organisationId: last.organisationId });
  return path;
}

/** Returns the number of levels of a collection with everything in it, at most `levelsMax`. */
async function levelsOf(em: EntityManager, { id, organisationId }: PromptCollection): Promise<number> {
  let levels = 0;
  for (let ids = [id]; ids.length > 0 && levels < levelsMax; levels++) {
    const where = { organisationId, parentCollectionId: { $in: ids }, status: 'active' as const };
    ids = (await em.find(promptCollections, where, { fields: ['id'] })).map((child) => child.id);
  }
  return levels;
}
