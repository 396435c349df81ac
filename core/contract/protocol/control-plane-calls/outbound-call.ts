import * as v from 'valibot';

/**
 * An HTTP request that a gateway sends for the control plane, because only gateways check the addresses of outgoing calls. `POST` with
 * the cluster key as bearer and `outboundCall` as body; 200 `outboundCallReply`, also if the host cannot be reached. Request and
 * response may hold credentials, so both are sealed with the transport key.
 */
export const outboundCallPath = '/internal/v1/outbound-calls';

/** Milliseconds within which the host must respond. */
export const outboundHostMs = 5_000;
/** Milliseconds within which a gateway must reply. */
export const outboundCallMs = 6_000;

export const outboundCall = v.object({
  organisationId: v.string(),
  /** Random. Binds the sealed response to this call. */
  callId: v.string(),
  /** `outboundRequest` as JSON, sealed with `outboundContext(callId, 'request')`. */
  sealed: v.string(),
});

export const outboundRequest = v.object({
  url: v.string(),
  method: v.picklist(['GET', 'POST']),
  headers: v.record(v.string(), v.string()),
  body: v.nullable(v.string()),
});
export type OutboundRequest = v.InferOutput<typeof outboundRequest>;

export const outboundCallReply = v.object({
  /** `outboundResponse` as JSON, sealed with `outboundContext(callId, 'response')`; null if there is none. */
  sealed: v.nullable(v.string()),
  /** The reason why there is no response; null otherwise. */
  error: v.nullable(v.string()),
});
export type OutboundCallReply = v.InferOutput<typeof outboundCallReply>;

export const outboundResponse = v.object({
  status: v.number(),
  /** Lower-case names; of repeated headers, the last. */
  headers: v.record(v.string(), v.string()),
  /** Base64. */
  body: v.string(),
});
export type OutboundResponse = v.InferOutput<typeof outboundResponse>;

/** Returns the context that a sealed part is bound to, so that it cannot be used for another call or as the other part. */
export function outboundContext(callId: string, part: 'request' | 'response'): string {
  return `outbound ${part} ${callId}`;
}
