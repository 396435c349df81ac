import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';
import { schemaWithoutBounds } from '../json-schema-bounds.ts';
import { noteOnce } from '../note-once.ts';
import { toolNameOf } from '../tool-name.ts';
import { withCacheControl } from './content-parts.ts';

/**
 * Returns `tools` and `tool_choice` of a chat call for the provider. Empty if the call has no tools, because the provider rejects
 * a choice without tools. Tools that are not functions (web search, code execution, …) are passed unchanged.
 */
export function toolParams(params: JsonObject, call: OperationCall): JsonObject {
  let tools = toolList(params, call);
  const { choice, only } = toolChoice(params);
  if (only !== null) {
    const allowed = new Set(only);
    tools = tools.filter((tool) => allowed.has(String(tool.name)));
    noteOnce(call.adapted, 'tool_choice');
  }
  if (tools.length === 0) return {};
  if (params.parallel_tool_calls !== false || choice?.type === 'none')
    return choice === null ? { tools } : { tools, tool_choice: choice };
  return { tools, tool_choice: { type: 'auto', ...choice, disable_parallel_tool_use: true } };
}

function toolList(params: JsonObject, call: OperationCall): JsonObject[] {
  if (Array.isArray(params.tools)) return params.tools.map((tool, index) => nativeTool(tool, `tools[${index}]`, call));
  if (!Array.isArray(params.functions)) return [];
  // The retired form of tools. Replies use `tool_calls`, its replacement.
  noteOnce(call.adapted, 'functions');
  return params.functions.map((fn, index) => nativeTool({ type: 'function', function: fn }, `functions[${index}]`, call));
}

function nativeTool(tool: unknown, path: string, call: OperationCall): JsonObject {
  if (!isObject(tool)) throw badParam(path, 'a tool must be an object');
  if (isObject(tool.custom)) throw badParam(path, 'custom tools with free text input are not supported by anthropic');
  if (!isObject(tool.function)) return tool;
  const { type: _type, function: _function, prompt_cache_breakpoint: _hint, ...beside } = tool;
  const { parameters, strict, ...fn } = tool.function;
  const schema = objectSchema(parameters);
  if (strict !== true) return withCacheControl({ ...beside, ...fn, input_schema: schema }, tool);
  // A strict tool restricts the model's output like structured output, and accepts the same schemas.
  const rules = { closesObjects: true, changed: () => noteOnce(call.adapted, 'tools') };
  return withCacheControl({ ...beside, ...fn, input_schema: schemaWithoutBounds(schema, rules), strict }, tool);
}

/** Claude refuses any other type than `object`, also `["object", "null"]` and null. */
export function objectSchema(parameters: unknown): JsonObject {
  return isObject(parameters) ? { ...parameters, type: 'object' } : { type: 'object', properties: {} };
}

/** Returns the choice, and the names of the allowed tools if the client allowed only some. */
function toolChoice(params: JsonObject): { choice: JsonObject | null; only: readonly string[] | null } {
  const asked = params.tool_choice ?? params.function_call;
  if (asked === 'auto' || asked === 'none') return { choice: { type: asked }, only: null };
  if (asked === 'required') return { choice: { type: 'any' }, only: null };
  if (!isObject(asked)) return { choice: null, only: null };
  if (asked.type === 'allowed_tools' && isObject(asked.allowed_tools)) {
    const { mode, tools } = asked.allowed_tools;
    return { choice: { type: mode === 'required' ? 'any' : 'auto' }, only: Array.isArray(tools) ? tools.map(toolNameOf) : [] };
  }
  if (isObject(asked.function)) return { choice: { type: 'tool', name: asked.function.name }, only: null };
  if (asked.type === undefined && typeof asked.name === 'string')
    return { choice: { type: 'tool', name: asked.name }, only: null };
  return { choice: asked, only: null };
}
