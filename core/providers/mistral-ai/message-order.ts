import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';

/** Text of the message between the results of tools and the next message of the user. Mistral rejects an empty one. */
const bridge = { role: 'assistant', content: 'OK.' };

/**
 * Returns a request in the order of roles that Mistral requires, which other providers do not: a message of the assistant follows
 * the results of tools ("Unexpected role 'user' after role 'tool'", code 3230), and text of the assistant at the end, which the
 * model continues, is marked as `prefix`. Returns the same object if nothing changes.
 */
export function withMessageOrder(params: JsonObject, call: OperationCall): JsonObject {
  const { messages } = params;
  if (!Array.isArray(messages)) return params;
  const ordered = messages.flatMap((message, index) => {
    const follows = isObject(message) && message.role === 'user' && roleOf(messages[index - 1]) === 'tool';
    return follows ? [bridge, message] : [message];
  });
  const last: unknown = ordered.at(-1);
  const continues = isObject(last) && last.role === 'assistant' && last.prefix === undefined && !last.tool_calls;
  if (continues) ordered[ordered.length - 1] = { ...last, prefix: true };
  if (!continues && ordered.length === messages.length) return params;
  noteOnce(call.adapted, 'messages');
  return { ...params, messages: ordered };
}

function roleOf(message: unknown): unknown {
  return isObject(message) ? message.role : undefined;
}
