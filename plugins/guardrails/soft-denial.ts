import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { Reply } from '../../core/contract/plugin/plugin.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json.ts';

const text = 'The guardrail checks defined in the config failed.';

type Format = 'chat' | 'completion' | 'messages' | 'responses';

/** The format in which a route replies with a message of the assistant; null if its replies have none. */
function formatOf({ endpoint }: RequestContext): Format | null {
  switch (endpoint?.operation) {
    case 'chatComplete':
      return 'chat';
    case 'complete':
      return 'completion';
    case 'messages':
      return 'messages';
    case 'createModelResponse':
      return 'responses';
    default:
      return null;
  }
}

/**
 * Returns the reply with status 200 that states a denial as a message of the assistant, plain or streamed as the request asks for; null for
 * routes without such messages. `results`: JSON of `hook_results` in a plain reply.
 */
export function softDenialOf(ctx: RequestContext, results: string, createdAtMs: number): Reply | null {
  const format = formatOf(ctx);
  if (format === null) return null;
  const body = bodies[format](ctx, Math.floor(createdAtMs / 1000));
  if (!ctx.stream) {
    const json = `${JSON.stringify(body).slice(0, -1)},"hook_results":${results}}`;
    return { status: 200, headers: ['content-type', 'application/json'], body: json, isDenial: true };
  }
  const headers = ['content-type', 'text/event-stream; charset=utf-8'];
  return { status: 200, headers, body: streams[format](ctx, body), isDenial: true };
}

/** Returns the events that end a stream that has begun with the same message; null for routes without such messages. */
export function softEndOf(ctx: RequestContext, last: JsonObject | null): string | null {
  const format = formatOf(ctx);
  return format === null ? null : ends[format](ctx, last ?? {});
}

const bodies: Readonly<Record<Format, (ctx: RequestContext, created: number) => JsonObject>> = {
  chat: ({ id, model }, created) => ({
    ...{ id: `chatcmpl-${id}`, object: 'chat.completion', created, model },
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  }),
  completion: ({ id, model }, created) => ({
    ...{ id: `cmpl-${id}`, object: 'text_completion', created, model },
    choices: [{ index: 0, text, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  }),
  messages: ({ id, model }) => ({
    ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [{ type: 'text', text }] },
    ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 0, output_tokens: 0 } },
  }),
  responses: ({ id, model }, created_at) => ({
    ...{ id: `resp_${id}`, object: 'response', created_at, status: 'completed', model, error: null, incomplete_details: null },
    ...{ output: [messageItem(id)], tools: [], tool_choice: 'auto', parallel_tool_calls: true, metadata: {} },
    usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
  }),
};

const messageItem = (id: string): JsonObject => ({
  ...{ id: `msg_${id}`, type: 'message', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', text, annotations: [] }],
});

const dataOf = (event: JsonObject | string): string => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
const namedEvents = (events: readonly JsonObject[]): string =>
  events.map((event) => `event: ${event.type}\n${dataOf(event)}`).join('');

const streams: Readonly<Record<Format, (ctx: RequestContext, body: JsonObject) => string>> = {
  chat(ctx, { usage, choices: _choices, ...body }) {
    const chunk = { ...body, object: 'chat.completion.chunk' };
    const first = { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] };
    const options = ctx.params?.stream_options;
    const counted = isObject(options) && options.include_usage === true ? dataOf({ ...chunk, choices: [], usage }) : '';
    return dataOf(first) + chatEnd(chunk, counted);
  },
  completion: (_ctx, { usage: _usage, ...body }) => completionEnd(body),
  messages(_ctx, body) {
    const start = { type: 'message_start', message: { ...body, content: [], stop_reason: null } };
    return namedEvents([start, ...messagesEnd(0)]);
  },
  responses(_ctx, body) {
    const begun = { ...body, status: 'in_progress', output: [], usage: null };
    const created = { type: 'response.created', response: begun };
    return namedEvents([created, ...responsesEnd(body, 0)].map((event, sequence_number) => ({ ...event, sequence_number })));
  },
};

const ends: Readonly<Record<Format, (ctx: RequestContext, last: JsonObject) => string>> = {
  chat: (_ctx, { choices: _choices, usage: _usage, ...chunk }) => chatEnd(chunk, ''),
  completion: (_ctx, { choices: _choices, usage: _usage, ...chunk }) => completionEnd(chunk),
  messages(_ctx, { index }) {
    const open = typeof index === 'number' ? index : 0;
    return namedEvents([{ type: 'content_block_stop', index: open }, ...messagesEnd(open + 1)]);
  },
  responses(ctx, { output_index, sequence_number }) {
    const at = typeof output_index === 'number' ? output_index + 1 : 0;
    const next = typeof sequence_number === 'number' ? sequence_number + 1 : 0;
    const body = bodies.responses(ctx, Math.floor(ctx.receivedAtMs / 1000));
    return namedEvents(responsesEnd(body, at).map((event, index) => ({ ...event, sequence_number: next + index })));
  },
};

function chatEnd(chunk: JsonObject, usage: string): string {
  const content = { ...chunk, choices: [{ index: 0, delta: { content: text }, finish_reason: null }] };
  const end = { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  return `${dataOf(content)}${dataOf(end)}${usage}${dataOf('[DONE]')}`;
}

function completionEnd(chunk: JsonObject): string {
  const choice = { index: 0, text, logprobs: null, finish_reason: 'stop' };
  return `${dataOf({ ...chunk, choices: [choice] })}${dataOf('[DONE]')}`;
}

function messagesEnd(index: number): JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 0 } },
    { type: 'message_stop' },
  ];
}

function responsesEnd(body: JsonObject, output_index: number): JsonObject[] {
  const [item] = body.output as [JsonObject & { id: string; content: [JsonObject] }];
  const at = { item_id: item.id, output_index, content_index: 0 };
  const [part] = item.content;
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...at, delta: text },
    { type: 'response.output_text.done', ...at, text },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index, item },
    { type: 'response.completed', response: body },
  ];
}
