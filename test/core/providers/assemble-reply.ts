import type { OperationName } from '../../../core/contract/provider/provider.ts';
import type { StreamEvent } from '../../../core/contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';

/** The content of a reply, in the same form for plain and streamed replies. */
export interface Reply {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: { name: string; arguments: unknown }[];
  readonly finish: string | null;
}

/** Returns the content of each choice of a plain reply in the format of this operation. */
export function repliesOfReply(operation: OperationName, reply: JsonObject): Reply[] {
  if (operation === 'chatComplete') return objects(reply.choices).map((choice) => chatReply(choice.message, choice));
  if (operation === 'complete') return objects(reply.choices).map((choice) => textReply(choice));
  if (operation === 'messages') return [messagesReply(objects(reply.content), reply.stop_reason)];
  if (operation === 'createModelResponse') return [responsesReply(reply)];
  throw new Error(`${operation} has no streamed form`);
}

/** The same, assembled from the events of the streamed reply. */
export function repliesOfEvents(operation: OperationName, events: readonly StreamEvent[]): Reply[] {
  const data = events.map((event) => event.data).filter(isObject);
  if (operation === 'chatComplete') return chatFromChunks(data);
  if (operation === 'complete') return completionFromChunks(data);
  if (operation === 'messages') return [messagesFromEvents(data)];
  if (operation === 'createModelResponse') return [responsesFromEvents(data)];
  throw new Error(`${operation} has no streamed form`);
}

function chatReply(message: unknown, choice: JsonObject): Reply {
  const from = isObject(message) ? message : {};
  return {
    text: text(from.content),
    reasoning: text(from.reasoning_content ?? from.reasoning),
    toolCalls: objects(from.tool_calls).map((call) => {
      const fn = isObject(call.function) ? call.function : {};
      return { name: text(fn.name), arguments: json(fn.arguments) };
    }),
    finish: textOrNull(choice.finish_reason),
  };
}

function textReply(choice: JsonObject): Reply {
  return { text: text(choice.text), reasoning: '', toolCalls: [], finish: textOrNull(choice.finish_reason) };
}

function chatFromChunks(chunks: readonly JsonObject[]): Reply[] {
  const byIndex = new Map<
    number,
    { text: string; reasoning: string; calls: Map<number, [string, string]>; finish: string | null }
  >();
  for (const choice of chunks.flatMap((chunk) => objects(chunk.choices))) {
    const index = Number(choice.index ?? 0);
    const reply = byIndex.get(index) ?? { text: '', reasoning: '', calls: new Map(), finish: null };
    byIndex.set(index, reply);
    const delta = isObject(choice.delta) ? choice.delta : {};
    reply.text += text(delta.content);
    reply.reasoning += text(delta.reasoning_content ?? delta.reasoning);
    for (const call of objects(delta.tool_calls)) {
      const fn = isObject(call.function) ? call.function : {};
      const [name, args] = reply.calls.get(Number(call.index ?? 0)) ?? ['', ''];
      reply.calls.set(Number(call.index ?? 0), [name + text(fn.name), args + text(fn.arguments)]);
    }
    reply.finish = textOrNull(choice.finish_reason) ?? reply.finish;
  }
  return inOrder(byIndex).map(({ calls, ...rest }) => ({
    ...rest,
    toolCalls: inOrder(calls).map(([name, args]) => ({ name, arguments: json(args) })),
  }));
}

function completionFromChunks(chunks: readonly JsonObject[]): Reply[] {
  const byIndex = new Map<number, Reply>();
  for (const choice of chunks.flatMap((chunk) => objects(chunk.choices))) {
    const index = Number(choice.index ?? 0);
    const known = byIndex.get(index);
    const more = textReply(choice);
    byIndex.set(index, { ...more, text: (known?.text ?? '') + more.text, finish: more.finish ?? known?.finish ?? null });
  }
  return inOrder(byIndex);
}

function messagesReply(blocks: readonly JsonObject[], stopReason: unknown): Reply {
  const ofType = (type: string): JsonObject[] => blocks.filter((block) => block.type === type);
  return {
    text: ofType('text')
      .map((block) => text(block.text))
      .join(''),
    reasoning: ofType('thinking')
      .map((block) => text(block.thinking))
      .join(''),
    toolCalls: ofType('tool_use').map((block) => ({ name: text(block.name), arguments: block.input })),
    finish: textOrNull(stopReason),
  };
}

function messagesFromEvents(events: readonly JsonObject[]): Reply {
  const blocks = new Map<number, JsonObject>();
  let stopReason: unknown = null;
  for (const event of events) {
    const index = Number(event.index ?? 0);
    if (event.type === 'content_block_start' && isObject(event.content_block)) blocks.set(index, { ...event.content_block });
    const delta = isObject(event.delta) ? event.delta : {};
    const block = blocks.get(index);
    if (event.type === 'content_block_delta' && block) {
      if (delta.type === 'text_delta') block.text = text(block.text) + text(delta.text);
      if (delta.type === 'thinking_delta') block.thinking = text(block.thinking) + text(delta.thinking);
      if (delta.type === 'input_json_delta') block.partial = text(block.partial) + text(delta.partial_json);
    }
    if (event.type === 'message_delta') stopReason = delta.stop_reason;
  }
  for (const block of blocks.values()) if (text(block.partial) !== '') block.input = json(block.partial);
  return messagesReply(inOrder(blocks), stopReason);
}

function responsesReply(response: JsonObject): Reply {
  const output = objects(response.output);
  return {
    text: output
      .filter((item) => item.type === 'message')
      .flatMap((item) => objects(item.content))
      .map((part) => text(part.text))
      .join(''),
    reasoning: output
      .filter((item) => item.type === 'reasoning')
      .flatMap((item) => objects(item.summary))
      .map((part) => text(part.text))
      .join(''),
    toolCalls: output
      .filter((item) => item.type === 'function_call')
      .map((item) => ({ name: text(item.name), arguments: json(item.arguments) })),
    finish: textOrNull(response.status),
  };
}

function responsesFromEvents(events: readonly JsonObject[]): Reply {
  const joined = (type: string): string =>
    events
      .filter((event) => event.type === type)
      .map((event) => text(event.delta))
      .join('');
  const names = events
    .filter((event) => event.type === 'response.output_item.added' && isObject(event.item) && event.item.type === 'function_call')
    .map((event) => [Number(event.output_index ?? 0), text((event.item as JsonObject).name)] as const);
  const ending = events.find((event) => /^response\.(completed|incomplete|failed)$/.test(text(event.type)));
  return {
    text: joined('response.output_text.delta'),
    reasoning: joined('response.reasoning_summary_text.delta'),
    toolCalls: names.map(([index, name]) => ({
      name,
      arguments: json(
        events
          .filter((event) => event.type === 'response.function_call_arguments.delta' && Number(event.output_index ?? 0) === index)
          .map((event) => text(event.delta))
          .join(''),
      ),
    })),
    finish: isObject(ending?.response) ? textOrNull(ending.response.status) : null,
  };
}

function inOrder<T>(byIndex: ReadonlyMap<number, T>): T[] {
  return [...byIndex].sort(([a], [b]) => a - b).map(([, value]) => value);
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function text(value: unknown): string {
  if (Array.isArray(value)) return value.map((part) => (isObject(part) ? text(part.text) : '')).join('');
  return typeof value === 'string' ? value : '';
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Arguments are compared as values, because providers stream different white space. */
function json(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
