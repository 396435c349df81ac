import type { ModelReply } from '../scenarios.ts';
import { openAiLike } from './openai-chat.ts';
import { halves, type Wire } from './wire.ts';

const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });

/** https://docs.mistral.ai/api, reasoning as in https://docs.mistral.ai/capabilities/reasoning: in the content, unsigned. */
export const mistral: Wire = {
  ...openAiLike({
    model: 'magistral-small-latest',
    ends: { end: 'stop', length: 'model_length', filter: 'stop', 'stop-sequence': 'stop', calls: 'tool_calls' },
    content: (reply: ModelReply) =>
      reply.thoughts
        ? [...reply.thoughts.map(({ text }) => thinking(text)), { type: 'text', text: reply.text ?? '' }]
        : (reply.text ?? ''),
    pieces: (reply) => [
      ...(reply.thoughts ?? []).flatMap(({ text }) => halves(text).map((half) => [thinking(half)])),
      ...(reply.text === undefined ? [] : halves(reply.text)),
    ],
    usage: ({ tokens }) => ({
      prompt_tokens: tokens.input + tokens.cached,
      completion_tokens: tokens.output,
      total_tokens: tokens.input + tokens.cached + tokens.output,
      prompt_tokens_details: { cached_tokens: tokens.cached },
    }),
    usageInLastChunk: true,
  }),
  limited: { object: 'error', message: 'Requests rate limit exceeded', type: 'rate_limited', param: null, code: '1300' },
};
