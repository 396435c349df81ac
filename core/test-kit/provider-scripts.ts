import type { UpstreamCall, UpstreamHandler } from '../contract/provider/upstream.ts';
import type { GatewayError } from '../contract/values/errors.ts';
import type { HeaderList } from '../contract/values/http.ts';
import type { JsonObject } from '../contract/values/json.ts';

/**
 * The reaction of a scripted provider to one call. It may hold the handler and continue later. `connecting`: it has not received
 * the call.
 */
export type Script = (call: UpstreamCall, handler: UpstreamHandler) => unknown;

export function answer(
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

export function failWith(error: GatewayError): Script {
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
