import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import type { ChatExtra } from '../messages-over-chat/request.ts';

/**
 * Converts `tools`, `tool_choice` and `parallel_tool_calls` of a Responses call to those of a chat call. Empty if no function is
 * left, because providers reject a choice without tools. Tools that OpenAI itself runs, and tools with free text input, have no
 * counterpart. They are left out and reported as `tools.<type>`.
 */
export function toolParams(params: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject {
  if (!Array.isArray(params.tools)) return {};
  let tools = params.tools.flatMap((tool, index) => {
    if (!isObject(tool)) throw badParam(`tools[${index}]`, 'a tool must be an object');
    return chatTool(tool, call, understands);
  });
  const { choice, only } = toolChoice(params.tool_choice, call);
  if (only !== null) {
    tools = tools.filter((tool) => only.includes((tool.function as JsonObject).name));
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

function chatTool(tool: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  if (tool.type !== 'function') {
    noteOnce(call.dropped, `tools.${String(tool.type)}`);
    return [];
  }
  // The form of chat completions, which nests the function, is accepted too.
  if (isObject(tool.function)) return [tool];
  for (const [field, value] of Object.entries(tool)) {
    if (!toolFields.has(field) && value !== null && value !== undefined && value !== false)
      noteOnce(call.dropped, `tools.${field}`);
  }
  const { name, description, parameters, strict, cache_control: hint } = tool;
  const keepsHint = hint !== undefined && understands.includes('cache_control');
  if (hint && !keepsHint) noteOnce(call.dropped, 'cache_control');
  const fn = {
    name,
    ...(description === undefined || description === null ? {} : { description }),
    ...(isObject(parameters) ? { parameters } : {}),
    ...(strict === true ? { strict } : {}),
  };
  return [{ type: 'function', function: fn, ...(keepsHint ? { cache_control: hint } : {}) }];
}

/** Returns the choice, and the names of the allowed tools if only some are allowed. */
function toolChoice(asked: unknown, call: OperationCall): { choice: unknown; only: readonly unknown[] | null } {
  if (asked === undefined || asked === null) return { choice: null, only: null };
  if (!isObject(asked)) return { choice: asked, only: null };
  if (asked.type === 'function') {
    return { choice: { type: 'function', function: { name: asked.name } }, only: null };
  }
  if (asked.type === 'allowed_tools' && Array.isArray(asked.tools)) {
    return {
      choice: asked.mode === 'required' ? 'required' : 'auto',
      only: asked.tools.filter(isObject).map((tool) => tool.name),
    };
  }
  noteOnce(call.dropped, 'tool_choice');
  return { choice: null, only: null };
}
