import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../../../core/contract/provider/stream-event.ts';
import { anthropicChat } from '../../../../core/formats/anthropic/chat-completions.ts';
import { anthropicCompletions } from '../../../../core/formats/anthropic/completions.ts';
import { callOf, translated } from '../contract-suite.ts';

const chatComplete = anthropicChat('anthropic');
const complete = anthropicCompletions('anthropic');
const call = () => callOf({ model: 'claude-opus-4-5', stream: true }, {}, {});
const usage = { input_tokens: 3, cache_read_input_tokens: 2, output_tokens: 1 };
const opening: StreamEvent[] = [
  {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-5', content: [], usage },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
].map((data) => ({ event: data.type, data }));
const overloaded: StreamEvent = {
  event: 'error',
  data: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
};

describe.each([
  ['chat', chatComplete],
  ['text', complete],
] as const)('a streamed %s completion', (_, operation) => {
  it('reports a provider error in-band and ends incomplete', () => {
    const events = translated(operation, [...opening, overloaded], call());
    expect(events.at(-1)).toEqual({
      event: null,
      data: {
        error: { message: 'anthropic error: Overloaded', type: 'overloaded_error', param: null, code: null },
        provider: 'anthropic',
      },
    });
    expect(events.some((event) => event.data === '[DONE]')).toBe(false);
  });

  it('sends nothing for an error before the first byte, so that another target can reply', () => {
    expect(translated(operation, [overloaded], call())).toEqual([]);
  });

  it('passes the error with its status to the record', () => {
    const reader = operation.streamReader();
    for (const event of [...opening, overloaded]) reader.push(event);
    expect(reader.complete()).toBe(false);
    const error = reader.error?.();
    expect([error?.code, error?.status, error?.retryable, error?.message]).toEqual([
      'upstream_status',
      529,
      true,
      'anthropic error: Overloaded',
    ]);
    expect(reader.usage()).toMatchObject({ inputTokens: 3, cacheReadTokens: 2, outputTokens: 1 });
  });

  it('stays incomplete if the provider cuts it', () => {
    const events = translated(operation, opening, call());
    expect(JSON.stringify(events)).toContain('Hel');
    expect(events.some((event) => event.data === '[DONE]')).toBe(false);
  });
});

it('Anthropic stream: has no counts before the provider has sent any', () => {
  expect(chatComplete.streamReader().usage()).toBeNull();
});

it('Anthropic stream: contains the reason for a refusal, as a plain reply does', () => {
  const delta = { stop_reason: 'refusal', stop_sequence: null, stop_details: { type: 'refusal', explanation: 'I may not.' } };
  const ending: StreamEvent[] = [
    { event: 'message_delta', data: { type: 'message_delta', delta, usage: { output_tokens: 4 } } },
    { event: 'message_stop', data: { type: 'message_stop' } },
  ];
  const events = translated(chatComplete, [...opening, ...ending], call());
  expect(events.at(-2)?.data).toMatchObject({ choices: [{ delta: { refusal: 'I may not.' }, finish_reason: 'refusal' }] });
  expect(events.at(-1)?.data).toBe('[DONE]');
});
