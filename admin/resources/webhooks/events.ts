/** Events that webhooks can subscribe to. `webhook.test` is sent on request only, to any webhook. */
export const subscribableEvents = [
  'budget.threshold',
  'budget.exhausted',
  'policy.threshold',
  'policy.exhausted',
  'mcp.tools_quarantined',
  'item.changed',
] as const;

export type WebhookEvent = (typeof subscribableEvents)[number] | 'webhook.test';
