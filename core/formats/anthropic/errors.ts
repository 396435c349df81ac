import type { ProviderError } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { retryAfterMs } from '../../contract/values/http/retry-after.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/**
 * The statuses of the error types, for errors that come inside a stream whose own status was 200
 * (platform.claude.com/docs/en/api/errors, read 2026-11-21). Unknown types count as 500.
 */
const statusOfType: Readonly<Record<string, number>> = byName({
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
});

/** Converts the provider's error reply, `{type: "error", error: {type, message}, request_id}`, to a `GatewayError`. */
export function anthropicError(provider: string, status: number, body: JsonObject | null, headers: HeaderList): ProviderError {
  const error = isObject(body?.error) ? body.error : {};
  const message = typeof error.message === 'string' && error.message !== '' ? error.message : `status ${status}`;
  return {
    message: `${provider} error: ${message}`,
    type: typeof error.type === 'string' ? error.type : null,
    param: null,
    code: null,
    retryAfterMs: retryAfterMs(headers),
  };
}

/** Throws the error of an accepted response that has one in place of its content, as some proxies report it. Returns the response otherwise. */
export function refuseError(response: JsonObject, provider: string): JsonObject {
  if (isObject(response.error) && !response.content) throw streamError(response, provider);
  return response;
}

/** Converts the data of an `error` event in a stream to a `GatewayError`. */
export function streamError(data: JsonObject, provider: string): GatewayError {
  const { message, type } = anthropicError(provider, 500, data, []);
  return new GatewayError('upstream_status', {
    message: message === `${provider} error: status 500` ? `${provider} error: the stream failed` : message,
    status: statusOfType[type ?? ''] ?? 500,
    detail: type ?? undefined,
    ...(isObject(data.error) ? { reported: data } : {}),
  });
}
