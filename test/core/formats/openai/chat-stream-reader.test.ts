import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import type { StreamEvent } from '../../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { chatStreamReader } from '../../../../core/formats/openai/chat-stream-reader.ts';
import { responses } from '../../../../core/formats/openai/responses.ts';
import { mistralAi } from '../../../../core/providers/mistral-ai/index.ts';
import { chatStream as overResponses } from '../../../../core/translate/chat-over-responses/stream.ts';
import { callOf } from '../../providers/contract-suite.ts';

const chunk = (index: number, finish: string | null): JsonObject => ({ choices: [{ index, delta: {}, finish_reason: finish }] });

function readerOf(...data: (JsonObject | string)[]) {
  const reader = chatStreamReader('groq');
  for (const item of data) reader.push({ event: null, data: item });
  return reader;
}

describe('the end of a chat stream', () => {
  it('is [DONE]', () => {
    expect(readerOf(chunk(0, null), '[DONE]').complete()).toBe(true);
  });

  it('is the finish reason of every choice that began, if no [DONE] comes', () => {
    expect(readerOf(chunk(0, null), chunk(1, null), chunk(0, 'stop')).complete()).toBe(false);
    expect(readerOf(chunk(0, null), chunk(1, null), chunk(0, 'stop'), chunk(1, 'length')).complete()).toBe(true);
  });

  it('stays reached if the last event repeats a finished choice', () => {
    expect(readerOf(chunk(0, 'stop'), chunk(0, null)).complete()).toBe(true);
  });

  it('is not reached by an empty stream or by text alone', () => {
    expect(readerOf().complete()).toBe(false);
    expect(readerOf(chunk(0, null)).complete()).toBe(false);
  });
});

describe('an error inside a stream', () => {
  it("has the provider's message and status, and the stream is incomplete", () => {
    const reader = readerOf(chunk(0, null), { error: { message: 'Provider disconnected', code: 502 }, choices: [] }, '[DONE]');
    expect(reader.error?.()).toMatchObject({
      code: 'upstream_status',
      status: 502,
      message: 'groq error: Provider disconnected',
    });
    expect(reader.complete()).toBe(false);
  });

  it('has the default status if its code is text', () => {
    const reader = readerOf({ error: { message: 'Tool call failed', code: 'tool_use_failed' } });
    expect(reader.error?.()).toMatchObject({ status: 502, message: 'groq error: Tool call failed' });
  });

  it.each([
    [{ message: 'slow', type: 'requests', code: 'rate_limit_exceeded' }, 429],
    [{ message: 'slow', type: 'rate_limit_error', code: null }, 429],
    [{ message: 'busy', type: 'overloaded', code: '3505' }, 503],
    [{ message: 'busy', type: 'service_unavailable_error', code: 'server_is_overloaded' }, 503],
  ])('%j has status %i', (error, status) => {
    expect(readerOf({ error }).error?.()?.status).toBe(status);
  });

  it('is recognised in an event that is the error itself, as Mistral sends it', () => {
    const reader = chatStreamReader('mistral-ai');
    reader.push({ event: null, data: { object: 'error', message: 'Service tier exceeded', type: 'overloaded', code: '3505' } });
    expect([reader.complete(), reader.error?.()?.message]).toEqual([false, 'mistral-ai error: Service tier exceeded']);
  });

  it.each<[StreamEvent, string, number]>([
    [{ event: null, data: { message: 'Queue full', type: 'too_many_requests', code: 'rate_limit' } }, 'Queue full', 429],
    [{ event: null, data: { message: 'down', type: 'server_error' } }, 'down', 502],
    [{ event: null, data: { message: 'down' } }, 'down', 502],
    [{ event: null, data: { detail: 'Model is loading', status: 503 } }, 'Model is loading', 503],
    [{ event: null, data: { detail: [{ loc: ['body', 'n'], msg: 'too large' }] } }, 'body.n: too large', 502],
    [{ event: 'error', data: 'upstream timed out' }, 'upstream timed out', 502],
    [{ event: 'error', data: { status: 500, reason: 'x' } }, 'the provider ended the stream early', 500],
    [{ event: 'error', data: { ...chunk(0, null), message: 'x' } }, 'x', 502],
  ])('is recognised in %j', (event, message, status) => {
    const reader = chatStreamReader('groq');
    for (const one of [event, { event: null, data: '[DONE]' }]) reader.push(one);
    expect(reader.error?.()).toMatchObject({ code: 'upstream_status', status, message: `groq error: ${message}` });
    expect(reader.complete()).toBe(false);
  });

  it.each<StreamEvent>([
    { event: null, data: { ...chunk(0, null), message: 'm', code: 1, detail: 'd' } },
    { event: null, data: { object: 'chat.completion.chunk', message: 'm', code: 1 } },
    { event: null, data: { type: 'progress', message: 'm' } },
    { event: null, data: { type: 'ping' } },
    { event: null, data: { message: { role: 'assistant' } } },
    { event: null, data: 'text' },
    { event: 'error', data: '[DONE]' },
    { event: 'message', data: 'text' },
  ])('is not %j', (event) => {
    const reader = chatStreamReader('groq');
    reader.push(event);
    expect(reader.error?.()).toBe(null);
  });

  it('is distinguished from a null error field', () => {
    expect(readerOf({ ...chunk(0, 'stop'), error: null }).error?.()).toBe(null);
  });
});

