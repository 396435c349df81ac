import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../note-once.ts';

/**
 * Returns the arguments of a call as an object. Malformed arguments of a model cannot be sent back. They become `{}` and are
 * reported in `call.adapted`.
 */
export function toolArguments(text: unknown, call: OperationCall): JsonObject {
  if (isObject(text)) return text;
  if (text === undefined || text === null || text === '') return {};
  try {
    const value: unknown = JSON.parse(String(text));
    if (isObject(value)) return value;
  } catch {
    // Reported below, like valid JSON that is not an object.
  }
  noteOnce(call.adapted, 'messages.tool_calls');
  return {};
}
