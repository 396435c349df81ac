import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { parametersOf } from './request.ts';

/**
 * Returns a Responses request whose custom tools, their earlier calls and the choice of them are those of functions. Returns the same
 * object if it has none. Throws `bad_request` naming a tool without a name.
 */
export function withFunctionsInResponses(params: JsonObject, call: OperationCall): JsonObject {
  const { tools, input, tool_choice: choice } = params;
  const hasTools = Array.isArray(tools) && tools.some(isCustom);
  const hasItems = Array.isArray(input) && input.some((item) => isObject(item) && functionItems.has(item.type));
  if (!hasTools && !hasItems) return params;
  const body: Record<string, unknown> = { ...params };
  if (hasTools) {
    noteOnce(call.adapted, 'tools.custom');
    body.tools = tools.map((tool, index) => (isCustom(tool) ? functionOf(tool, `tools[${index}].name`) : tool));
    if (isObject(choice)) body.tool_choice = choiceOf(choice);
  }
  if (hasItems) {
    noteOnce(call.adapted, 'input.custom_tool_call');
    body.input = input.map((item) => (isObject(item) ? functionItem(item) : item));
  }
  return body;
}

/** Returns the names of the custom tools of a Responses request; null if it has none. */
export function customNamesInResponses({ tools }: JsonObject): ReadonlySet<unknown> | null {
  if (!Array.isArray(tools) || !tools.some(isCustom)) return null;
  return new Set(tools.filter(isCustom).map(({ name }) => name));
}

function isCustom(value: unknown): value is JsonObject & { readonly type: 'custom' } {
  return isObject(value) && value.type === 'custom';
}

/** Items of custom tools, with the items of functions that stand for them. */
const functionItems: ReadonlyMap<unknown, string> = new Map([
  ['custom_tool_call', 'function_call'],
  ['custom_tool_call_output', 'function_call_output'],
]);

function functionItem(item: JsonObject): JsonObject {
  const type = functionItems.get(item.type);
  if (type === undefined) return item;
  if (type === 'function_call_output') return { ...item, type };
  const { input, ...others } = item;
  return { ...others, type, arguments: JSON.stringify({ input: typeof input === 'string' ? input : '' }) };
}

/** Strict is the default of this API, and rejects schemas that are not closed. */
function functionOf({ format, ...tool }: JsonObject, path: string): JsonObject {
  if (typeof tool.name !== 'string') throw badParam(path, 'text is required');
  return { ...tool, type: 'function', parameters: parametersOf(format), strict: false };
}

function choiceOf(choice: JsonObject): JsonObject {
  if (isCustom(choice)) return { ...choice, type: 'function' };
  if (choice.type !== 'allowed_tools' || !Array.isArray(choice.tools)) return choice;
  return { ...choice, tools: choice.tools.map((tool) => (isCustom(tool) ? choiceOf(tool) : tool)) };
}
