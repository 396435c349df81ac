import type * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid, unknownReference } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import { workspaces } from '../workspaces/entity.ts';
import { type WorkspaceExclusion, workspaceExclusions } from './entity.ts';
import type { updateBody } from './schema.ts';

type Kind = WorkspaceExclusion['kind'];

/**
 * Excludes workspaces from the organisation's default guardrails of one kind, or includes them again. `override_existing`:
 * workspaces that are not named are included. Throws AB02 for a workspace of another organisation, AB01 for one named twice.
 * Returns the changes and announces them to gateways.
 */
export async function updateExclusions(
  change: Change,
  organisationId: string,
  kind: Kind,
  body: v.InferOutput<typeof updateBody>,
): Promise<void> {
  const { tx } = change;
  const present = new Map((await listExclusions(tx, organisationId, kind)).map((row) => [row.workspaceId, row]));
  const wanted = new Map<string, boolean>();
  for (const [index, one] of body.workspaces.entries()) {
    const path = `workspaces[${index}].workspace_id`;
    const id = await workspaceIdOf(tx, organisationId, one.workspace_id, path);
    if (wanted.has(id)) throw invalid(`${path}: duplicate`);
    wanted.set(id, one.excluded);
  }
  if (body.override_existing) for (const id of present.keys()) if (!wanted.has(id)) wanted.set(id, false);
  const createdAt = new Date();
  for (const [workspaceId, excluded] of wanted) {
    const row = present.get(workspaceId);
    if (excluded === (row !== undefined)) continue;
    if (row) tx.remove(row);
    else tx.create(workspaceExclusions, { workspaceId, kind, organisationId, createdAt });
    change.emit({ kind: 'workspace', id: workspaceId, op: 'upsert' });
  }
  change.about({ id: organisationId });
}

/** The excluded workspaces, the oldest exclusion first. */
export async function listExclusions(em: EntityManager, organisationId: string, kind: Kind): Promise<WorkspaceExclusion[]> {
  return em.find(workspaceExclusions, { organisationId, kind }, { orderBy: { createdAt: 'asc', workspaceId: 'asc' } });
}

async function workspaceIdOf(em: EntityManager, organisationId: string, idOrSlug: string, path: string): Promise<string> {
  const name = isUuid(idOrSlug) ? { id: idOrSlug } : { slug: idOrSlug };
  const found = await em.findOne(workspaces, { ...name, organisationId, status: 'active' });
  if (!found) throw unknownReference(path, 'Workspace');
  return found.id;
}
