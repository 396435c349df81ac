import { didYouMean } from '../../../../config/did-you-mean.ts';
import { isObject, type JsonObject } from '../json/json.ts';

/**
 * Every error a caller of the gateway can see: one row per code. `npm run docs:errors` writes docs/errors.md from it.
 *
 * `source` is the party that caused the error, `retryable` is true if the same request may succeed elsewhere or later, `type` is
 * the `error.type` of the body, `public` the default message.
 */
export const errorTable = {
  invalid_api_key: row(401, 'client', false, 'authentication_error', 'Invalid API Key', '03'),
  api_key_expired: row(401, 'client', false, 'authentication_error', 'API Key Expired', '01'),
  // Another provider may still be valid: a fallback continues with the next target.
  provider_expired: row(401, 'client', true, 'virtual_key_expired_error', 'The provider has expired', '01'),
  // Applies to one integration: a fallback continues with the next target.
  model_not_allowed: row(412, 'client', true, 'model_not_allowed_error', 'The model is not allowed for this integration'),
  // Limits of key and workspace end a request. Limits of a provider or integration apply to one target: a fallback continues.
  key_usage_limit: row(412, 'client', false, 'api_key_exhaust_error', 'API Key Usage Limit Exceeded', '04'),
  workspace_usage_limit: row(412, 'client', false, 'workspace_exhaust_error', 'Workspace Usage Limit Exceeded', '04'),
  provider_usage_limit: row(412, 'client', true, 'virtual_key_exhaust_error', 'Provider Usage Limit Exceeded', '04'),
  integration_usage_limit: row(412, 'client', true, 'integration_exhaust_error', 'Integration Usage Limit Exceeded', '04'),
  key_rate_limit: row(429, 'client', true, 'api_key_rate_limit_error', 'API key rate limit exceeded', '05'),
  workspace_rate_limit: row(429, 'client', true, 'workspace_rate_limit_error', 'Workspace rate limit exceeded', '05'),
  provider_rate_limit: row(429, 'client', true, 'virtual_key_rate_limit_error', 'Provider rate limit exceeded'),
  integration_rate_limit: row(429, 'client', true, 'integration_rate_limit_error', 'Integration rate limit exceeded'),
  usage_policy_limit: row(412, 'client', true, 'usage_limits_policy_exhaust_error', 'Usage Limits Policy Exceeded', '06'),
  rate_policy_limit: row(429, 'client', true, 'rate_limits_policy_exhaust_error', 'Rate Limit Policy exceeded'),
  limit_unknown: row(503, 'gateway', true, 'service_unavailable', 'A limit cannot be checked right now. Try again shortly'),
  forbidden: row(403, 'client', false, 'permission_error', 'Forbidden!', '033'),
  too_many_failures: row(
    429,
    'client',
    true,
    'rate_limit_error',
    'Too many failed attempts from this address or with this key. Try again in a minute',
  ),
  too_many_sessions: row(
    429,
    'client',
    true,
    'rate_limit_error',
    'WebSocket session limit reached. End a session or try again later',
  ),
  unmetered_request: row(400, 'client', false, 'invalid_request_error', 'The usage of this request cannot be measured'),
  loop_detected: row(508, 'client', false, 'invalid_request_error', 'The request has passed through this gateway before'),
  bad_request: row(400, 'client', false, 'invalid_request_error', 'The request is malformed'),
  invalid_json: row(400, 'client', false, 'invalid_request_error', 'The body is not valid JSON'),
  invalid_config: row(400, 'client', false, 'invalid_request_error', 'Invalid config passed'),
  // Concerns one target: a fallback continues, a load balance chooses again.
  invalid_provider: row(400, 'client', true, 'invalid_request_error', 'Invalid provider passed'),
  missing_provider: row(
    400,
    'client',
    false,
    'invalid_request_error',
    'Either x-svc-config or x-svc-provider header is required',
  ),
  invalid_custom_host: row(400, 'client', false, 'invalid_request_error', 'Invalid custom host'),
  config_override_blocked: row(
    400,
    'client',
    false,
    'invalid_request_error',
    'Cannot override default config set for this API key.',
  ),
  // Only saved configs and stored providers are allowed: each code names the header that was rejected.
  inline_config_blocked: row(400, 'client', false, 'invalid_request_error', 'Inline configs are blocked'),
  inline_provider_blocked: row(400, 'client', false, 'invalid_request_error', 'Inline providers are blocked'),
  inline_custom_host_blocked: row(400, 'client', false, 'invalid_request_error', 'Custom hosts of requests are blocked'),
  inline_provider_url_blocked: row(400, 'client', false, 'invalid_request_error', 'Provider URLs of requests are blocked'),
  inline_forward_headers_blocked: row(400, 'client', false, 'invalid_request_error', 'Forwarding headers is blocked'),
  unsupported_operation: row(400, 'client', false, 'invalid_request_error', 'This operation is not supported by the provider'),
  body_too_large: row(413, 'client', false, 'invalid_request_error', 'Payload size exceeds the limit'),
  uri_too_long: row(414, 'client', false, 'invalid_request_error', 'The request target is too long'),
  headers_too_large: row(431, 'client', false, 'invalid_request_error', 'The request header block is too large'),
  not_found: row(404, 'client', false, 'invalid_request_error', 'Not Found'),
  method_not_allowed: row(405, 'client', false, 'invalid_request_error', 'The method is not allowed on this route'),
  upgrade_required: row(426, 'client', false, 'invalid_request_error', 'This route requires a WebSocket upgrade (version 13)'),
  client_closed: row(499, 'client', false, 'client_closed', 'The client closed the connection'),
  request_timeout: row(408, 'upstream', true, 'timeout_error', 'Request exceeded the timeout'),
  upstream_connect: row(502, 'upstream', true, 'upstream_error', 'The provider could not be reached'),
  upstream_reset: row(502, 'upstream', true, 'upstream_error', 'The provider closed the connection before it replied'),
  upstream_invalid: row(502, 'upstream', true, 'upstream_error', 'The provider sent a response that cannot be parsed'),
  upstream_status: row(502, 'upstream', true, 'upstream_error', 'The provider returned an error'),
  request_denied: row(446, 'client', true, 'request_denied', 'A plugin denied the request'),
  response_denied: row(446, 'gateway', true, 'response_denied', 'A plugin denied the response of the provider'),
  stream_incomplete: row(502, 'upstream', false, 'stream_incomplete', 'The provider ended the stream before it was complete'),
  overloaded: row(
    503,
    'gateway',
    true,
    'overloaded_error',
    'The gateway has reached its limit of concurrent work. Try again shortly',
  ),
  unavailable: row(
    503,
    'gateway',
    true,
    'service_unavailable',
    'The gateway cannot process this request right now. Try again shortly',
  ),
  // Applies to one target: a fallback continues with the next target.
  secret_unavailable: row(
    503,
    'gateway',
    true,
    'service_unavailable',
    'A credential of the provider cannot be read from its secret manager',
  ),
  // The source is the provider, so that circuits count the error.
  token_unavailable: row(503, 'upstream', true, 'service_unavailable', 'A token for the provider cannot be fetched'),
  draining: row(503, 'gateway', true, 'service_unavailable', 'This gateway is shutting down. Try again'),
  internal: row(500, 'gateway', false, 'internal_error', 'Something went wrong'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

/** Codes for workspaces that allow saved configs only. Their body has `field` instead of `type` and `param`. */
export const savedOnlyCodes: ReadonlySet<ErrorCode> = new Set([
  'inline_config_blocked',
  'inline_provider_blocked',
  'inline_custom_host_blocked',
  'inline_provider_url_blocked',
  'inline_forward_headers_blocked',
]);

/** Codes that reject a target before its provider is called. Such an attempt uses no limits. */
const uncalledCodes: ReadonlySet<string | null> = new Set<ErrorCode>([
  'invalid_provider',
  'provider_expired',
  'model_not_allowed',
  // Budgets of cost reject a request when the price of its target is known.
  'key_usage_limit',
  'workspace_usage_limit',
  'provider_usage_limit',
  'integration_usage_limit',
  'provider_rate_limit',
  'integration_rate_limit',
  'usage_policy_limit',
  'rate_policy_limit',
  'limit_unknown',
  'secret_unavailable',
]);

/** True if the attempt reached the point where its provider is called. */
export function wasCalled({ errorCode }: { readonly errorCode: string | null }): boolean {
  return !uncalledCodes.has(errorCode);
}

export type ErrorSource = 'client' | 'upstream' | 'gateway';

export interface ErrorRow {
  readonly status: number;
  readonly source: ErrorSource;
  readonly retryable: boolean;
  readonly type: string;
  readonly public: string;
  /** The two-digit code of authentication errors, if there is one. */
  readonly authCode: string | null;
}

export interface ErrorExtras {
  /** Message for the caller; absent: the text of the table. Never holds a secret. */
  readonly message?: string;
  /** The invalid input: a header name, or a path such as `targets[1].retry.attempts`. */
  readonly param?: string;
  /** Further lines for the caller, for example one per validation issue. */
  readonly errors?: readonly string[];
  /** Names of the invalid provider settings. */
  readonly settings?: readonly string[];
  /** Methods for the `allow` header of a 405. */
  readonly allow?: readonly string[];
  /** For the log only. */
  readonly detail?: string;
  readonly cause?: unknown;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** Machine-readable reason for clients of the Messages API: `error.details`, with an `error_code`. */
  readonly details?: Readonly<Record<string, string>>;
  /** Milliseconds after which a wait for the other side ended. */
  readonly waitedMs?: number;
  /**
   * Error that a provider reported in a response with a success status, or in one of several exchanges of an operation, as the body of an error response
   * of that provider.
   */
  readonly reported?: JsonObject;
}

/** Marks errors of this class. A process may load several copies of the package, each with a class of its own. */
const brand = Symbol.for('svc-gateway.GatewayError');

/** The one error that crosses module borders. `message` is for the caller, `detail` and `cause` are for the log only. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly source: ErrorSource;
  readonly status: number;
  readonly retryable: boolean;
  readonly param: string | null;
  readonly errors: readonly string[] | null;
  readonly settings: readonly string[];
  readonly allow: readonly string[] | null;
  readonly detail: string | null;
  readonly retryAfterMs: number | null;
  readonly details: Readonly<Record<string, string>> | null;
  readonly waitedMs: number | null;
  readonly reported: JsonObject | null;

  constructor(code: ErrorCode, extras: ErrorExtras = {}) {
    // A plugin without a compiler may name any code.
    if (!Object.hasOwn(errorTable, code)) throw new TypeError(unknownCode(code));
    const known = errorTable[code];
    super(extras.message ?? known.public, { cause: extras.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.source = known.source;
    this.status = extras.status ?? known.status;
    this.retryable = known.retryable;
    this.param = extras.param ?? null;
    this.errors = extras.errors ?? null;
    this.settings = extras.settings ?? [];
    this.allow = extras.allow ?? null;
    this.detail = extras.detail ?? null;
    this.retryAfterMs = extras.retryAfterMs ?? null;
    this.details = extras.details ?? null;
    this.waitedMs = extras.waitedMs ?? null;
    this.reported = extras.reported ?? null;
  }

  /** Returns the same error with another message and parameter, without `reported` and `waitedMs`, which the message now states if it matters. */
  renamed(message: string, param: string | null): GatewayError {
    const { code, status, errors, settings, allow, detail, retryAfterMs, details, cause } = this;
    return new GatewayError(code, {
      message,
      status,
      settings,
      cause,
      ...(param === null ? {} : { param }),
      ...(errors ? { errors } : {}),
      ...(allow ? { allow } : {}),
      ...(detail === null ? {} : { detail }),
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
      ...(details === null ? {} : { details }),
    });
  }

  /** True for a GatewayError of any copy of the package. */
  get [brand](): true {
    return true;
  }
}

/** Converts any thrown value to a GatewayError. Other values become `code` with the original as its cause. */
export function toGatewayError(thrown: unknown, code: ErrorCode = 'internal'): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const foreign = fromOtherCopy(thrown);
  return foreign ?? new GatewayError(code, { cause: thrown, detail: thrown instanceof Error ? thrown.message : textOf(thrown) });
}

