import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../note-once.ts';

/**
 * Returns the arguments of a call as an object. Malformed arguments of a model cannot be sent back. They become `{}` and are
 * reported in `call.adapted`.
 */
export function toolArguments(text: unknown, call: OperationCall): JsonObject {
  if (isObject(text)) return text;
  if (text === undefined || text === null || text === '') return {};
  const value = parseObject(String(text));
  if (value !== null) return value;
  noteOnce(call.adapted, 'messages.tool_calls');
  return {};
}
