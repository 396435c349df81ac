import type * as v from 'valibot';
import { isUuid, newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../db/write-change.ts';
import { notFound } from '../../http/errors.ts';
import type { Actor } from '../../http/route.ts';
import { type Workspace, workspaces } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';

/** Adds a workspace to the organisation. */
export function createWorkspace(change: Change, organisationId: string, body: v.InferOutput<typeof createBody>): Workspace {
  const now = new Date();
  const row = change.tx.create(workspaces, {
    id: newId(),
    organisationId,
    slug: body.slug ?? newSlug('ws-', body.name),
    name: body.name,
    description: body.description ?? null,
    icon: body.icon ?? null,
    isDefault: false,
    metadata: body.defaults?.metadata ?? {},
    status: 'active',
    createdAt: now,
    lastUpdatedAt: now,
  });
  announce(change, row);
  return row;
}

/** Changes what is named; metadata is replaced as a whole. */
export function updateWorkspace(change: Change, row: Workspace, body: v.InferOutput<typeof updateBody>): void {
  if (body.name !== undefined) row.name = body.name;
  if (body.description !== undefined) row.description = body.description;
  if (body.icon !== undefined) row.icon = body.icon;
  if (body.defaults?.metadata !== undefined) row.metadata = body.defaults.metadata;
  row.lastUpdatedAt = new Date();
  announce(change, row);
}

/** The workspace if the caller may know of it: any of the organisation, or a workspace key's own. Throws AB08. */
export async function findVisibleWorkspace(em: EntityManager, actor: Actor, idOrSlug: string): Promise<Workspace> {
  const { organisationId, workspaceId } = actor;
  const name = isUuid(idOrSlug) ? { id: idOrSlug } : { slug: idOrSlug };
  const own = workspaceId === null ? {} : { id: workspaceId };
  const found = await em.findOne(workspaces, { $and: [name, own, { organisationId, status: 'active' }] });
  if (!found) throw notFound('Workspace');
  return found;
}

function announce(change: Change, row: Workspace): void {
  change.about(row.id);
  change.emit({ kind: 'workspace', id: row.id, op: 'upsert' });
}
