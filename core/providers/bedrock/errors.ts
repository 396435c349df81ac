import type { ProviderError } from '../../contract/provider/provider.ts';
import type { StreamEvent } from '../../contract/provider/stream-event.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';
import { retryAfterMs } from '../../contract/values/http/retry-after.ts';
import { isObject, isText, type JsonObject } from '../../contract/values/json/json.ts';

/**
 * Statuses of exceptions that come inside a stream whose own status was 200
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html). Unknown ones count as 500.
 */
const statusOfException: Readonly<Record<string, number>> = {
  validationException: 400,
  accessDeniedException: 403,
  resourceNotFoundException: 404,
  modelTimeoutException: 408,
  modelStreamErrorException: 424,
  modelErrorException: 424,
  throttlingException: 429,
  modelNotReadyException: 429,
  internalServerException: 500,
  serviceUnavailableException: 503,
};

/**
 * Converts the provider's error reply to a `GatewayError`: the message from the body, the type from the `x-amzn-errortype`
 * header.
 */
export function errorOf(status: number, body: JsonObject | null, headers: HeaderList): ProviderError {
  const message = [body?.message, body?.Message].find(isText);
  return {
    message: `bedrock error: ${message ?? `status ${status}`}`,
    type: kindOf(findHeader(headers, 'x-amzn-errortype') ?? body?.__type),
    param: null,
    code: null,
    retryAfterMs: retryAfterMs(headers),
  };
}

/** Returns the error that an event of a stream reports; null for other events. */
export function eventError({ event, data }: StreamEvent): GatewayError | null {
  if (event === null || !isObject(data) || !(event === 'error' || event.endsWith('Exception'))) return null;
  const { message } = errorOf(500, data, []);
  return new GatewayError('upstream_status', {
    message: message === 'bedrock error: status 500' ? `bedrock error: the stream failed (${event})` : message,
    status: statusOfException[event] ?? 500,
    detail: event,
    reported: data,
  });
}

/** `ValidationException:http://internal.amazon.com/…` and `com.amazon.coral#ValidationException` without what is around. */
function kindOf(text: unknown): string | null {
  if (typeof text !== 'string' || text === '') return null;
  return text.split(':')[0]?.split('#').at(-1) ?? null;
}
