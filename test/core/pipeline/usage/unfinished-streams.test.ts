import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../../core/contract/plugin/context.ts';
import type { UpstreamHandler } from '../../../../core/contract/provider/upstream.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { emptyUsage } from '../../../../core/contract/values/models/usage.ts';
import { unfinishedUsage } from '../../../../core/pipeline/usage/estimate-usage.ts';
import { createHarness, type Script } from '../../../../core/test-kit/pipeline-harness.ts';
import { body, prompt, recordOf, slow } from './leaving-client.ts';

describe('usage of a cut stream that has begun with counts of zero', () => {
  const begin = {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'c',
      content: [],
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  };
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'word' } };

  it.each([
    ['/v1/messages', 10],
    // Bytes of all texts of the request, by four.
    ['/v1/proxy/messages', 13],
  ])('has the prompt, on %s', async (path, inputTokens) => {
    const record = await recordOf(
      createHarness(),
      (leave) => [
        (_call, handler) => {
          handler.onHead(200, ['content-type', 'text/event-stream']);
          for (const data of [begin, delta, delta])
            handler.onData(Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`));
          leave();
        },
      ],
      {
        path,
        headers: { 'x-svc-provider': '@claude' },
        body: { model: 'claude-x', max_tokens: 9, stream: true, messages: body.messages },
      },
    );
    expect(record).toMatchObject({ outcome: 'aborted', inputTokens, outputTokens: 3, usageEstimated: true });
  });

  it('has the prompt beside the output that is stated', () => {
    const ctx = { params: body, endpoint: { operation: 'chatComplete' } } as unknown as RequestContext;
    const usage = { ...emptyUsage(), outputTokens: 9 };
    const counted = unfinishedUsage(ctx, { operation: null, operationCall: null }, { usage, events: 5, body: null });
    expect(counted).toMatchObject({ inputTokens: 10, outputTokens: 9, estimated: true });
  });
});

describe('the service tier of a stream without counts', () => {
  const chunk = { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'word' } }] };
  const send = (path: string, more: JsonObject) =>
    recordOf(
      createHarness(),
      (leave) => [
        (_call, handler) => {
          handler.onHead(200, ['content-type', 'text/event-stream']);
          handler.onData(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`));
          leave();
        },
      ],
      { path, headers: { 'x-svc-provider': '@one' }, body: { ...body, model: 'gpt-5.1', stream: true, ...more } },
    );

  it.each([
    ['/v1/chat/completions', { service_tier: 'priority' }, 'priority'],
    ['/v1/proxy/chat/completions', { service_tier: 'priority' }, 'priority'],
    ['/v1/proxy/messages', { speed: 'fast', service_tier: 'standard_only' }, 'fast'],
    ['/v1/chat/completions', { service_tier: 'auto' }, undefined],
    ['/v1/proxy/messages', { service_tier: 'standard_only' }, undefined],
  ])('is the requested one: %s with %j', async (path, more, serviceTier) => {
    const record = await send(path, more);
    expect(record).toMatchObject({ outcome: 'aborted', usageEstimated: true });
    expect(record?.serviceTier).toBe(serviceTier);
  });
});

describe('usage of a stream of images whose client disconnects', () => {
  const preview = { type: 'image_generation.partial_image', b64_json: 'AAAA', quality: 'medium', size: '1024x1536' };
  const done = { type: 'image_generation.completed', b64_json: 'AAAA', usage: { input_tokens: 9, output_tokens: 70 } };
  const send = (path: string, events: readonly JsonObject[]) =>
    recordOf(
      createHarness(),
      (leave) => [
        (_call, handler) => {
          handler.onHead(200, ['content-type', 'text/event-stream']);
          for (const data of events) handler.onData(Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`));
          leave();
        },
      ],
      {
        path,
        headers: path.includes('proxy') ? { 'x-svc-provider': '@one' } : {},
        body: { model: '@one/gpt-image-1', prompt: 'a lighthouse', stream: true, quality: 'medium', size: '1024x1536' },
      },
    );

  it.each(['/v1/images/generations', '/v1/proxy/images/generations'])(
    'counts the image behind a preview, on %s',
    async (path) => {
      const image = { outputTokens: 1_584, media: { imageOutputTokens: 1_584 }, usageEstimated: true };
      expect(await send(path, [preview, preview])).toMatchObject({ outcome: 'aborted', ...image });
    },
  );

  it.each(['/v1/images/generations', '/v1/proxy/images/generations'])(
    'counts what the provider has stated, on %s',
    async (path) => {
      expect(await send(path, [preview, done])).toMatchObject({ outcome: 'aborted', inputTokens: 9, outputTokens: 70 });
    },
  );
});

describe('usage of a stream that is held for a plugin, if it does not complete', () => {
  const events = (...each: JsonObject[]) => Buffer.from(each.map((data) => `data: ${JSON.stringify(data)}\n\n`).join(''));
  const text = (content: string) => ({
    id: 'c',
    model: 'gpt-5',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  });
  const counts = { id: 'c', model: 'gpt-5', choices: [], usage: { prompt_tokens: 70, completion_tokens: 2, total_tokens: 72 } };
  const delta = { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'y'.repeat(8) };
  const held = (bytes: Uint8Array, then: (handler: UpstreamHandler) => void): Script => {
    return (_call, handler) => {
      handler.onHead(200, ['content-type', 'text/event-stream']);
      handler.onData(bytes);
      then(handler);
    };
  };
  const reset = (handler: UpstreamHandler) => handler.onError(new GatewayError('upstream_reset'));
  const request = { body: { ...body, stream: true } };

  it('is what the provider has stated', async () => {
    const harness = createHarness({ plugins: [slow()] });
    const record = await recordOf(harness, () => [held(events(text('a'), text('b'), counts), reset)], request);
    expect(record).toMatchObject({ outcome: 'failed', inputTokens: 70, outputTokens: 3 });
  });

  it('is what the provider has stated, if the client disconnects', async () => {
    const harness = createHarness({ plugins: [slow()] });
    const record = await recordOf(harness, (leave) => [held(events(text('a'), counts), leave)], request);
    expect(record).toMatchObject({ outcome: 'aborted', inputTokens: 70, outputTokens: 2, usageEstimated: false });
  });

  it('without counts has one token for each event', async () => {
    const harness = createHarness({ plugins: [slow()] });
    const path = '/v1/responses';
    const sent = { path, body: { model: '@one/gpt-5', input: 'x'.repeat(40), stream: true } };
    const record = await recordOf(harness, () => [held(events(delta, delta, delta), reset)], sent);
    expect(record).toMatchObject({ outcome: 'failed', ...prompt, outputTokens: 3 });
  });
});
