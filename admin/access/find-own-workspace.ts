import { isUuid } from '../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { Tenant } from '../db/tenant.ts';
import { notFound } from '../http/errors.ts';
import { type Workspace, workspaces } from '../resources/workspaces/entity.ts';

/**
 * Returns the active workspace that a path names by id, slug or name, among those the caller may use. A slug takes precedence
 * over an equal name. Of workspaces with equal names the oldest is meant. Throws AB08.
 */
export async function findOwnWorkspace(em: EntityManager, call: Tenant, text: string): Promise<Workspace> {
  const own = {
    organisationId: call.organisationId,
    status: 'active' as const,
    ...(call.workspaceId === null ? {} : { $and: [{ id: call.workspaceId }] }),
  };
  const ways = [...(isUuid(text) ? [{ id: text }] : []), { slug: text }, { name: text }];
  for (const way of ways) {
    const found = await em.findOne(workspaces, { ...own, ...way }, { orderBy: { createdAt: 'asc' } });
    if (found) return found;
  }
  throw notFound('Workspace');
}
