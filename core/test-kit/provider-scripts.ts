import type { UpstreamCall, UpstreamHandler } from '../contract/provider/upstream.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import type { JsonObject } from '../contract/values/json/json.ts';

/**
 * The reaction of a scripted provider to one call. It may hold the handler and continue later. `connecting`: it has not received
 * the call.
 */
export type Script = (call: UpstreamCall, handler: UpstreamHandler) => unknown;

/** Replies with this status, body and headers at once. */
export function replyWith(
  status: number,
  body: JsonObject | string,
  headers: HeaderList = ['content-type', 'application/json'],
): Script {
  return (_call, handler) => {
    handler.onHead(status, [...headers]);
    handler.onData(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
    handler.onEnd();
  };
}

/** Fails the call before any byte of a response, as the transport does. Throws TypeError for a value that is no error. */
export function failWith(error: GatewayError): Script {
  if (!((error as unknown) instanceof Error))
    throw new TypeError("providerFailure: expected a GatewayError, such as new GatewayError('upstream_connect')");
  return (_call, handler) => handler.onError(error);
}

/** A stream of chat chunks; `cutAfter` ends it with `error`, or without a terminal event when that is null. */
export function chatStream(words: readonly string[], options: { cutAfter?: number; error?: GatewayError | null } = {}): Script {
  return (_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream']);
    for (const [index, word] of words.entries()) {
      if (index === options.cutAfter) return options.error ? handler.onError(options.error) : handler.onEnd();
      handler.onData(
        Buffer.from(
          `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt-5', choices: [{ index: 0, delta: { content: word }, finish_reason: null }] })}\n\n`,
        ),
      );
    }
    handler.onData(
      Buffer.from(
        `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt-5', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`,
      ),
    );
    handler.onData(
      Buffer.from(
        `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt-5', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })}\n\n`,
      ),
    );
    handler.onData(Buffer.from('data: [DONE]\n\n'));
    handler.onEnd();
  };
}

/** Returns a chat completion with 3 input and 2 output tokens, and a field that no format has. */
export function chatReply(text: string): JsonObject {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-5',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    unknown_field: { survives: true },
  };
}

/** A reply of the provider that arrives in these chunks, which may split events and characters anywhere. */
export function streamOf(chunks: readonly (string | Uint8Array)[], contentType = 'text/event-stream'): Script {
  return (_call, handler) => {
    handler.onHead(200, ['content-type', contentType]);
    for (const chunk of chunks) handler.onData(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    handler.onEnd();
  };
}

/** The events of a stream in the format of Anthropic's Messages API. */
export function messagesStream(words: readonly string[]): Script {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null };
  return events([
    { type: 'message_start', message: { ...message, stop_sequence: null, usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]);
}

/** A message in the format of Anthropic's Messages API. */
export function messagesReply(text: string): JsonObject {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 2 },
  };
}

/** The events of a stream in the format of OpenAI's Responses API. */
export function responsesStream(words: readonly string[]): Script {
  const part = { type: 'output_text', text: words.join(''), annotations: [] };
  const item = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part] };
  const whole = responsesReply(part.text);
  const location = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const open = { ...whole, status: 'in_progress', output: [], usage: null };
  return events([
    { type: 'response.created', response: open },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...location, part: { ...part, text: '' } },
    ...words.map((delta) => ({ type: 'response.output_text.delta', ...location, delta })),
    { type: 'response.output_text.done', ...location, text: part.text },
    { type: 'response.content_part.done', ...location, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ]);
}

/** A response in the format of OpenAI's Responses API. */
export function responsesReply(text: string): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'gpt-5',
    output: [{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content }],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  };
}

function events(list: readonly JsonObject[]): Script {
  return streamOf(
    list.map((event, at) => `event: ${String(event.type)}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`),
  );
}
