import { expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { realtimeUsage } from '../../../core/formats/openai/realtime.ts';
import { passedUsage } from '../../../core/providers/passed-usage.ts';
import { sessionReader } from '../../../core/realtime/session-events.ts';
import { SessionUsage } from '../../../core/realtime/session-usage.ts';

const take = (usage: SessionUsage, event: object) => usage.take(Buffer.from(JSON.stringify(event)));
const response = (usage: object) => ({ type: 'response.done', response: { usage } });

it('session usage: counts of several responses are added, audio and cached ones separately', () => {
  const usage = new SessionUsage(realtimeUsage);
  const counts = {
    total_tokens: 150,
    input_tokens: 100,
    output_tokens: 50,
    input_token_details: {
      cached_tokens: 40,
      text_tokens: 25,
      audio_tokens: 70,
      image_tokens: 5,
      cached_tokens_details: { text_tokens: 40 },
    },
    output_token_details: { text_tokens: 10, audio_tokens: 40 },
  };
  take(usage, response(counts));
  take(usage, response(counts));
  expect(usage.total()).toMatchObject({
    inputTokens: 120,
    cacheReadTokens: 80,
    outputTokens: 100,
    audioInputTokens: 140,
    audioOutputTokens: 80,
    imageInputTokens: 10,
    estimated: false,
    raw: { total_tokens: 300, input_token_details: { audio_tokens: 140, cached_tokens_details: { text_tokens: 80 } } },
  });
});

it('session usage: responses of the Responses API count cache writes, and billed calls of tools beside their tokens', () => {
  const usage = new SessionUsage(realtimeUsage);
  const counts = { input_tokens: 100, input_tokens_details: { cached_tokens: 40, cache_write_tokens: 25 }, output_tokens: 5 };
  const response = { usage: counts, tool_usage: { web_search: { num_requests: 2 } } };
  take(usage, { type: 'response.completed', response });
  take(usage, { type: 'response.completed', response });
  expect(usage.total()).toMatchObject({
    inputTokens: 70,
    cacheReadTokens: 80,
    cacheWriteTokens: 50,
    outputTokens: 10,
    raw: { input_tokens: 200, tool_usage: { web_search: { num_requests: 4 } } },
  });
});

it('session usage: counts of further models are added for each model, because each has its own price', () => {
  const usage = new SessionUsage(realtimeUsage);
  const svg_usage = { model: 'author', input_tokens: 3, output_tokens: 50 };
  const image_gen = { input_tokens: 30, output_tokens: 196, output_tokens_details: { image_tokens: 196 } };
  const drawnBy = (model: string) => ({
    type: 'response.completed',
    response: {
      usage: { input_tokens: 100, output_tokens: 5 },
      tools: [{ type: 'image_generation', model }],
      tool_usage: { image_gen },
      output: [{ type: 'image_generation_call', svg_usage }],
    },
  });
  for (const model of ['artist', 'artist', 'painter']) take(usage, drawnBy(model));
  expect(usage.total()?.raw).toEqual({
    ...{ input_tokens: 300, output_tokens: 15 },
    tool_usage: {
      image_gen: [
        { model: 'artist', input_tokens: 60, output_tokens: 392, output_tokens_details: { image_tokens: 392 } },
        { model: 'painter', ...image_gen },
      ],
    },
    svg_usage: [{ model: 'author', input_tokens: 9, output_tokens: 150 }],
  });
});

it('session usage: transcriptions count by tokens or seconds, and stay separate in the provider’s own counts', () => {
  const usage = new SessionUsage(realtimeUsage);
  const type = 'conversation.item.input_audio_transcription.completed';
  take(usage, { type, usage: { type: 'tokens', input_tokens: 10, output_tokens: 2, input_token_details: { audio_tokens: 10 } } });
  take(usage, { type, usage: { type: 'duration', seconds: 1.5 } });
  take(usage, { type, usage: { type: 'duration', seconds: 2 } });
  expect(usage.total()).toMatchObject({
    inputTokens: 10,
    outputTokens: 2,
    audioInputTokens: 10,
    units: { audio_seconds: 3.5 },
    raw: { input_audio_transcription: { input_tokens: 10, seconds: 3.5 } },
  });
});

it('session usage: the Responses API’s field names are read', () => {
  const usage = new SessionUsage(realtimeUsage);
  take(usage, {
    type: 'response.completed',
    response: { usage: { input_tokens: 9, input_tokens_details: { cached_tokens: 4 }, output_tokens: 3 } },
  });
  expect(usage.total()).toMatchObject({ inputTokens: 5, cacheReadTokens: 4, outputTokens: 3 });
});

it.each([
  ['no JSON', '{"usage": nope'],
  ['a list', '[{"usage":1}]'],
  ['another event', '{"type":"session.created","session":{"usage":{"input_tokens":5}}}'],
  ['text that speaks of it', JSON.stringify({ type: 'response.text.delta', delta: '{"type":"response.done","usage":{}}' })],
  ['a response without counts', '{"type":"response.done","response":{"usage":null}}'],
  ['counts that are none', '{"type":"response.done","response":{"usage":"lots"}}'],
])('session usage: %s counts nothing', (_case, text) => {
  const usage = new SessionUsage(realtimeUsage);
  usage.take(Buffer.from(text));
  expect(usage.total()).toBeNull();
});

it('session usage: hostile names and depths in a provider’s counts change nothing but the sum', () => {
  const usage = new SessionUsage(realtimeUsage);
  const names = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`n${i}`, 1]));
  usage.take(
    Buffer.from(
      `{"type":"response.done","response":{"usage":{"__proto__":{"polluted":1},"input_tokens":-5,"output_tokens":1e999}}}`,
    ),
  );
  take(usage, response({ ...names, a: { b: { c: { d: { e: 1 } } } } }));
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
  expect(Object.keys(usage.total()?.raw ?? {}).length).toBeLessThanOrEqual(50);
  expect(usage.total()).toMatchObject({ inputTokens: 0, outputTokens: 0 });
});

