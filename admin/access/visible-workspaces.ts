import { isUuid } from '../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { Actor } from '../http/caller/actor.ts';
import { forbidden, notFound } from '../http/errors.ts';
import { type Workspace, workspaces } from '../resources/workspaces/entity.ts';

/**
 * Returns the workspace if the actor may see it: any of the organisation, or those the actor is a member of. Throws AB08, and
 * AB03 for a deleted one.
 */
export async function findVisibleWorkspace(em: EntityManager, actor: Actor, idOrSlug: string): Promise<Workspace> {
  const name = isUuid(idOrSlug) ? { id: idOrSlug } : { slug: idOrSlug };
  const visible = visibleIds(actor);
  const own = visible === null ? {} : { id: { $in: [...visible] } };
  // A deleted workspace may have had the slug of an existing one.
  const where = { $and: [name, own, { organisationId: actor.organisationId }] };
  const found = await em.findOne(workspaces, where, { orderBy: { status: 'asc', archivedAt: 'desc' } });
  if (!found) throw notFound('Workspace');
  if (found.status === 'archived') throw forbidden('This workspace has been deleted');
  return found;
}

/** Ids of the workspaces that the actor may see; null: all of the organisation. */
export function visibleIds(actor: Actor): readonly string[] | null {
  if (actor.workspaceId !== null) return [actor.workspaceId];
  return actor.session?.role === 'member' ? [...actor.session.memberships.keys()] : null;
}
