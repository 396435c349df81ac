import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import type { ModelReply } from '../scenarios.ts';
import { data, halves, type Wire } from './wire.ts';

/** https://platform.openai.com/docs/api-reference/chat, which Azure shares and Mistral resembles. */
export const openAiChat: Wire = openAiLike({
  model: 'gpt-5-mini-2025-08-07',
  ends: { end: 'stop', length: 'length', filter: 'content_filter', 'stop-sequence': 'stop', calls: 'tool_calls' },
  content: (reply) => reply.text ?? null,
  pieces: (reply) => (reply.text === undefined ? [] : halves(reply.text)),
  usage: ({ tokens }) => ({
    prompt_tokens: tokens.input + tokens.cached,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.cached + tokens.output,
    prompt_tokens_details: { cached_tokens: tokens.cached },
    completion_tokens_details: { reasoning_tokens: tokens.thought },
  }),
});

/** The peculiarities of one chat API. */
export interface ChatDialect {
  readonly model: string;
  readonly ends: Readonly<Record<ModelReply['end'], string>>;
  content(reply: ModelReply): unknown;
  /** The content of the chunks, in order. */
  pieces(reply: ModelReply): unknown[];
  usage(reply: ModelReply): JsonObject;
  /** Token counts are in the chunk of the last choice, not in a separate chunk. */
  readonly usageInLastChunk?: boolean;
}

export function openAiLike(dialect: ChatDialect): Wire {
  const head = { id: 'chatcmpl-1', created: 1_763_683_200, model: dialect.model };
  const callsOf = (reply: ModelReply): JsonObject[] =>
    (reply.calls ?? []).map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
  return {
    plain(reply) {
      const calls = callsOf(reply);
      const message = { role: 'assistant', content: dialect.content(reply), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
      const choice = { index: 0, message, logprobs: null, finish_reason: dialect.ends[reply.end] };
      return { ...head, object: 'chat.completion', choices: [choice], usage: dialect.usage(reply) };
    },
    stream(reply) {
      const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: finish }],
        ...more,
      });
      const calls = callsOf(reply).flatMap((call, index) => {
        const fn = call.function as { name: string; arguments: string };
        const opening = { index, id: call.id, type: 'function', function: { name: fn.name, arguments: '' } };
        return [opening, ...halves(fn.arguments).map((text) => ({ index, function: { arguments: text } }))];
      });
      const usage = dialect.usage(reply);
      const last = dialect.usageInLastChunk ? { usage } : {};
      const counts = { ...head, object: 'chat.completion.chunk', choices: [], usage };
      return [
        chunk({ role: 'assistant', content: '' }),
        ...dialect.pieces(reply).map((content) => chunk({ content })),
        ...calls.map((call) => chunk({ tool_calls: [call] })),
        chunk({}, dialect.ends[reply.end], last),
        ...(dialect.usageInLastChunk ? [] : [counts]),
        '[DONE]',
      ].map(data);
    },
    fault: data({ error: { message: 'The server had an error', type: 'server_error', param: null, code: null } }),
    limited: { error: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
  };
}
