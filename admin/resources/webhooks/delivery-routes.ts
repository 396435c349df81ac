import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { findPage } from '../../db/find-page.ts';
import { notFound } from '../../http/errors.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { addJob } from '../../jobs/add-job.ts';
import { addDelivery, deliverWebhookKind } from './add-deliveries.ts';
import { webhookDeliveries } from './entity.ts';
import { shared } from './routes.ts';
import { addedReply, deliveriesQuery, deliveriesReply, deliveryReply, tenantBody } from './schema.ts';
import { findWebhook } from './service.ts';
import { toDeliveryReply } from './to-reply.ts';

/** The delivery log of a webhook: list, read, send again, and a test event. */
export const deliveryRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/webhooks/:slug/test',
    summary: 'Send a test event to a webhook',
    scopes: ['webhooks.update'],
    action: 'test',
    body: tenantBody,
    reply: addedReply,
    async handle(call) {
      const id = await call.write(async (change) => {
        const webhook = await findWebhook(change.tx, call, call.params.slug ?? '');
        change.about(webhook);
        return addDelivery(change.tx, webhook, { event: 'webhook.test', data: {} });
      });
      call.services.wakeJobs();
      return { id, object: 'webhook_delivery' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/webhooks/:slug/deliveries',
    summary: 'List the deliveries of a webhook, newest first',
    scopes: ['webhooks.read'],
    action: 'list',
    query: deliveriesQuery,
    reply: deliveriesReply,
    async handle({ em, params, query, organisationId, workspaceId }) {
      const webhook = await findWebhook(em, { organisationId, workspaceId }, params.slug ?? '');
      const where = { organisationId, webhookId: webhook.id, ...(query.status === undefined ? {} : { status: query.status }) };
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, webhookDeliveries, where, page);
      return { object: 'list', total, data: rows.map(toDeliveryReply) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/webhooks/:slug/deliveries/:deliveryId',
    summary: 'Read a delivery of a webhook',
    scopes: ['webhooks.read'],
    action: 'read',
    reply: deliveryReply,
    async handle(call) {
      const webhook = await findWebhook(call.em, call, call.params.slug ?? '');
      const { deliveryId: id = '' } = call.params;
      const where = { id, webhookId: webhook.id, organisationId: call.organisationId };
      const found = isUuid(id) ? await call.em.findOne(webhookDeliveries, where) : null;
      if (!found) throw notFound('Delivery');
      return toDeliveryReply(found);
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/webhooks/:slug/deliveries/:deliveryId/replay',
    summary: 'Send a delivery again',
    scopes: ['webhooks.update'],
    action: 'replay',
    body: tenantBody,
    reply: addedReply,
    async handle(call) {
      const id = await call.write(async (change) => {
        const webhook = await findWebhook(change.tx, call, call.params.slug ?? '');
        const { deliveryId = '' } = call.params;
        const where = { id: deliveryId, webhookId: webhook.id, organisationId: call.organisationId };
        const found = isUuid(deliveryId) ? await change.tx.findOne(webhookDeliveries, where) : null;
        if (!found) throw notFound('Delivery');
        found.status = 'pending';
        found.attempts = 0;
        change.about(webhook);
        await change.tx.flush();
        await addJob(change.tx, { kind: deliverWebhookKind, key: found.id, organisationId: call.organisationId });
        return found.id;
      });
      call.services.wakeJobs();
      return { id, object: 'webhook_delivery' };
    },
  }),
];
