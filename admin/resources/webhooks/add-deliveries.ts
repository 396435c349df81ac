import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { addJob } from '../../jobs/add-job.ts';
import { type Webhook, webhookDeliveries, webhooks } from './entity.ts';
import type { WebhookEvent } from './events.ts';

export const deliverWebhookKind = 'deliver-webhook';

/** An event of a workspace. `data` is sent to receivers and shown in the delivery log. */
export interface WorkspaceEvent {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly event: WebhookEvent;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Adds a delivery for each active webhook that subscribes to the event. Returns true if there is one: call `wakeJobs` after the commit. */
export async function addDeliveries(tx: EntityManager, sent: WorkspaceEvent): Promise<boolean> {
  const { organisationId, workspaceId, event } = sent;
  const all = await tx.find(webhooks, { organisationId, workspaceId, isActive: true });
  const subscribed = all.filter(({ events }) => events.includes(event));
  for (const webhook of subscribed) await addDelivery(tx, webhook, sent);
  return subscribed.length > 0;
}

/** Adds one delivery with its job. Returns its id. */
export async function addDelivery(
  tx: EntityManager,
  webhook: Pick<Webhook, 'id' | 'organisationId' | 'workspaceId'>,
  { event, data }: Pick<WorkspaceEvent, 'event' | 'data'>,
): Promise<string> {
  const { organisationId, workspaceId } = webhook;
  const id = newId();
  tx.create(webhookDeliveries, {
    ...{ id, organisationId, workspaceId, webhookId: webhook.id, event, data, status: 'pending', attempts: 0 },
    ...{ responseStatus: null, lastError: null, createdAt: new Date(), lastAttemptAt: null },
  });
  await tx.flush();
  await addJob(tx, { kind: deliverWebhookKind, key: id, organisationId });
  return id;
}
