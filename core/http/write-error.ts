import { errorTable, type GatewayError, savedOnlyCodes } from '../contract/values/errors/errors.ts';
import { geminiError } from '../contract/values/errors/gemini-errors.ts';
import { messagesErrorType } from '../contract/values/errors/messages-errors.ts';
import type { HeaderList } from '../contract/values/http/http.ts';

export interface ErrorReply {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

/**
 * `messages` is for callers of the Anthropic-format routes, `gemini` for callers of Google's own paths, `control-plane` for callers of the
 * control plane. All other callers receive the OpenAI-like body.
 */
export type ErrorFormat = 'chat' | 'messages' | 'responses' | 'plain' | 'gemini' | 'control-plane';

/** Seconds in `retry-after` of a 503 whose error sets no delay. */
const defaultRetrySeconds = 1;

/** Longest `retry-after` in seconds that OpenAI's SDKs wait. After a longer one they retry within 8 seconds. */
const longestSdkWait = 60;

/**
 * Returns the reply for a GatewayError: `{status:"failure", message, errors?, error:{message, type, param, code, name}}`. `code`
 * is the two-digit code of authentication errors. `name` is the table's code of every error. In the `messages` format the same
 * body also satisfies clients of the Anthropic API: `type:"error"`, its error type names and `request_id` (their "Errors" page, November 2026).
 * In the `gemini` format `error` has the members of Google's errors too, and its `code` is the HTTP status (decision 0689).
 * `x-should-retry: false`, which the SDKs of OpenAI and Anthropic and Claude Code obey, is set if a retry cannot succeed (decision 0671).
 * With `requestId` the reply has it as `x-request-id`, and in the `messages` format as `request-id`, which the SDKs read. Pure.
 * `detail` and `cause` of the error are not included.
 */
export function errorReply(error: GatewayError, format: ErrorFormat = 'chat', requestId: string | null = null): ErrorReply {
  const headers: HeaderList = ['content-type', 'application/json;charset=UTF-8'];
  if (error.code === 'upgrade_required') headers.push('sec-websocket-version', '13');
  if (error.allow !== null) headers.push('allow', error.allow.join(', '));
  const waitSeconds = retryAfterSeconds(error);
  if (waitSeconds !== null) headers.push('retry-after', String(waitSeconds));
  if (isFinal(error, waitSeconds)) headers.push('x-should-retry', 'false');
  if (requestId !== null) {
    headers.push('x-request-id', requestId);
    if (format === 'messages') headers.push('request-id', requestId);
  }
  const body = format === 'control-plane' ? controlPlaneBody(error) : bodyOf(error, format, requestId, waitSeconds);
  return { status: error.status, headers, body: JSON.stringify(body) };
}

/** The error body of the control plane: `{success: false, data: {message, errorCode, errors?}}`. */
function controlPlaneBody(error: GatewayError): object {
  const errorCode = controlPlaneCodes[error.status] ?? (error.status >= 500 ? 'AB04' : 'AB01');
  return {
    success: false,
    data: { message: error.message, errorCode, ...(error.errors === null ? {} : { errors: error.errors }) },
  };
}

/** Codes of the control plane's error table by status; `AB01` is used for every other status. */
const controlPlaneCodes: Record<number, string> = { 404: 'AB08', 429: 'AB06', 503: 'AB10' };

function bodyOf(error: GatewayError, format: ErrorFormat, requestId: string | null, waitSeconds: number | null): object {
  const { authCode, type } = errorTable[error.code];
  const shownType = format === 'messages' ? messagesErrorType(error.status) : type;
  const message = authCode === null ? error.message : `Svc Error: ${error.message}. Error Code: ${authCode}`;
  const gemini = format === 'gemini' ? geminiMembers(error, message, waitSeconds) : {};
  return {
    ...(format === 'messages' ? { type: 'error', request_id: requestId } : {}),
    // google-genai for Python shows this `status` instead of that of `error`.
    ...(format === 'gemini' ? {} : { status: 'failure' }),
    message,
    ...(error.errors === null ? {} : { errors: error.errors }),
    error: savedOnlyCodes.has(error.code)
      ? {
          ...(format === 'messages' ? { type: shownType } : {}),
          code: error.code,
          message,
          field: error.param,
          ...gemini,
        }
      : {
          message,
          type: shownType,
          param: error.param,
          code: authCode ?? error.code,
          name: error.code,
          ...(format === 'messages' && error.details !== null ? { details: error.details } : {}),
          ...gemini,
        },
  };
}

function geminiMembers(error: GatewayError, message: string, retrySeconds: number | null): object {
  const { authCode } = errorTable[error.code];
  const metadata = {
    ...(authCode === null ? {} : { code: authCode }),
    ...(error.param === null ? {} : { param: error.param }),
  };
  return geminiError({ status: error.status, message, reason: error.code, metadata, retrySeconds });
}

/** True if the same request of the same client fails again, or can only succeed after a time that no SDK waits. */
function isFinal({ source, status }: GatewayError, waitSeconds: number | null): boolean {
  if (status === 429) return waitSeconds !== null && waitSeconds > longestSdkWait;
  return source === 'client' || status === 401;
}

function retryAfterSeconds(error: GatewayError): number | null {
  if (error.retryAfterMs !== null) return Math.max(1, Math.ceil(error.retryAfterMs / 1000));
  return error.status === 503 ? defaultRetrySeconds : null;
}
