import { expect, it } from 'vitest';
import { messagesStreamReader, usageOf } from '../../../core/formats/anthropic/usage.ts';

/** Compaction as of 2026-11: https://platform.claude.com/docs/en/build-with-claude/compaction */
const iterations = [
  {
    type: 'compaction',
    input_tokens: 180_000,
    output_tokens: 3_500,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 20,
  },
  { type: 'advisor_message', model: 'claude-opus-4-8', input_tokens: 500, output_tokens: 60 },
  { type: 'message', model: 'm', input_tokens: 23_000, output_tokens: 1_000, cache_read_input_tokens: 5 },
];
const usage = {
  input_tokens: 23_000,
  output_tokens: 1_000,
  cache_read_input_tokens: 5,
  cache_creation_input_tokens: 0,
  output_tokens_details: { thinking_tokens: 7 },
  service_tier: 'priority',
  iterations,
};
const counted = {
  inputTokens: 203_500,
  cacheReadTokens: 105,
  cacheWriteTokens: 20,
  outputTokens: 4_560,
  reasoningTokens: 7,
  serviceTier: 'priority',
};

it('compaction and calls of an advisor model count in addition to the totals, which do not include them', () => {
  expect(usageOf(usage)).toMatchObject({ ...counted, raw: usage });
});

it('a stream counts the iterations of its last event once', () => {
  const reader = messagesStreamReader('anthropic');
  const { iterations: _, ...first } = usage;
  reader.push({ event: null, data: { type: 'message_start', message: { usage: { ...first, output_tokens: 1 } } } });
  reader.push({
    event: null,
    data: { type: 'message_delta', delta: {}, usage: { ...usage, iterations: iterations.slice(0, 1) } },
  });
  reader.push({ event: null, data: { type: 'message_delta', delta: {}, usage } });
  expect(reader.usage()).toMatchObject(counted);
});

it('iterations that the totals include, and those of broken replies, add nothing', () => {
  const { iterations: _, ...plain } = usage;
  for (const others of [iterations.slice(2), [{ ...iterations[0], type: 'fallback_message' }], 'none', [null, 3]])
    expect(usageOf({ ...plain, iterations: others })).toMatchObject({ inputTokens: 23_000, outputTokens: 1_000 });
});

it('fast mode is a service tier, so that it can have prices of its own', () => {
  expect(usageOf({ ...usage, speed: 'fast', service_tier: 'standard' }).serviceTier).toBe('fast');
  expect(usageOf({ ...usage, speed: 'standard', service_tier: 'standard' }).serviceTier).toBeNull();
});