it('session usage: responses of another tier or size than the first are parts of their own', () => {
  const usage = new SessionUsage(realtimeUsage);
  const completed = (input_tokens: number, service_tier = 'default') => ({
    type: 'response.completed',
    response: { service_tier, usage: { input_tokens, output_tokens: 10 } },
  });
  expect(usage.responses()).toEqual({});
  for (const event of [
    completed(100),
    completed(300_000),
    completed(50, 'priority'),
    completed(150_000),
    completed(60, 'priority'),
  ])
    take(usage, event);
  expect(usage.total()).toMatchObject({ inputTokens: 450_210, outputTokens: 50, serviceTier: null });
  const part = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, media: null };
  expect(usage.responses()).toEqual({
    responses: 5,
    parts: [
      { responses: 1, inputTokens: 300_000, outputTokens: 10, ...part },
      { responses: 2, inputTokens: 110, outputTokens: 20, serviceTier: 'priority', ...part },
      { responses: 1, inputTokens: 150_000, outputTokens: 10, ...part },
    ],
  });
});

it('session usage: a response of a single tier gives the session its tier', () => {
  const usage = new SessionUsage(realtimeUsage);
  const response = { service_tier: 'priority', usage: { input_tokens: 1, output_tokens: 1 } };
  for (let i = 0; i < 2; i++) take(usage, { type: 'response.completed', response });
  expect(usage.total()?.serviceTier).toBe('priority');
  expect(usage.responses()).toEqual({ responses: 2 });
});

it('session usage: an event with images of several megabytes counts', () => {
  const usage = new SessionUsage(realtimeUsage);
  const output = [{ type: 'image_generation_call', result: 'A'.repeat(5 * 1024 * 1024) }];
  take(usage, { type: 'response.completed', response: { output, usage: { input_tokens: 7, output_tokens: 3 } } });
  expect(usage.total()).toMatchObject({ inputTokens: 7, outputTokens: 3 });
});

it('session usage: counts of tools and images beside the usage of a response count on every path', () => {
  const ctx = { model: 'm' } as RequestContext;
  const usage = new SessionUsage(sessionReader(ctx, null, passedUsage));
  const response = {
    ...{ usage: { input_tokens: 100, output_tokens: 5 }, service_tier: 'flex' },
    tool_usage: { web_search: { num_requests: 2 }, image_gen: { input_tokens: 3, output_tokens: 4 } },
    tools: [{ type: 'image_generation', model: 'artist' }],
    output: [{ type: 'image_generation_call', svg_usage: { model: 'author', input_tokens: 1, output_tokens: 2 } }],
  };
  take(usage, { type: 'response.completed', response });
  expect(usage.total()).toMatchObject({
    serviceTier: 'flex',
    raw: {
      tool_usage: { web_search: { num_requests: 2 }, image_gen: [{ model: 'artist', input_tokens: 3, output_tokens: 4 }] },
      svg_usage: [{ model: 'author', input_tokens: 1, output_tokens: 2 }],
    },
  });
});
