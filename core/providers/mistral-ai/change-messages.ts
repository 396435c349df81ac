import type { JsonObject } from '../../contract/values/json/json.ts';

/** Returns a request whose messages of a kind are changed. Returns the same object if it has none. */
export function changeMessages<Kind extends JsonObject>(
  params: JsonObject,
  isKind: (message: unknown) => message is Kind,
  change: (message: Kind) => JsonObject,
): JsonObject {
  const { messages } = params;
  if (!Array.isArray(messages) || !messages.some(isKind)) return params;
  return { ...params, messages: messages.map((message) => (isKind(message) ? change(message) : message)) };
}
