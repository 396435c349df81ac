import { createHash } from 'node:crypto';

/**
 * Ids of W3C traces (32 hexadecimal digits) and spans (16). A request's ids follow from its record alone, so that the gateway, which
 * sends them to providers, and the control plane, which exports spans, agree without exchanging them.
 */

const traceDigits = 32;
const spanDigits = 16;
const hexadecimal = /^[0-9a-f]+$/;
const zeros = /^0+$/;

/** Returns the W3C trace id for a trace id of any form: the same if it is one, a UUID without its dashes, otherwise a hash. */
export function w3cTraceId(traceId: string): string {
  return w3cId(traceId.length === 36 ? traceId.replaceAll('-', '') : traceId, traceDigits);
}

/** Returns the W3C span id for a span id of any form: the same if it is one, otherwise a hash. */
export function w3cSpanId(spanId: string): string {
  return w3cId(spanId, spanDigits);
}

/** Returns the id of a request's own span. `id` is the UUID of its record. */
export function requestSpanId(id: string, spanId: string | null): string {
  return spanId === null ? id.replaceAll('-', '').slice(-spanDigits) : w3cSpanId(spanId);
}

/**
 * Returns the id of a span below a request: its attempts have numbers from 1, its guardrails from `guardrailSpans`. Differs from the id
 * of the request's own span.
 */
export function childSpanId(id: string, number: number): string {
  const own = id.replaceAll('-', '').slice(-spanDigits);
  const last = Number.parseInt(own.slice(-4), 16) ^ number;
  return own.slice(0, -4) + last.toString(16).padStart(4, '0');
}

/** Number of the first guardrail. A request has fewer attempts than this. */
export const guardrailSpans = 0x8000;

function w3cId(id: string, digits: number): string {
  const lower = id.toLowerCase();
  if (lower.length === digits && hexadecimal.test(lower) && !zeros.test(lower)) return lower;
  return createHash('sha256').update(id).digest('hex').slice(0, digits);
}
