import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { Reply } from '../../core/contract/plugin/plugin.ts';
import { isObject, type JsonObject, objectsIn } from '../../core/contract/values/json/json.ts';
import { eventText, typedEvent } from '../../core/contract/values/text/event-text.ts';

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
export function softDenialOf(ctx: RequestContext, text: string, results: string, createdAtMs: number): Reply | null {
  const format = formatOf(ctx);
  if (format === null) return null;
  const body = bodies[format](ctx, text, Math.floor(createdAtMs / 1000));
  if (!ctx.stream) {
    const json = `${JSON.stringify(body).slice(0, -1)},"hook_results":${results}}`;
    return { status: 200, headers: ['content-type', 'application/json'], body: json, isDenial: true };
  }
  const headers = ['content-type', 'text/event-stream; charset=utf-8'];
  return { status: 200, headers, body: streams[format](ctx, text, body), isDenial: true };
}

/** Returns the events that end a stream that has begun, with the text of a denial; null for routes without such messages. */
export function softEndOf(ctx: RequestContext, text: string, last: JsonObject): string | null {
  const format = formatOf(ctx);
  return format === null ? null : ends[format](ctx, text, last);
}

const bodies: Readonly<Record<Format, (ctx: RequestContext, text: string, created: number) => JsonObject>> = {
  chat: ({ id, model }, text, created) => ({
    ...{ id: `chatcmpl-${id}`, object: 'chat.completion', created, model },
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  }),
  completion: ({ id, model }, text, created) => ({
    ...{ id: `cmpl-${id}`, object: 'text_completion', created, model },
    choices: [{ index: 0, text, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  }),
  messages: ({ id, model }, text) => ({
    ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [{ type: 'text', text }] },
    ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 0, output_tokens: 0 } },
  }),
  responses: ({ id, model }, text, created_at) => ({
    ...{ id: `resp_${id}`, object: 'response', created_at, status: 'completed', model, error: null, incomplete_details: null },
    ...{ output: [messageItem(id, text)], tools: [], tool_choice: 'auto', parallel_tool_calls: true, metadata: {} },
    usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
  }),
};

const messageItem = (id: string, text: string): JsonObject => ({
  ...{ id: `msg_${id}`, type: 'message', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', text, annotations: [] }],
});

const typedEvents = (events: readonly JsonObject[]): string => events.map(typedEvent).join('');

const streams: Readonly<Record<Format, (ctx: RequestContext, text: string, body: JsonObject) => string>> = {
  chat(ctx, text, { usage, choices: _choices, ...body }) {
    const chunk = { ...body, object: 'chat.completion.chunk' };
    const first = { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] };
    const options = ctx.params?.stream_options;
    const counted = isObject(options) && options.include_usage === true ? eventText({ ...chunk, choices: [], usage }) : '';
    return eventText(first) + chatEnd(chunk, text, counted, [{ index: 0, hasBegun: true }]);
  },
  completion: (_ctx, text, { usage: _usage, ...body }) => completionEnd(body, text, [{ index: 0 }]),
  messages(_ctx, text, body) {
    const start = { type: 'message_start', message: { ...body, content: [], stop_reason: null } };
    return typedEvents([start, ...messagesEnd(0, text)]);
  },
  responses(_ctx, text, body) {
    const begun = { ...body, status: 'in_progress', output: [], usage: null };
    const created = { type: 'response.created', response: begun };
    return typedEvents(
      [created, ...responsesEnd(body, text, 0)].map((event, sequence_number) => ({ ...event, sequence_number })),
    );
  },
};

const ends: Readonly<Record<Format, (ctx: RequestContext, text: string, last: JsonObject) => string>> = {
  chat: (_ctx, text, { choices, usage: _usage, response: _response, ...chunk }) => chatEnd(chunk, text, '', openIn(choices)),
  completion: (_ctx, text, { choices, usage: _usage, response: _response, ...chunk }) =>
    completionEnd(chunk, text, openIn(choices)),
  messages(_ctx, text, { index }) {
    const open = typeof index === 'number' ? index : 0;
    return typedEvents([{ type: 'content_block_stop', index: open }, ...messagesEnd(open + 1, text)]);
  },
  responses(ctx, text, { type, item_id, output_index, sequence_number, response }) {
    const at = typeof output_index === 'number' ? output_index + 1 : 0;
    const next = typeof sequence_number === 'number' ? sequence_number + 1 : 0;
    const { id, model, created_at } = isObject(response) ? response : ({} as JsonObject);
    const own = bodies.responses(ctx, text, Math.floor(ctx.receivedAtMs / 1000));
    // OpenAI's client requires the id of the first event, and the end of each item.
    const open = item_id === undefined ? [] : [openItem(type, item_id)];
    const body = { ...own, ...(id === undefined ? {} : { id, model, created_at }), output: [...open, ...objectsIn(own.output)] };
    const events = [
      ...open.map((item) => ({ type: 'response.output_item.done', output_index, item })),
      ...responsesEnd(body, text, at),
    ];
    return typedEvents(events.map((event, index) => ({ ...event, sequence_number: next + index })));
  },
};

/** The item whose text is denied, without its text. */
function openItem(type: unknown, id: unknown): JsonObject {
  if (String(type).includes('reasoning')) return { id, type: 'reasoning', summary: [] };
  return { id, type: 'message', status: 'incomplete', role: 'assistant', content: [] };
}

/** Choices that a stream has not ended, such as `{index, hasBegun}`; the first one if all have ended. */
function openIn(choices: unknown): JsonObject[] {
  const open = objectsIn(choices);
  return open.length === 0 ? [{ index: 0, hasBegun: true }] : open;
}

/** The text is that of the first choice, which alone may not have begun. Clients require a role in each choice. */
function chatEnd(chunk: JsonObject, text: string, usage: string, open: readonly JsonObject[]): string {
  const role = open[0]?.hasBegun === true ? {} : { role: 'assistant' };
  const content = { ...chunk, choices: [{ index: open[0]?.index, delta: { ...role, content: text }, finish_reason: null }] };
  const end = { ...chunk, choices: open.map(({ index }) => ({ index, delta: {}, finish_reason: 'stop' })) };
  return `${eventText(content)}${eventText(end)}${usage}${eventText('[DONE]')}`;
}

function completionEnd(chunk: JsonObject, text: string, open: readonly JsonObject[]): string {
  const choices = open.map(({ index }, at) => ({ index, text: at === 0 ? text : '', logprobs: null, finish_reason: 'stop' }));
  return `${eventText({ ...chunk, choices })}${eventText('[DONE]')}`;
}

function messagesEnd(index: number, text: string): JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 0 } },
    { type: 'message_stop' },
  ];
}

type Message = JsonObject & { readonly id: string; readonly content: readonly [JsonObject] };

function responsesEnd(body: JsonObject, text: string, output_index: number): JsonObject[] {
  const item = (body.output as Message[]).at(-1) as Message;
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
