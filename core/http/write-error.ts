import { errorTable, type GatewayError, savedOnlyCodes } from '../contract/errors.ts';
import type { HeaderList } from '../contract/http.ts';

export interface ErrorReply {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

/** `messages` is for callers of the Anthropic-format routes; all others read the OpenAI-like body. */
export type ErrorFormat = 'chat' | 'messages' | 'responses' | 'plain';

/** Seconds a caller is told to wait after a 503 that does not say more. */
const defaultRetrySeconds = 1;

/**
 * The reply for an error of ours: `{status:"failure", message, errors?, error:{message, type, param, code}}`, as the data-plane
 * reference §10 has it. Errors of the authentication layer carry their two-digit code. In the `messages` format the same body
 * also satisfies clients of the Anthropic API: `type:"error"` and its error type names (their "Errors" page, November 2026).
 * Pure; `detail` and `cause` of the error are not in it.
 */
export function errorReply(error: GatewayError, format: ErrorFormat = 'chat'): ErrorReply {
  const { authCode, type } = errorTable[error.code];
  const message = authCode === null ? error.message : `Svc Error: ${error.message}. Error Code: ${authCode}`;
  const body = {
    ...(format === 'messages' ? { type: 'error' } : {}),
    status: 'failure',
    message,
    ...(error.errors === null ? {} : { errors: error.errors }),
    error: savedOnlyCodes.has(error.code)
      ? { code: error.code, message, field: error.param }
      : {
          message,
          type: format === 'messages' ? messagesErrorType(error.status) : type,
          param: error.param,
          code: authCode ?? error.code,
        },
  };
  const headers: HeaderList = ['content-type', 'application/json;charset=UTF-8'];
  if (error.code === 'upgrade_required') headers.push('sec-websocket-version', '13');
  const waitSeconds = retryAfterSeconds(error);
  if (waitSeconds !== null) headers.push('retry-after', String(waitSeconds));
  return { status: error.status, headers, body: JSON.stringify(body) };
}

function retryAfterSeconds(error: GatewayError): number | null {
  if (error.retryAfterMs !== null) return Math.max(1, Math.ceil(error.retryAfterMs / 1000));
  return error.status === 503 ? defaultRetrySeconds : null;
}

function messagesErrorType(status: number): string {
  const known = messagesErrorTypes[status];
  if (known !== undefined) return known;
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}

const messagesErrorTypes: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
