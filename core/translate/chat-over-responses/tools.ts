import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';

/**
 * Converts `tools` and `tool_choice` of a chat call, whose fields are one level higher in a Responses call. Tools of other types,
 * which the provider itself runs, are passed. Throws `bad_request`.
 */
export function toolParams(params: JsonObject): JsonObject {
  const out: JsonObject = {};
  if (Array.isArray(params.tools)) {
    out.tools = params.tools.map((tool, index) => {
      if (!isObject(tool)) throw badParam(`tools[${index}]`, 'a tool must be an object');
      return flatTool(tool);
    });
  }
  if (params.tool_choice !== undefined && params.tool_choice !== null) out.tool_choice = choiceOf(params.tool_choice);
  return out;
}

function flatTool(tool: JsonObject): JsonObject {
  const { type, function: fn, custom, ...others } = tool;
  // Strict is the default of the Responses API, and rejects schemas that chat completions accept.
  if (type === 'function' && isObject(fn)) return { type, strict: false, ...fn, ...others };
  if (type === 'custom' && isObject(custom)) return { type, ...custom, ...formatOf(custom.format), ...others };
  return tool;
}

/** The grammar of a custom tool is one level higher too. */
function formatOf(format: unknown): JsonObject {
  return isObject(format) && isObject(format.grammar) ? { format: { type: 'grammar', ...format.grammar } } : {};
}

function choiceOf(choice: unknown): unknown {
  if (!isObject(choice)) return choice;
  const { type } = choice;
  if (type === 'allowed_tools' && isObject(choice.allowed_tools)) {
    const { mode, tools } = choice.allowed_tools;
    return { type, mode, tools: Array.isArray(tools) ? tools.map(choiceOf) : [] };
  }
  const named = choice[String(type)];
  return isObject(named) ? { type, name: named.name } : choice;
}
