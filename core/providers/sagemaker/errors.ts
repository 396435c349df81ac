import type { ProviderError } from '../../contract/provider/provider.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';
import { retryAfterMs } from '../../contract/values/http/retry-after.ts';
import { isObject, type JsonObject, parseObject, textOrNull } from '../../contract/values/json/json.ts';

/**
 * Converts the service's own errors (`{Message}` or `{message}`, their type in `x-amzn-errortype`) and those of the container.
 * The latter have status 424, the container's body in `OriginalMessage` and its status in `OriginalStatusCode`.
 */
export function errorOf(status: number, body: JsonObject | null, headers: HeaderList): ProviderError {
  const { OriginalMessage: original, OriginalStatusCode: originalStatus, ErrorCode: errorCode, Message: upper } = body ?? {};
  const found = containerMessage(original) ?? textOrNull(body?.message) ?? textOrNull(upper);
  const from = typeof originalStatus === 'number' ? `the container replied with ${originalStatus}: ` : '';
  return {
    message: `sagemaker error: ${from}${found ?? `status ${status}`}`,
    type: kindOf(findHeader(headers, 'x-amzn-errortype') ?? body?.__type),
    param: null,
    code: textOrNull(errorCode),
    retryAfterMs: retryAfterMs(headers),
  };
}

/** Returns the message of a container's error, which is usually JSON in OpenAI's form. */
function containerMessage(original: unknown): string | null {
  const text = textOrNull(original);
  if (text === null || !text.startsWith('{')) return text;
  const { error, message, detail } = parseObject(text) ?? {};
  return (isObject(error) ? textOrNull(error.message) : textOrNull(error)) ?? textOrNull(message) ?? textOrNull(detail) ?? text;
}

function kindOf(text: unknown): string | null {
  return textOrNull(text)?.split(':')[0]?.split('#').at(-1) ?? null;
}
