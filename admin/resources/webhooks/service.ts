import type * as v from 'valibot';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant, WorkspaceTenant } from '../../db/tenant.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { conflict, invalid, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { checkHost } from '../../http/gateways/check-host.ts';
import type { Change } from '../../publish/write-change.ts';
import type { SealContext } from '../../secrets/vault.ts';
import { type Webhook, webhooks } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';
import { newSigningSecret } from './sign.ts';

/** Webhooks of one workspace. Each event is sent to all of them. */
const webhooksMax = 20;

/** Creates a webhook and its secret. Throws AB07 if its slug is taken in the workspace, AB01 for an address that may not be called. */
export async function createWebhook(
  change: Change,
  services: Pick<AdminServices, 'vault' | 'settings'>,
  { organisationId, workspaceId }: WorkspaceTenant,
  sent: v.InferOutput<typeof createBody>,
): Promise<{ webhook: Webhook; secret: string }> {
  checkHost(services.settings, sent.url, 'url', true);
  const slug = sent.slug ?? newSlug('', sent.name);
  if ((await change.tx.count(webhooks, { organisationId, workspaceId, slug })) > 0) {
    throw conflict(`slug: a webhook with the slug ${slug} already exists in this workspace`);
  }
  if ((await change.tx.count(webhooks, { organisationId, workspaceId })) >= webhooksMax) {
    throw invalid(`webhooks: a workspace has at most ${webhooksMax}. Delete one first`);
  }
  const id = newId();
  const secret = newSigningSecret();
  const now = new Date();
  const webhook = change.tx.create(webhooks, {
    ...{ id, organisationId, workspaceId, slug, name: sent.name, url: sent.url, events: [...new Set(sent.events)] },
    ...{ isActive: sent.status === 'active', createdAt: now, lastUpdatedAt: now },
    secret: await services.vault.seal(change.tx, contextOf({ id, organisationId }), secret),
  });
  await change.tx.flush();
  change.about(webhook);
  return { webhook, secret };
}

/** Changes the fields that were sent. */
export function updateWebhook(
  change: Change,
  { settings }: Pick<AdminServices, 'settings'>,
  row: Webhook,
  sent: v.InferOutput<typeof updateBody>,
): void {
  if (sent.url !== undefined) checkHost(settings, sent.url, 'url', true);
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.url !== undefined) row.url = sent.url;
  if (sent.events !== undefined) row.events = [...new Set(sent.events)];
  if (sent.status !== undefined) row.isActive = sent.status === 'active';
  row.lastUpdatedAt = new Date();
  change.about(row);
}

/** Replaces the signing secret. The old one stops at once. Returns the new one. */
export async function rotateSecret(change: Change, { vault }: Pick<AdminServices, 'vault'>, row: Webhook): Promise<string> {
  const secret = newSigningSecret();
  row.secret = await vault.seal(change.tx, contextOf(row), secret);
  row.lastUpdatedAt = new Date();
  change.about(row);
  return secret;
}

/** Finds a webhook of the tenant by id or slug. Throws AB08. */
export async function findWebhook(em: EntityManager, tenant: Tenant, idOrSlug: string): Promise<Webhook> {
  const found = await em.findOne(webhooks, itemOf(tenant, idOrSlug));
  if (!found) throw notFound('Webhook');
  return found;
}

/** Ids of the workspaces of the organisation that have a webhook with this slug. */
export async function workspacesWithWebhook(em: EntityManager, organisationId: string, slug: string): Promise<string[]> {
  const rows = await em.find(webhooks, { organisationId, slug });
  return rows.map(({ workspaceId }) => workspaceId);
}

export function openSecret({ vault, database }: Pick<AdminServices, 'vault' | 'database'>, row: Webhook): Promise<string> {
  return vault.open(database.em(), contextOf(row), row.secret);
}

function contextOf({ id, organisationId }: Pick<Webhook, 'id' | 'organisationId'>): SealContext {
  return { organisationId, table: 'webhooks', column: 'secret', rowId: id };
}
