import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/** A message in the form of the conventions for generative AI. */
export interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
  /** Set on output messages. */
  readonly finish_reason?: string;
}

export type Part = { readonly type: string; readonly content?: string } & JsonObject;

/** Returns the input of a request in one of the formats chat completions, completions, Messages, Responses and embeddings. */
export function inputMessages({ messages, input, prompt }: JsonObject): Message[] {
  const given = messages ?? input ?? prompt;
  if (typeof given === 'string') return [{ role: 'user', parts: partsOf(given) }];
  return Array.isArray(given) ? given.map((message) => messageOf(message)) : [];
}

/** Returns the output of a reply in one of these formats. */
export function outputMessages({ choices, content, output, stop_reason }: JsonObject): Message[] {
  if (Array.isArray(choices)) {
    return choices.filter(isObject).map((choice) => ({
      ...messageOf(choice.message ?? { role: 'assistant', content: choice.text }, 'assistant'),
      finish_reason: finishReason(String(choice.finish_reason ?? 'stop')),
    }));
  }
  if (Array.isArray(output)) return output.map((item) => ({ ...messageOf(item, 'assistant'), finish_reason: 'stop' }));
  if (!Array.isArray(content)) return [];
  return [{ role: 'assistant', parts: partsOf(content), finish_reason: finishReason(String(stop_reason ?? 'stop')) }];
}

const reasons: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  completed: 'stop',
  max_tokens: 'length',
  incomplete: 'length',
  tool_calls: 'tool_call',
  tool_use: 'tool_call',
  function_call: 'tool_call',
  refusal: 'content_filter',
  failed: 'error',
};

/** Returns the reason in the words of the conventions: stop, length, tool_call, content_filter or error. Others are kept. */
export function finishReason(reason: string): string {
  return (Object.hasOwn(reasons, reason) && reasons[reason]) || reason;
}

/** Returns the parts of a message's content: a text, or a list of parts of any of the formats. */
export function partsOf(content: unknown): Part[] {
  if (typeof content === 'string') return [{ type: 'text', content }];
  return Array.isArray(content) ? content.map(partOf) : [];
}

function messageOf(message: unknown, role = 'user'): Message {
  if (!isObject(message)) return { role, parts: partsOf(message) };
  const { role: given = role, type, content, tool_calls, tool_call_id } = message;
  // Items of the Responses format that are no messages.
  if (typeof type === 'string' && type !== 'message') return { role: String(given), parts: [partOf(message)] };
  if (given === 'tool')
    return { role: 'tool', parts: [{ type: 'tool_call_response', id: tool_call_id ?? null, response: content ?? null }] };
  const calls = Array.isArray(tool_calls) ? tool_calls.filter(isObject).map(callOf) : [];
  return { role: String(given), parts: [...partsOf(content), ...calls] };
}

function callOf({ id = null, function: called, custom }: JsonObject): Part {
  if (isObject(custom)) return { type: 'tool_call', id, name: custom.name ?? null, arguments: custom.input ?? null };
  const { name = null, arguments: given = null } = isObject(called) ? called : {};
  return { type: 'tool_call', id, name, arguments: given };
}

/** Parts without a text, such as images, are named by their type only. */
function partOf(part: unknown): Part {
  if (typeof part === 'string') return { type: 'text', content: part };
  if (!isObject(part)) return { type: 'unknown' };
  const type = String(part.type ?? 'unknown');
  const { text, thinking, refusal } = part;
  if (typeof thinking === 'string') return { type: 'reasoning', content: thinking };
  if (typeof text === 'string') return { type: 'text', content: text };
  if (typeof refusal === 'string') return { type: 'text', content: refusal };
  if (type === 'tool_use')
    return { type: 'tool_call', id: part.id ?? null, name: part.name ?? null, arguments: part.input ?? null };
  if (type === 'function_call' || type === 'custom_tool_call') {
    const given = type === 'function_call' ? part.arguments : part.input;
    return { type: 'tool_call', id: part.call_id ?? null, name: part.name ?? null, arguments: given ?? null };
  }
  if (type === 'tool_result') return { type: 'tool_call_response', id: part.tool_use_id ?? null, response: part.content ?? null };
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    return { type: 'tool_call_response', id: part.call_id ?? null, response: part.output ?? null };
  }
  if (type === 'reasoning')
    return {
      type: 'reasoning',
      content: partsOf(part.summary)
        .map(({ content = '' }) => content)
        .join('\n'),
    };
  return { type };
}