describe('token counts of a chat stream', () => {
  it('are the last ones, in any field that providers use', () => {
    const running = (tokens: number): JsonObject => ({ usage: { prompt_tokens: 2, completion_tokens: tokens } });
    expect(readerOf(running(1), running(3), { usage: null }).usage()?.outputTokens).toBe(3);
    expect(readerOf({ x_groq: { usage: { prompt_tokens: 2, completion_tokens: 5 } } }).usage()?.outputTokens).toBe(5);
    expect(readerOf(chunk(0, 'stop'), '[DONE]').usage()).toBe(null);
  });
});

describe('a stream of response events', () => {
  const read = (...events: JsonObject[]) => {
    const reader = responses('openai', () => '/responses').streamReader();
    for (const data of events) reader.push({ event: String(data.type), data });
    return reader;
  };

  it.each(['response.completed', 'response.incomplete'])('ends with %s', (type) => {
    const reader = read({ type: 'response.created' }, { type, response: { usage: { input_tokens: 3, output_tokens: 4 } } });
    expect(reader.complete()).toBe(true);
    expect(reader.error?.()).toBe(null);
    expect(reader.usage()).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });

  it('ends with response.failed, which is an error', () => {
    const reader = read({
      type: 'response.failed',
      response: { error: { code: 'server_error', message: 'The model failed' }, usage: null },
    });
    expect(reader.complete()).toBe(true);
    expect(reader.error?.()?.message).toBe('openai error: The model failed');
  });

  it.each<JsonObject>([
    { error: { message: 'boom', type: 'server_error', code: null } },
    { object: 'error', message: 'boom', code: 503 },
    { detail: 'boom' },
    { type: 'error', error: { type: 'x', message: 'boom' } },
  ])('accepts an error without a type of event: %j', (data) => {
    const operation = responses('openai', () => '/responses');
    const reader = operation.streamReader();
    reader.push({ event: null, data });
    expect([reader.error?.()?.message, reader.complete()]).toEqual(['openai error: boom', false]);

    const stream = overResponses(operation.streamReader(), callOf({ stream: true }, {}, {}));
    stream.push({ event: null, data: { type: 'response.output_text.delta', item_id: 'm', output_index: 0, delta: 'a' } });
    expect(stream.push({ event: null, data })).toMatchObject([{ data: { error: { message: 'boom' } } }]);
  });

  it('accepts the error event', () => {
    const reader = read({ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down', param: null });
    expect(reader.complete()).toBe(false);
    expect(reader.error?.()?.message).toBe('openai error: Slow down');
  });
});

describe('an error inside a stream that the gateway changes', () => {
  const translated = (data: JsonObject | string, event: string | null = null) =>
    (mistralAi.operations.chatComplete as Operation).translateStream?.(callOf({ stream: true }, {}, {}))?.push({ event, data });

  it.each([
    [
      { object: 'error', message: 'boom', type: 'internal_server_error', param: null, code: '3700' },
      { type: 'internal_server_error', code: '3700' },
    ],
    [{ error: 'boom' }, { type: 'upstream_error', code: null }],
    [{ detail: 'boom' }, { type: 'upstream_error', code: null }],
    [
      { message: 'boom', type: 'x', code: 'c' },
      { type: 'x', code: 'c' },
    ],
  ])('is under `error`, where the clients of OpenAI read it: %j', (data, fields) => {
    expect(translated(data)).toEqual([{ event: null, data: { error: { message: 'boom', param: null, ...fields } } }]);
  });

  it('is under `error` for a text', () => {
    const error = { message: 'boom', type: 'upstream_error', param: null, code: null };
    expect(translated('boom', 'error')).toEqual([{ event: 'error', data: { error } }]);
  });

  it('passes if it has that form', () => {
    const data = { error: { message: 'boom', type: 'x', param: 'p', code: 'c', metadata: { raw: 'r' } } };
    expect(translated(data)).toEqual([{ event: null, data }]);
  });
});

it('chat stream reader: indexes of choices that are long or no text count as one and are not stored', () => {
  const reader = chatStreamReader('openai');
  for (const index of ['a'.repeat(100), { a: 1 }]) reader.push({ event: null, data: { choices: [{ index, delta: {} }] } });
  reader.push({ event: null, data: { choices: [{ index: 'b'.repeat(100), delta: {}, finish_reason: 'stop' }] } });
  expect(reader.complete()).toBe(true);
});
