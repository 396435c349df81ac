import * as v from 'valibot';

/**
 * A webhook that a gateway sends for the control plane, because only gateways check the addresses of outgoing calls. `POST` with the
 * cluster key as bearer and `webhookDelivery` as body; 200 `webhookDeliveryReply`, also if the receiver fails.
 */
export const webhookDeliveryPath = '/internal/v1/webhook-deliveries';

/** Milliseconds within which a receiver must respond. */
export const webhookReceiverMs = 10_000;
/** Milliseconds within which a gateway must reply. */
export const webhookDeliveryMs = 12_000;

export const webhookDelivery = v.object({
  organisationId: v.string(),
  url: v.string(),
  /** Lower-case names. */
  headers: v.record(v.string(), v.string()),
  body: v.string(),
});

export const webhookDeliveryReply = v.object({
  /** Status of the receiver; null if it did not respond. */
  status: v.nullable(v.number()),
  /** The reason why there is no status; null otherwise. */
  error: v.nullable(v.string()),
});
export type WebhookDeliveryReply = v.InferOutput<typeof webhookDeliveryReply>;
