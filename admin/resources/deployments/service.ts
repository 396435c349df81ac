import type * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, notFound } from '../../http/errors.ts';
import { requireUnchanged } from '../../http/request/schemas.ts';
import type { Change } from '../../publish/write-change.ts';
import { type Deployment, deploymentInstances, deployments } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';

/** Creates a deployment before its first gateway reports. Throws AB07 if its slug is taken. */
export async function createDeployment(
  change: Change,
  actor: Actor,
  sent: v.InferOutput<typeof createBody>,
): Promise<Deployment> {
  const { tx } = change;
  const { organisationId } = actor;
  const slug = sent.slug ?? newSlug('', sent.name).slice(-50);
  if ((await tx.count(deployments, { organisationId, slug })) > 0) {
    throw conflict(`slug: a deployment with the slug ${slug} already exists`);
  }
  if (sent.is_default) await clearDefault(tx, organisationId);
  const now = new Date();
  const row = tx.create(deployments, {
    ...{ id: newId(), organisationId, slug, name: sent.name, type: sent.type, isArchived: false, isDefault: sent.is_default },
    ...{ tags: sent.tags ?? {}, createdBy: actor.userId ?? actor.keyId, createdAt: now, lastUpdatedAt: now },
  });
  await tx.flush();
  change.about(row);
  return row;
}

/** Changes the fields that were sent; null clears tags. */
export async function updateDeployment(change: Change, row: Deployment, sent: v.InferOutput<typeof updateBody>): Promise<void> {
  requireUnchanged('slug', sent.slug, row.slug);
  if (sent.is_default === true && !row.isDefault) await clearDefault(change.tx, row.organisationId);
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.type !== undefined) row.type = sent.type;
  if (sent.status !== undefined) row.isArchived = sent.status === 'archived';
  if (sent.is_default !== undefined) row.isDefault = sent.is_default;
  if (sent.tags !== undefined) row.tags = sent.tags ?? {};
  row.lastUpdatedAt = new Date();
  change.about(row);
}

/** Archives a deployment and removes its gateways. Those that still run report again and make it active. */
export async function archiveDeployment(change: Change, row: Deployment): Promise<void> {
  await change.tx.nativeDelete(deploymentInstances, { deploymentId: row.id });
  row.isArchived = true;
  row.lastUpdatedAt = new Date();
  change.about(row);
}

/** Returns the organisation's deployment by id or slug. Throws AB08. */
export async function findDeployment(em: EntityManager, organisationId: string, idOrSlug: string): Promise<Deployment> {
  const found = await em.findOne(deployments, { organisationId, ...(isUuid(idOrSlug) ? { id: idOrSlug } : { slug: idOrSlug }) });
  if (!found) throw notFound('Deployment');
  return found;
}

/** An organisation has at most one default deployment. */
async function clearDefault(tx: EntityManager, organisationId: string): Promise<void> {
  for (const row of await tx.find(deployments, { organisationId, isDefault: true })) row.isDefault = false;
}