/** Returns the reason of a thrown value for a log line: the detail of a GatewayError, else the message. */
export function reasonOf(thrown: unknown): string {
  const error = toGatewayError(thrown);
  return error.detail ?? error.message;
}

/**
 * Converts a GatewayError of another copy of the package to one of this copy. Null for all other values and for unknown codes.
 */
function fromOtherCopy(thrown: unknown): GatewayError | null {
  try {
    if (typeof thrown !== 'object' || thrown === null || (thrown as { [brand]?: unknown })[brand] !== true) return null;
    const { code, message, status, param, errors, detail, retryAfterMs, reported } = thrown as Record<string, unknown>;
    if (typeof code !== 'string' || !Object.hasOwn(errorTable, code)) return null;
    return new GatewayError(code as ErrorCode, {
      cause: thrown,
      ...(typeof message === 'string' ? { message } : {}),
      ...(Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599 ? { status: Number(status) } : {}),
      ...(typeof param === 'string' ? { param } : {}),
      ...(Array.isArray(errors) ? { errors: errors.map(String) } : {}),
      ...(typeof detail === 'string' ? { detail } : {}),
      ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
      ...(isObject(reported) ? { reported } : {}),
    });
  } catch {
    return null;
  }
}

function unknownCode(code: unknown): string {
  const codes = Object.keys(errorTable);
  return `GatewayError: unknown code ${String(code)}${didYouMean(String(code), codes) || `; expected one of ${codes.join(', ')}`}`;
}

/** Returns the text of a thrown value. If the conversion to text throws, returns its type. */
function textOf(thrown: unknown): string {
  try {
    const text = String(thrown);
    if (text !== '[object Object]') return text;
    const { message } = thrown as { readonly message?: unknown };
    // Other members may hold secrets, such as the headers of a failed call.
    return typeof message === 'string' ? message : `an object with the members ${namesIn(thrown as object)}`;
  } catch {
    return typeof thrown;
  }
}

function namesIn(value: object): string {
  return Object.keys(value).slice(0, 10).join(', ').slice(0, 200) || '(none)';
}

function row(
  status: number,
  source: ErrorSource,
  retryable: boolean,
  type: string,
  text: string,
  authCode: string | null = null,
): ErrorRow {
  return { status, source, retryable, type, public: text, authCode };
}
