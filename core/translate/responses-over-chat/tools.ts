import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import type { ChatExtra } from '../messages-over-chat/request.ts';

/**
 * Converts `tools`, `tool_choice` and `parallel_tool_calls` of a Responses call to those of a chat call. Empty if no function is
 * left, because providers reject a choice without tools. Tools that OpenAI itself runs have no counterpart. They are left out and
 * reported as `tools.<type>`.
 */
export function toolParams(params: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject {
  if (!Array.isArray(params.tools)) return {};
  let tools = params.tools.flatMap((tool, index) => {
    if (!isObject(tool)) throw badParam(`tools[${index}]`, 'a tool must be an object');
    if (typeof tool.type !== 'string') throw badParam(`tools[${index}].type`, 'text is required');
    return chatTool(tool, call, understands);
  });
  const { choice, only } = toolChoice(params.tool_choice, call);
  if (only !== null) {
    tools = tools.filter((tool) => only.has(((tool.function ?? tool.custom) as JsonObject).name));
    noteOnce(call.adapted, 'tool_choice');
  }
  if (tools.length === 0) return {};
  return {
    tools,
    ...(choice === null ? {} : { tool_choice: choice }),
    ...(typeof params.parallel_tool_calls === 'boolean' ? { parallel_tool_calls: params.parallel_tool_calls } : {}),
  };
}

/** Fields of a function that have a counterpart. Only OpenAI supports the others (`defer_loading`, `output_schema`, …). */
const toolFields: ReadonlySet<string> = new Set(['type', 'name', 'description', 'parameters', 'strict', 'cache_control']);
const customToolFields: ReadonlySet<string> = new Set(['type', 'name', 'description', 'format', 'cache_control']);

function chatTool(tool: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  const { type } = tool;
  if (type !== 'function' && type !== 'custom') {
    noteOnce(call.dropped, `tools.${String(type)}`);
    return [];
  }
  // The form of chat completions, which nests the tool, is accepted too.
  if (isObject(tool[type])) return [tool];
  const known = type === 'function' ? toolFields : customToolFields;
  for (const [field, value] of Object.entries(tool)) {
    if (!known.has(field) && value !== null && value !== undefined && value !== false) noteOnce(call.dropped, `tools.${field}`);
  }
  const { name, description, parameters, strict, format, cache_control: hint } = tool;
  const keepsHint = hint !== undefined && understands.includes('cache_control');
  if (hint && !keepsHint) noteOnce(call.dropped, 'cache_control');
  const named = { name, ...(description === undefined || description === null ? {} : { description }) };
  const fn = { ...named, ...(isObject(parameters) ? { parameters } : {}), ...(strict === true ? { strict } : {}) };
  const form = type === 'function' ? { function: fn } : { custom: { ...named, ...formatOf(format) } };
  return [{ type, ...form, ...(keepsHint ? { cache_control: hint } : {}) }];
}

/** Chat completions nest the grammar of a custom tool under its type. */
function formatOf(format: unknown): JsonObject {
  if (!isObject(format)) return {};
  const { type, ...grammar } = format;
  return { format: type === 'grammar' ? { type, grammar } : format };
}

/** Returns the choice, and the names of the allowed tools if only some are allowed. */
function toolChoice(asked: unknown, call: OperationCall): { choice: unknown; only: ReadonlySet<unknown> | null } {
  if (asked === undefined || asked === null) return { choice: null, only: null };
  if (!isObject(asked)) return { choice: asked, only: null };
  if (asked.type === 'function' || asked.type === 'custom') {
    return { choice: { type: asked.type, [asked.type]: { name: asked.name } }, only: null };
  }
  if (asked.type === 'allowed_tools' && Array.isArray(asked.tools)) {
    return {
      choice: asked.mode === 'required' ? 'required' : 'auto',
      only: new Set(asked.tools.filter(isObject).map((tool) => tool.name)),
    };
  }
  noteOnce(call.dropped, 'tool_choice');
  return { choice: null, only: null };
}
