import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { WebhookEvent } from './events.ts';

/** An address of a workspace that receives events. */
export const webhooks = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    url: p.text(),
    events: p.json().$type<readonly WebhookEvent[]>(),
    isActive: p.boolean(),
    /** The signing secret, sealed. */
    secret: p.text(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Increases with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type Webhook = InferEntity<typeof webhooks>;

/** One event for one webhook, with the result of its last attempt. */
export const webhookDeliveries = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    webhookId: p.uuid(),
    event: p.text().$type<WebhookEvent>(),
    data: p.json().$type<Readonly<Record<string, unknown>>>(),
    status: p.text().$type<'pending' | 'delivered' | 'failed'>(),
    attempts: p.integer(),
    /** Status of the receiver at the last attempt; null if it did not respond. */
    responseStatus: p.integer().nullable(),
    lastError: p.text().nullable(),
    createdAt: p.datetime(),
    lastAttemptAt: p.datetime().nullable(),
  },
});

export type WebhookDelivery = InferEntity<typeof webhookDeliveries>;
