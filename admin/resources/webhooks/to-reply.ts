import type { Webhook, WebhookDelivery } from './entity.ts';

/** A row as replies show it, without its secret. */
export function toWebhookReply(row: Webhook) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    url: row.url,
    events: row.events,
    status: row.isActive ? ('active' as const) : ('paused' as const),
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'webhook' as const,
  };
}

export function toDeliveryReply(row: WebhookDelivery) {
  return {
    id: row.id,
    webhook_id: row.webhookId,
    event: row.event,
    data: row.data,
    status: row.status,
    attempts: row.attempts,
    response_status: row.responseStatus,
    error: row.lastError,
    created_at: row.createdAt.toISOString(),
    last_attempt_at: row.lastAttemptAt?.toISOString() ?? null,
    object: 'webhook_delivery' as const,
  };
}
