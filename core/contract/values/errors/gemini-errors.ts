import type { JsonObject } from '../json/json.ts';

/** A failure as members of Google's error model. */
export interface GeminiFailure {
  /** HTTP status. */
  readonly status: number;
  readonly message: string;
  /** Stable name of the error, such as `key_rate_limit`. */
  readonly reason: string;
  /** Texts of the gateway that Google's error model has no member for. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Seconds after which a retry may succeed; null: unknown. */
  readonly retrySeconds?: number | null;
}

/**
 * Returns the members `code`, `message`, `status` and `details` of an error of Google's APIs (google.rpc.Status, AIP-193). `code` is the HTTP status.
 * Gemini CLI reads the delay from `RetryInfo`, and ends at once if it exceeds 300 seconds. Pure.
 */
export function geminiError({ status, message, reason, metadata = {}, retrySeconds = null }: GeminiFailure): JsonObject {
  const details: JsonObject[] = [
    { '@type': `${types}.ErrorInfo`, reason: reason.toUpperCase(), domain: 'svc-gateway', metadata },
  ];
  if (retrySeconds !== null) details.push({ '@type': `${types}.RetryInfo`, retryDelay: `${retrySeconds}s` });
  return { code: status, message, status: statusName(status), details };
}

const types = 'type.googleapis.com/google.rpc';

/** Names of canonical codes by HTTP status (google/rpc/code.proto). 412 and 446 are limits and guardrails that refuse the request. */
const names: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  412: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  446: 'FAILED_PRECONDITION',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function statusName(status: number): string {
  return names[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT');
}
