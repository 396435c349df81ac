import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { changeMessages } from './change-messages.ts';

/** Form of tool call ids that Mistral accepts: nine letters and digits. Its API returns 422 for others. */
const taken = /^[a-zA-Z0-9]{9}$/;

/**
 * Returns a request with tool call ids that Mistral accepts, if other providers or the client made them. The ids of a call and
 * its result change alike, so they still match. Returns the same object if nothing changes.
 */
export function withToolIds(params: JsonObject): JsonObject {
  return changeMessages(params, hasForeignId, withIds);
}

function hasForeignId(message: unknown): message is JsonObject {
  if (!isObject(message)) return false;
  if (message.role === 'tool') return isForeign(message.tool_call_id);
  return Array.isArray(message.tool_calls) && message.tool_calls.some((call) => isObject(call) && isForeign(call.id));
}

function withIds(message: JsonObject): JsonObject {
  if (message.role === 'tool') return { ...message, tool_call_id: takenId(message.tool_call_id) };
  const calls = (message.tool_calls as unknown[]).map((call) => (isObject(call) ? { ...call, id: takenId(call.id) } : call));
  return { ...message, tool_calls: calls };
}

function isForeign(id: unknown): boolean {
  return typeof id === 'string' && !taken.test(id);
}

function takenId(id: unknown): unknown {
  return isForeign(id) ? createHash('sha256').update(String(id)).digest('hex').slice(0, 9) : id;
}
