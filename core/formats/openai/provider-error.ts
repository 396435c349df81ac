import type { ProviderError } from '../../contract/provider/provider.ts';
import { errorTable, GatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { retryAfterMs } from '../../contract/values/http/retry-after.ts';
import { isObject, type JsonObject, objectsIn, textOrNull } from '../../contract/values/json/json.ts';

/**
 * Reads errors of OpenAI-compatible providers, in each of their forms: `{error: {message, type, param, code}}`, `{error: "text",
 * code}` (xAI, Ollama), `{message, type, code}`, `{detail: [{loc, msg}]}` (Mistral and other FastAPI servers) and `{errors: [{message,
 * code}]}` (Cloudflare).
 */
export function providerError(id: string): (status: number, body: JsonObject | null, headers: HeaderList) => ProviderError {
  return (status, body, headers) => {
    const [first] = objectsIn(body?.errors);
    const error: JsonObject = isObject(body?.error) ? body.error : { ...first, ...body };
    const text = messageIn(body) ?? `the provider replied with status ${status} and no message`;
    return {
      message: `${id} error: ${text}`,
      type: textOf(error.type),
      param: textOf(error.param),
      code: textOf(error.code),
      retryAfterMs: retryAfterMs(headers),
    };
  };
}

/** Converts an error event in a stream, or an error in an accepted response. The status is the provider's if the event has one, in a number or by its type or code. */
export function streamError(id: string, error: unknown): GatewayError {
  const { code, status, type }: JsonObject = isObject(error) ? error : {};
  const stated = [status, code].map(Number).find((value) => value >= 400 && value <= 599) ?? statusOfWords(`${type} ${code}`);
  return new GatewayError('upstream_status', {
    message: `${id} error: ${messageIn({ error }) ?? 'the provider ended the stream early'}`,
    ...(stated === undefined ? {} : { status: stated }),
    detail: JSON.stringify(error)?.slice(0, 2000),
    ...(error ? { reported: { error: withoutEventType(error) } } : {}),
  });
}

/** In Responses the event is the error, and its `type` is `error`. */
function withoutEventType(error: unknown): unknown {
  if (!isObject(error) || error.type !== 'error') return error;
  const { type: _type, ...fields } = error;
  return fields;
}

/**
 * Throws the error of an accepted response that has one in place of this member, as OpenRouter reports failed models and LM Studio unknown
 * ones. Returns the response otherwise.
 */
export function refuseError(id: string, response: JsonObject, member: string): JsonObject {
  if (response.error && !response[member]) throw streamError(id, response.error);
  return response;
}

/** Returns the status of errors that clients wait for and repeat, and of those of the request, whose repetition fails again. */
function statusOfWords(words: string): number | undefined {
  if (/rate_?limit|insufficient_quota/i.test(words)) return 429;
  if (/invalid_request|invalid_prompt|context_length_exceeded/i.test(words)) return 400;
  return /overloaded/i.test(words) ? 503 : undefined;
}

/**
 * Returns the error in the form of OpenAI, whose clients read `error` as an object: for an event that is the error itself (Mistral)
 * or has a text. Their types for `type` do not include null.
 */
export function errorObject(error: unknown): JsonObject {
  const { type, param, code }: JsonObject = isObject(error) ? error : {};
  return {
    message: messageIn(isObject(error) ? error : { error }) ?? 'the provider ended the stream early',
    type: textOf(type) ?? errorTable.upstream_status.type,
    param: textOf(param),
    code: textOf(code),
  };
}

function messageIn(body: JsonObject | null): string | null {
  if (body === null) return null;
  for (const value of [body.error, body.message, body.detail, body.errors]) {
    if (typeof value === 'string' && value !== '') return value;
    if (Array.isArray(value) && value.length > 0) return value.map(lineOf).join('; ');
    if (isObject(value)) {
      const inner = messageIn({ message: value.message, detail: value.detail });
      if (inner !== null) return inner;
    }
  }
  return null;
}

/** Formats one error of a list. A validation issue of a FastAPI server: `body.temperature: Input should be a valid number`. */
function lineOf(error: unknown): string {
  if (!isObject(error)) return String(error);
  const where = Array.isArray(error.loc) ? `${error.loc.join('.')}: ` : '';
  return `${where}${textOf(error.msg) ?? textOf(error.message) ?? JSON.stringify(error)}`;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return textOrNull(value);
}
