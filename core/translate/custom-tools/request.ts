import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';

/**
 * Returns a chat request whose custom tools, their earlier calls and the choice of them are those of functions. Returns the same object
 * if it has none. Throws `bad_request` naming a tool without a name.
 */
export function withFunctions(params: JsonObject, call: Pick<OperationCall, 'adapted'>): JsonObject {
  const { tools, messages, tool_choice: choice } = params;
  const [hasTools, hasCalls] = [Array.isArray(tools) && tools.some(isCustom), holdsCustomCalls(messages)];
  if (!hasTools && !hasCalls) return params;
  const body: Record<string, unknown> = { ...params };
  if (hasTools) {
    noteOnce(call.adapted, 'tools.custom');
    body.tools = (tools as unknown[]).map((tool, index) => (isCustom(tool) ? functionOf(tool, `tools[${index}]`) : tool));
    if (isObject(choice)) body.tool_choice = choiceOf(choice);
  }
  if (hasCalls) {
    noteOnce(call.adapted, 'messages.tool_calls.custom');
    body.messages = (messages as unknown[]).map((message) =>
      hasCustomCalls(message) ? { ...message, tool_calls: message.tool_calls.map(functionCallOf) } : message,
    );
  }
  return body;
}

/** Returns the names of the custom tools of a chat request; null if it has none. */
export function customNames({ tools }: JsonObject): ReadonlySet<unknown> | null {
  if (!Array.isArray(tools) || !tools.some(isCustom)) return null;
  return new Set(tools.filter(isCustom).map(({ custom }) => custom.name));
}

type Custom = JsonObject & { readonly custom: JsonObject };

/** True for a custom tool, a call of one and a choice of one. Tools of type `custom` without this field are Anthropic's functions. */
function isCustom(value: unknown): value is Custom {
  return isObject(value) && isObject(value.custom);
}

function holdsCustomCalls(messages: unknown): boolean {
  return Array.isArray(messages) && messages.some(hasCustomCalls);
}

function hasCustomCalls(message: unknown): message is JsonObject & { readonly tool_calls: readonly unknown[] } {
  return isObject(message) && Array.isArray(message.tool_calls) && message.tool_calls.some(isCustom);
}

function functionOf({ type: _type, custom, ...beside }: Custom, path: string): JsonObject {
  const { name, description, format } = custom;
  if (typeof name !== 'string') throw badParam(`${path}.custom.name`, 'text is required');
  const described = description === undefined || description === null ? {} : { description };
  return { type: 'function', function: { name, ...described, parameters: parametersOf(format) }, ...beside };
}

/** Returns the schema of the function that stands for a custom tool with this format. */
export function parametersOf(format: unknown): JsonObject {
  const input = { type: 'string', description: inputDescription(format) };
  return { type: 'object', properties: { input }, required: ['input'] };
}

const inputSentence = 'The input of the tool, as plain text.';

/** No provider restricts the text of a function to a grammar, so the model is asked to follow it. */
function inputDescription(format: unknown): string {
  if (!isObject(format) || format.type !== 'grammar') return inputSentence;
  const { syntax, definition } = isObject(format.grammar) ? format.grammar : format;
  if (typeof definition !== 'string') return inputSentence;
  const kind = syntax === 'regex' ? 'regular expression' : syntax === 'lark' ? 'Lark grammar' : 'grammar';
  return `${inputSentence} It must match this ${kind}:\n${definition}`;
}

function functionCallOf(toolCall: unknown): unknown {
  if (!isCustom(toolCall)) return toolCall;
  const { type: _type, custom, ...beside } = toolCall;
  const input = typeof custom.input === 'string' ? custom.input : '';
  return { ...beside, type: 'function', function: { name: custom.name, arguments: JSON.stringify({ input }) } };
}

function choiceOf(choice: JsonObject): JsonObject {
  const { type, allowed_tools: allowed } = choice;
  if (isCustom(choice)) return { type: 'function', function: { name: choice.custom.name } };
  if (type !== 'allowed_tools' || !isObject(allowed) || !Array.isArray(allowed.tools)) return choice;
  const tools = allowed.tools.map((tool) => (isCustom(tool) ? choiceOf(tool) : tool));
  return { ...choice, allowed_tools: { ...allowed, tools } };
}
