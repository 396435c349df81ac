import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../note-once.ts';
import type { MessageFields } from './chat-quirks.ts';

/**
 * Fields that clients send back with the message of an earlier reply, and that this gateway or a provider other than OpenAI wrote.
 * Servers that check the fields of messages reject the whole call because of one.
 */
const addedFields = [
  ...['reasoning_content', 'reasoning', 'content_blocks', 'images', 'citations', 'extra_content'],
  // These are fields of OpenRouter, of Groq's own tools, and of Mistral.
  ...['reasoning_details', 'executed_tools', 'prefix'],
];

/** Hints for the caches of other providers, on messages, content parts and tools. */
const anthropicHints = ['cache_control'] as const;

/** Fields of messages, content parts and tools that a provider rejects. */
export interface RefusedFields {
  /** Fields of assistant messages. */
  readonly ofReplies: ReadonlySet<string>;
  /** Fields of messages of any role, content parts and tools. */
  readonly hints: readonly string[];
  /** True if messages of users, the system and the assistant have no `name`. */
  readonly name?: boolean;
}

/** OpenAI accepts its own fields only. */
export const unknownToOpenAi: RefusedFields = { ofReplies: new Set(addedFields), hints: anthropicHints };

/** Returns the fields that servers reject whose assistant messages have text, tool calls and the fields of `accepts`. */
export function unlessTextOrTools({ accepts, name = true }: MessageFields): RefusedFields {
  // `parsed` and `parsed_arguments` are of OpenAI's SDK, which sends them with the messages of its loops of tools.
  const fields = [...addedFields, 'annotations', 'refusal', 'audio', 'function_call', 'parsed', 'parsed_arguments'];
  const ofReplies = new Set(fields.filter((field) => !accepts.includes(field)));
  return { ofReplies, hints: [...anthropicHints, 'prompt_cache_breakpoint'], name: !name };
}

/**
 * Returns a chat request without the fields that the provider rejects. Fields with a value are reported. A refusal becomes text.
 * Returns the same object if there are none.
 */
export function withoutRefusedFields(params: JsonObject, refused: RefusedFields, call: OperationCall): JsonObject {
  const { messages, tools } = params;
  // Nearly all requests have none of the fields. The search allocates nothing.
  if (!holdsAny(messages, refused) && !holdsAny(tools, refused)) return params;
  const drop = (name: string, value: unknown): void => {
    // The text of the message repeats values that the SDK parsed.
    if (isNotEmpty(value) && !name.startsWith('parsed'))
      noteOnce(call.dropped, refused.hints.includes(name) ? 'cache_control' : `messages.${name}`);
  };
  const without = (from: JsonObject, names: (name: string) => boolean): JsonObject => {
    if (!Object.keys(from).some(names)) return from;
    for (const [name, value] of Object.entries(from)) if (names(name)) drop(name, value);
    return Object.fromEntries(Object.entries(from).filter(([name]) => !names(name)));
  };
  const isHint = (name: string): boolean => refused.hints.includes(name);
  const withoutHints = (value: unknown): unknown => (isObject(value) ? without(value, isHint) : value);
  const plainTool = (tool: unknown): unknown => {
    if (!isObject(tool)) return tool;
    const fn = withoutHints(tool.function);
    return without(fn === tool.function ? tool : { ...tool, function: fn }, isHint);
  };

  const isRefused = (name: string): boolean => refused.ofReplies.has(name);
  const withoutFields = (toolCall: unknown): unknown => {
    if (!isObject(toolCall)) return toolCall;
    const fn = isObject(toolCall.function) ? without(toolCall.function, isRefused) : toolCall.function;
    return without(fn === toolCall.function ? toolCall : { ...toolCall, function: fn }, isRefused);
  };

  const shaped = (message: unknown): unknown => {
    if (!isObject(message)) return message;
    const isReply = message.role === 'assistant';
    const plain = isReply && refused.ofReplies.has('refusal') ? withRefusalAsText(message, call) : message;
    const content = mapped(plain.content, withoutHints);
    const toolCalls = isReply ? mapped(plain.tool_calls, withoutFields) : plain.tool_calls;
    const same = content === plain.content && toolCalls === plain.tool_calls;
    const parts = same ? plain : { ...plain, content, ...(toolCalls === undefined ? {} : { tool_calls: toolCalls }) };
    return without(
      parts,
      (name) =>
        isHint(name) || (isReply && isRefused(name)) || (refused.name === true && name === 'name' && message.role !== 'tool'),
    );
  };
  const [messagesLeft, toolsLeft] = [mapped(messages, shaped), mapped(tools, plainTool)];
  if (messagesLeft === messages && toolsLeft === tools) return params;
  return { ...params, messages: messagesLeft, ...(tools === undefined ? {} : { tools: toolsLeft }) };
}

/** True if an object in the list, or in a list or object of it, has a field that may be refused. */
function holdsAny(list: unknown, refused: RefusedFields): boolean {
  if (!Array.isArray(list)) return false;
  for (const entry of list) {
    if (!isObject(entry)) continue;
    if (entry.type === 'refusal') return true;
    for (const name in entry) {
      if (refused.ofReplies.has(name) || refused.hints.includes(name) || (refused.name === true && name === 'name')) return true;
    }
    if (holdsAny(entry.content, refused) || holdsAny(entry.tool_calls, refused)) return true;
    if (isObject(entry.function) && functionHoldsAny(entry.function, refused)) return true;
  }
  return false;
}

function functionHoldsAny(fn: JsonObject, refused: RefusedFields): boolean {
  if ('parsed_arguments' in fn) return true;
  for (const name of refused.hints) if (name in fn) return true;
  return false;
}

/** Converts each entry of a list. Returns the same value if it is no list or if nothing changes. */
function mapped(list: unknown, convert: (value: unknown) => unknown): unknown {
  if (!Array.isArray(list)) return list;
  const converted = list.map(convert);
  return converted.some((value, index) => value !== list[index]) ? converted : list;
}

/** A refusal is what the model said. It is the content of the message, or a part of it. */
function withRefusalAsText(message: JsonObject, call: OperationCall): JsonObject {
  const content = mapped(message.content, (part) => {
    if (!isObject(part) || part.type !== 'refusal') return part;
    noteOnce(call.adapted, 'messages.refusal');
    return { type: 'text', text: part.refusal };
  });
  const { refusal, ...others } = message;
  if (typeof refusal !== 'string' || refusal === '' || isNotEmpty(content)) {
    return content === message.content ? message : { ...message, content };
  }
  noteOnce(call.adapted, 'messages.refusal');
  return { ...others, content: refusal };
}

function isNotEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return false;
  return !Array.isArray(value) || value.length > 0;
}
