import { expect, it } from 'vitest';
import { providers } from '../../../core/providers/index.ts';
import { callOf } from '../providers/contract-suite.ts';

it.each([['google'], ['cohere'], ['bedrock'], ['anthropic']])(
  '%s: text completions over chat drop the number of log probabilities, which chat has as a switch',
  (provider) => {
    const call = callOf({ model: 'gemini-2.5-flash', prompt: 'Hi', logprobs: 2 }, {}, {});
    const complete = providers.get(provider)?.operations.complete;
    const body = complete?.toProvider?.(call.params, call);
    expect(body).toBeDefined();
    expect(call.dropped).toEqual(['logprobs']);
    expect(JSON.stringify(body)).not.toContain('ogprobs');
  },
);

it('text completions over chat: chunks with text, a finish reason or the usage are sent, others are dropped', () => {
  const call = callOf({ model: 'm', prompt: 'Hi', stream: true, stream_options: { include_usage: true } }, {}, {});
  const stream = providers.get('anthropic')?.operations.complete?.translateStream?.(call);
  const events = [
    { type: 'message_start', message: { id: 'm1', usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];
  const sent = [...events.flatMap((data) => stream?.push({ event: data.type, data }) ?? []), ...(stream?.end() ?? [])];
  expect(sent.map(({ data }) => data)).toEqual([
    expect.objectContaining({ choices: [expect.objectContaining({ text: 'Hello', finish_reason: null })] }),
    expect.objectContaining({ choices: [expect.objectContaining({ text: '', finish_reason: 'stop' })] }),
    expect.objectContaining({ choices: [], usage: expect.objectContaining({ prompt_tokens: 3, completion_tokens: 2 }) }),
    '[DONE]',
  ]);
});
