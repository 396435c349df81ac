import { type InstanceReport, instanceReport, instancesMax } from '../../../core/contract/protocol/instances.ts';
import type { Clock } from '../../../core/contract/values/time/clock.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { invalid } from '../../http/errors.ts';
import { validate } from '../../http/request/validate.ts';
import { organisations } from '../organisations/entity.ts';
import { type DeploymentInstance, deploymentInstances } from './entity.ts';

type Services = Pick<AdminServices, 'settings' | 'database'> & { readonly clock: Pick<Clock, 'now'> };

/** The times before which a report makes an instance unhealthy, or removes it. */
export function limitsOf({ settings, clock }: Pick<Services, 'settings' | 'clock'>): { staleAt: Date; removedAt: Date } {
  const before = (seconds: number) => new Date(clock.now() - seconds * 1000);
  return { staleAt: before(settings.deploymentStaleSeconds), removedAt: before(settings.deploymentRemovedSeconds) };
}

/** Returns the instances of each of these deployments, the latest report first. */
export async function instancesOf(
  em: EntityManager,
  deploymentIds: readonly string[],
  removedAt: Date,
): Promise<(deploymentId: string) => readonly DeploymentInstance[]> {
  const where = { deploymentId: { $in: [...deploymentIds] }, seenAt: { $gte: removedAt } };
  const rows = await em.find(deploymentInstances, where, { orderBy: { seenAt: 'desc', id: 'asc' } });
  return (id) => rows.filter(({ deploymentId }) => deploymentId === id);
}

/**
 * Stores the report of a gateway process. The first one creates its deployment; one of an archived deployment makes it active again.
 * Throws AB01 for an invalid report, an unknown DEPLOYMENT_ORGANISATION, or too many instances.
 */
export async function storeReport(services: Services, body: unknown): Promise<void> {
  const report = validate(instanceReport, body, 'body');
  const em = services.database.em();
  if (report.isLeaving) {
    await em.nativeDelete(deploymentInstances, { id: report.id });
    return;
  }
  const organisationId = await organisationOf(services, em);
  await em.transactional(async (tx) => {
    const deploymentId = await deploymentOf(tx, organisationId, report.deployment, services);
    await storeInstance(tx, { organisationId, deploymentId, report, now: new Date(services.clock.now()) });
  });
}

async function organisationOf({ settings }: Services, em: EntityManager): Promise<string> {
  const id = settings.deploymentOrganisation;
  const [found] = await em.find(organisations, id === null ? {} : { id }, { orderBy: { createdAt: 'asc', id: 'asc' }, limit: 1 });
  if (!found) throw invalid('DEPLOYMENT_ORGANISATION: names no organisation of this control plane');
  return found.id;
}

async function deploymentOf(tx: EntityManager, organisationId: string, slug: string, { clock }: Services): Promise<string> {
  const now = new Date(clock.now());
  // A deployment that a person has deleted while its gateways run is active again.
  const [row] = await tx.execute<{ id: string }[]>(
    `insert into deployments (id, organisation_id, slug, name, type, is_archived, is_default, tags, created_at, last_updated_at)
     values (?, ?, ?, ?, 'production', false, not exists (select 1 from deployments where organisation_id = ? and is_default), '{}', ?, ?)
     on conflict (organisation_id, slug) do update set is_archived = false returning id`,
    [newId(), organisationId, slug, slug, organisationId, now, now],
    'all',
  );
  return (row as { id: string }).id;
}

interface Stored {
  readonly organisationId: string;
  readonly deploymentId: string;
  readonly report: InstanceReport;
  readonly now: Date;
}

async function storeInstance(tx: EntityManager, { organisationId, deploymentId, report, now }: Stored): Promise<void> {
  const { id, host, slot, version, sourceType, tags, startedAtMs } = report;
  const others = await tx.count(deploymentInstances, { deploymentId, id: { $ne: id } });
  if (others >= instancesMax) throw invalid(`deployment: ${report.deployment} has ${instancesMax} gateways, the maximum`);
  await tx.execute(
    `insert into deployment_instances
       (id, organisation_id, deployment_id, host, slot, version, source_type, tags, started_at, seen_at)
     values (?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, ?)
     on conflict (id) do update set organisation_id = excluded.organisation_id, deployment_id = excluded.deployment_id,
       host = excluded.host, slot = excluded.slot, version = excluded.version, source_type = excluded.source_type,
       tags = excluded.tags, started_at = excluded.started_at, seen_at = excluded.seen_at`,
    [id, organisationId, deploymentId, host, slot, version, sourceType, JSON.stringify(tags), new Date(startedAtMs), now],
  );
}

/** Deletes instances that have not reported for a long time, and deployments without instances that only reports have created. */
export async function removeOldInstances({ database, settings }: Pick<Services, 'database' | 'settings'>): Promise<void> {
  const { removedAt } = limitsOf({ settings, clock: { now: Date.now } });
  const em = database.em();
  await em.nativeDelete(deploymentInstances, { seenAt: { $lt: removedAt } });
  await em.execute(
    `delete from deployments d where created_by is null and revision = 1 and last_updated_at < ?
       and not exists (select 1 from deployment_instances i where i.deployment_id = d.id)`,
    [removedAt],
  );
}
