import type { ProviderError } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { retryAfterMs } from '../../contract/values/http/retry-after.ts';
import { isObject, type JsonObject, objectsIn, textOrNull } from '../../contract/values/json/json.ts';

/**
 * Converts an error reply of a Google API, `{error: {code, message, status, details}}` (https://google.aip.dev/193), to a
 * `GatewayError`. A `RetryInfo` among the details holds the retry delay, a `BadRequest` the invalid parameter.
 */
export function googleError(provider: string, status: number, body: JsonObject | null, headers: HeaderList): ProviderError {
  const error = isObject(body?.error) ? body.error : {};
  const message = typeof error.message === 'string' && error.message !== '' ? error.message : `status ${status}`;
  const details = objectsIn(error.details);
  return {
    message: `${provider} error: ${message}`,
    type: textOrNull(error.status) ?? textOrNull(error.type),
    param: fieldIn(details),
    code: null,
    retryAfterMs: retryAfterMs(headers) ?? retryDelayIn(details),
  };
}

/** Throws the error of an accepted response that has one in place of its candidates. Returns the response otherwise. */
export function refuseError(response: JsonObject, provider: string): JsonObject {
  if (isObject(response.error) && !response.candidates) throw streamError(provider, response.error);
  return response;
}

/** Converts the `error` of an event inside a stream to a `GatewayError`. Its `code` is the HTTP status. */
export function streamError(provider: string, error: JsonObject): GatewayError {
  const { message, type, retryAfterMs: waitMs } = googleError(provider, 500, { error }, []);
  const code = Number(error.code);
  return new GatewayError('upstream_status', {
    message: message === `${provider} error: status 500` ? `${provider} error: the stream failed` : message,
    status: code >= 400 && code <= 599 ? code : 500,
    ...(waitMs === null ? {} : { retryAfterMs: waitMs }),
    ...(type === null ? {} : { detail: type }),
    reported: { error },
  });
}

/** `retryDelay` is a protobuf duration in JSON: seconds with an `s` behind them, `34.07s`. */
function retryDelayIn(details: readonly JsonObject[]): number | null {
  const delay = details
    .map((detail) => /^(\d+(?:\.\d+)?)s$/.exec(textOrNull(detail.retryDelay) ?? ''))
    .find((found) => found !== null);
  return delay ? Math.round(Number(delay[1]) * 1000) : null;
}

function fieldIn(details: readonly JsonObject[]): string | null {
  for (const { fieldViolations } of details) {
    const [first] = objectsIn(fieldViolations);
    const field = textOrNull(first?.field);
    if (field !== null) return field;
  }
  return null;
}
