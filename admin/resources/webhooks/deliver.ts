import { version } from '../../../config/version.ts';
import {
  type WebhookDeliveryReply,
  webhookDeliveryMs,
  webhookDeliveryPath,
  webhookDeliveryReply,
} from '../../../core/contract/protocol/control-plane-calls/webhook-delivery.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { askGateway } from '../../http/gateways/ask-gateway.ts';
import type { JobHandler } from '../../jobs/job-runner.ts';
import { type Webhook, type WebhookDelivery, webhookDeliveries, webhooks } from './entity.ts';
import { openSecret } from './service.ts';
import { signatureHeaders } from './sign.ts';

const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

/** Pauses after failed attempts. After the last attempt the delivery has failed. Nine attempts take about a day. */
const pausesMs = [10 * seconds, minutes, 5 * minutes, 30 * minutes, hours, 3 * hours, 6 * hours, 12 * hours];

/** Sends one delivery and notes the result. The job runs until the receiver replies with 2xx or the attempts are used up. */
export function deliverWebhook(services: AdminServices): JobHandler {
  return async ({ key: id }) => {
    const em = services.database.em();
    const delivery = await em.findOne(webhookDeliveries, { id });
    const webhook = delivery && (await em.findOne(webhooks, { id: delivery.webhookId }));
    if (!delivery || !webhook || delivery.status !== 'pending') return 'done';
    if (!webhook.isActive && delivery.event !== 'webhook.test') {
      delivery.status = 'failed';
      delivery.lastError = 'the webhook is paused';
      await em.flush();
      return 'done';
    }
    const { status, error } = await send(services, webhook, delivery);
    delivery.attempts += 1;
    delivery.lastAttemptAt = new Date();
    delivery.responseStatus = status;
    const isDelivered = status !== null && status >= 200 && status < 300;
    delivery.lastError = isDelivered ? null : (error ?? `the receiver replied with ${status}`);
    const pauseMs = pausesMs[delivery.attempts - 1];
    if (isDelivered) delivery.status = 'delivered';
    else if (pauseMs === undefined) delivery.status = 'failed';
    await em.flush();
    return delivery.status === 'pending' && pauseMs !== undefined ? { againInMs: pauseMs } : 'done';
  };
}

/** Throws if no gateway replies. This does not count as an attempt, and the job runner tries again. */
async function send(services: AdminServices, webhook: Webhook, delivery: WebhookDelivery): Promise<WebhookDeliveryReply> {
  const { id, event, createdAt, workspaceId, organisationId, data } = delivery;
  const body = JSON.stringify({
    type: event,
    timestamp: createdAt.toISOString(),
    data: { organisation_id: organisationId, workspace_id: workspaceId, ...data },
  });
  const secret = await openSecret(services, webhook);
  const headers = {
    'content-type': 'application/json',
    'user-agent': `svc-gateway/${version}`,
    ...signatureHeaders(secret, id, services.clock.now(), body),
  };
  return askGateway(services, {
    path: webhookDeliveryPath,
    body: { organisationId, url: webhook.url, headers, body },
    reply: webhookDeliveryReply,
    timeoutMs: webhookDeliveryMs,
    what: 'send a webhook',
  });
}
