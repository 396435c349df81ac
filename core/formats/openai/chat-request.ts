import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { ChatQuirks } from './chat-quirks.ts';

/**
 * The steps that convert a chat request to the provider's. Each returns the given object itself if there is nothing to change.
 * The pipeline then sends the client's bytes unchanged.
 */

/** Requests token counts in the stream, because records and budgets always need them. */
export function withUsageInStream(params: JsonObject, quirks: ChatQuirks): JsonObject {
  if (params.stream !== true) return params;
  const options = isObject(params.stream_options) ? params.stream_options : {};
  if (quirks.streamUsage !== 'always') {
    return options.include_usage === true ? params : { ...params, stream_options: { ...options, include_usage: true } };
  }
  if (!('include_usage' in options)) return params;
  // These providers always send counts, so the option is not needed. Some reject it with 422.
  const { include_usage: _, ...otherOptions } = options;
  const { stream_options: __, ...body } = params;
  return Object.keys(otherOptions).length > 0 ? { ...body, stream_options: otherOptions } : body;
}

/** True if the client itself wants the chunk with the token counts. */
export function asksForUsage(params: JsonObject): boolean {
  return isObject(params.stream_options) && params.stream_options.include_usage === true;
}

/** Renames parameters to the provider's names. A parameter that already has the provider's name takes precedence. */
export function withRenames(params: JsonObject, quirks: Pick<ChatQuirks, 'renames'>, call: OperationCall): JsonObject {
  let body = params;
  for (const [from, to] of Object.entries(quirks.renames ?? {})) {
    if (!(from in params)) continue;
    const { [from]: value, ...rest } = body;
    body = to in rest ? rest : { ...rest, [to]: value };
    call.adapted.push(`${from}->${to}`);
  }
  return body;
}

/** Removes and reports parameters that the provider rejects. */
export function withoutRefused(params: JsonObject, quirks: Pick<ChatQuirks, 'refuses'>, call: OperationCall): JsonObject {
  const refused = (quirks.refuses ?? []).filter((name) => name in params);
  if (refused.length === 0) return params;
  call.dropped.push(...refused);
  return Object.fromEntries(Object.entries(params).filter(([name]) => !refused.includes(name)));
}

/** Sends `developer` messages as `system` messages, their older name. */
export function withSystemRole(params: JsonObject, call: OperationCall): JsonObject {
  const { messages } = params;
  const isDeveloper = (message: unknown): boolean => isObject(message) && message.role === 'developer';
  if (!Array.isArray(messages) || !messages.some(isDeveloper)) return params;
  call.adapted.push('messages.role:developer->system');
  return {
    ...params,
    messages: messages.map((message: JsonObject) => (isDeveloper(message) ? { ...message, role: 'system' } : message)),
  };
}
