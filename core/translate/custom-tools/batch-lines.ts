import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { withCustomCalls } from './reply.ts';
import { withFunctions } from './request.ts';

/** End of the names of functions that stand for custom tools. The results of a batch do not repeat its tools, so the names distinguish them. */
const mark = '__custom_tool';
/** The limit of most providers. */
const nameCharsMax = 64;

/**
 * Returns the chat request of a line of a batch with functions for its custom tools. Returns the same object if it has none. Throws
 * `bad_request` naming a tool whose name is too long, or is a function's that the results could not distinguish from a custom tool.
 */
export function withFunctionsInLine(body: JsonObject, call: Pick<OperationCall, 'adapted'>): JsonObject {
  const { tools, functions, messages, tool_choice: choice } = body;
  if (Array.isArray(functions)) for (const [index, fn] of functions.entries()) refuseMarked(fn, `functions[${index}]`);
  const marked: Record<string, unknown> = { ...body };
  if (Array.isArray(tools)) marked.tools = tools.map(markedTool);
  if (Array.isArray(messages)) marked.messages = messages.map(markedMessage);
  if (isObject(choice)) marked.tool_choice = markedChoice(choice);
  const converted = withFunctions(marked, call);
  return converted === marked ? body : converted;
}

/** Returns the chat completion of a line of results in which the calls of these functions are calls of custom tools. */
export function withCustomCallsInLine(completion: JsonObject): JsonObject {
  const names = new Set<string>();
  for (const toolCall of toolCallsIn(completion)) {
    const name = isObject(toolCall) && isObject(toolCall.function) ? toolCall.function.name : null;
    if (typeof name === 'string' && name.endsWith(mark)) names.add(name);
  }
  if (names.size === 0) return completion;
  const { choices, ...beside } = withCustomCalls(completion, names);
  return { ...beside, choices: (choices as readonly unknown[]).map(unmarkedChoice) };
}

function toolCallsIn({ choices }: JsonObject): unknown[] {
  if (!Array.isArray(choices)) return [];
  return choices.flatMap((choice) => {
    const message = isObject(choice) && isObject(choice.message) ? choice.message : {};
    return Array.isArray(message.tool_calls) ? message.tool_calls : [];
  });
}

function markedTool(tool: unknown, index: number): unknown {
  if (isObject(tool)) refuseMarked(tool.function, `tools[${index}].function`);
  if (!isObject(tool) || !isObject(tool.custom) || typeof tool.custom.name !== 'string') return tool;
  const name = tool.custom.name + mark;
  if (name.length > nameCharsMax) {
    throw badParam(`tools[${index}].custom.name`, `at most ${nameCharsMax - mark.length} characters are possible in a batch`);
  }
  return renamed(tool, name);
}

/** The results show a call of such a function as that of a custom tool. */
function refuseMarked(fn: unknown, path: string): void {
  if (!isObject(fn) || typeof fn.name !== 'string' || !fn.name.endsWith(mark)) return;
  throw badParam(`${path}.name`, `names that end with ${mark} are not possible in a batch. Rename the function`);
}

function markedCall(toolCall: unknown): unknown {
  if (!isObject(toolCall) || !isObject(toolCall.custom) || typeof toolCall.custom.name !== 'string') return toolCall;
  return renamed(toolCall, toolCall.custom.name + mark);
}

function renamed(tool: JsonObject, name: string): JsonObject {
  return { ...tool, custom: { ...(tool.custom as JsonObject), name } };
}

function markedMessage(message: unknown): unknown {
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return message;
  return { ...message, tool_calls: message.tool_calls.map(markedCall) };
}

function markedChoice(choice: JsonObject): unknown {
  const { allowed_tools: allowed } = choice;
  if (!isObject(allowed) || !Array.isArray(allowed.tools)) return markedCall(choice);
  return { ...choice, allowed_tools: { ...allowed, tools: allowed.tools.map(markedCall) } };
}

function unmarkedChoice(choice: unknown): unknown {
  if (!isObject(choice) || !isObject(choice.message) || !Array.isArray(choice.message.tool_calls)) return choice;
  const toolCalls = choice.message.tool_calls.map((toolCall) => {
    const name = isObject(toolCall) && isObject(toolCall.custom) ? toolCall.custom.name : null;
    return typeof name === 'string' && name.endsWith(mark) ? renamed(toolCall, name.slice(0, -mark.length)) : toolCall;
  });
  return { ...choice, message: { ...choice.message, tool_calls: toolCalls } };
}
