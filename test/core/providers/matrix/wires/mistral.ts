import type { ModelAnswer } from '../scenarios.ts';
import { openAiLike } from './openai-chat.ts';
import { halves, type Wire } from './wire.ts';

const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });

/** https://docs.mistral.ai/api, reasoning as in https://docs.mistral.ai/capabilities/reasoning: in the content, unsigned. */
export const mistral: Wire = {
  ...openAiLike({
    model: 'magistral-small-latest',
    ends: { end: 'stop', length: 'model_length', filter: 'stop', 'stop-sequence': 'stop', calls: 'tool_calls' },
    content: (answer: ModelAnswer) =>
      answer.thoughts
        ? [...answer.thoughts.map(({ text }) => thinking(text)), { type: 'text', text: answer.text ?? '' }]
        : (answer.text ?? ''),
    pieces: (answer) => [
      ...(answer.thoughts ?? []).flatMap(({ text }) => halves(text).map((half) => [thinking(half)])),
      ...(answer.text === undefined ? [] : halves(answer.text)),
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
