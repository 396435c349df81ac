import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';

/**
 * Returns `tools` and `tool_choice` of a chat call. A choice of one tool becomes the only tool, and required. The provider has
 * one strict mode for all tools, which is set if every tool is strict.
 */
export function toolParams(params: JsonObject, call: OperationCall): JsonObject {
  const given = toolList(params, call);
  if (given.length === 0) return {};
  if (params.parallel_tool_calls === false) noteOnce(call.dropped, 'parallel_tool_calls');
  const { choice, only } = choiceOf(params);
  const allowed = only === null ? null : new Set(only);
  const listed = allowed === null ? given : given.filter(({ fn }) => allowed.has(String(fn.name)));
  if (only !== null) noteOnce(call.adapted, 'tool_choice');
  const strict = listed.filter(({ fn }) => fn.strict === true).length;
  if (strict > 0 && strict < listed.length) noteOnce(call.dropped, 'tools.strict');
  return {
    tools: listed.map(({ fn }) => cohereTool(fn)),
    ...(choice === null ? {} : { tool_choice: choice }),
    ...(strict > 0 && strict === listed.length && params.strict_tools === undefined ? { strict_tools: true } : {}),
  };
}

function toolList(params: JsonObject, call: OperationCall): { fn: JsonObject }[] {
  if (!Array.isArray(params.tools)) {
    if (!Array.isArray(params.functions)) return [];
    // The retired form of tools. Replies use `tool_calls`, its replacement.
    noteOnce(call.adapted, 'functions');
    return params.functions.filter(isObject).map((fn) => ({ fn }));
  }
  return params.tools.map((tool, index) => {
    if (!isObject(tool) || !isObject(tool.function))
      throw badParam(`tools[${index}]`, 'only function tools are supported by cohere');
    if (tool.cache_control || tool.function.cache_control) noteOnce(call.dropped, 'cache_control');
    return { fn: tool.function };
  });
}

function cohereTool({ strict: _strict, cache_control: _hint, parameters, ...fn }: JsonObject): JsonObject {
  return { type: 'function', function: { ...fn, parameters: parameters ?? { type: 'object', properties: {} } } };
}

/**
 * Returns `REQUIRED`, `NONE`, or nothing, which leaves the choice to the model, and the names of the allowed tools if they are
 * limited.
 */
function choiceOf(params: JsonObject): { choice: string | null; only: readonly string[] | null } {
  const asked = params.tool_choice ?? params.function_call;
  if (asked === 'required') return { choice: 'REQUIRED', only: null };
  if (asked === 'none') return { choice: 'NONE', only: null };
  if (!isObject(asked)) return { choice: typeof asked === 'string' && asked !== 'auto' ? asked : null, only: null };
  if (asked.type === 'allowed_tools' && isObject(asked.allowed_tools)) {
    const { mode, tools } = asked.allowed_tools;
    const only = Array.isArray(tools) ? tools.filter(isObject).map(nameIn) : [];
    return { choice: mode === 'required' ? 'REQUIRED' : null, only };
  }
  return { choice: 'REQUIRED', only: [nameIn(asked)] };
}

function nameIn(from: JsonObject): string {
  return String(isObject(from.function) ? from.function.name : from.name);
}
