import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../note-once.ts';

/**
 * Returns a chat request without `tool_choice: {type: 'allowed_tools'}`, for providers that lack it: the other tools are left out,
 * and the mode becomes the choice. Returns the same object if the choice is another one.
 */
export function withoutAllowedTools(params: JsonObject, call: OperationCall): JsonObject {
  const { tool_choice: choice, tools } = params;
  if (!isObject(choice) || choice.type !== 'allowed_tools' || !isObject(choice.allowed_tools) || !Array.isArray(tools))
    return params;
  const { mode, tools: allowed } = choice.allowed_tools;
  const names = new Set((Array.isArray(allowed) ? allowed : []).map(nameOf));
  noteOnce(call.adapted, 'tool_choice');
  const { tools: _tools, tool_choice: _choice, ...others } = params;
  const left = tools.filter((tool) => names.has(nameOf(tool)));
  if (left.length === 0) return others;
  return { ...others, tools: left, tool_choice: mode === 'required' ? 'required' : 'auto' };
}

function nameOf(tool: unknown): unknown {
  if (!isObject(tool)) return null;
  return isObject(tool.function) ? tool.function.name : tool.name;
}
