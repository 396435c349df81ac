import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../../core/contract/plugin/context.ts';
import type { UpstreamHandler } from '../../../../core/contract/provider/upstream.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { emptyUsage } from '../../../../core/contract/values/models/usage.ts';
import { countUsage, unfinishedUsage } from '../../../../core/pipeline/usage/estimate-usage.ts';
import {
  chatReply,
  chatStream,
  createHarness,
  failWith,
  replyWith,
  type Script,
} from '../../../../core/test-kit/pipeline-harness.ts';
import { body, prompt, recordOf, slow } from './leaving-client.ts';

const head = (handler: UpstreamHandler): unknown => handler.onHead(200, ['content-type', 'application/json']);
const part = (text: string, bytes: number): Buffer => Buffer.from(JSON.stringify(chatReply(text)).slice(0, bytes));

it('a reply of 3 MB without counts is counted by its length, and not parsed for it', async () => {
  const harness = createHarness();
  harness.script(replyWith(200, { ...chatReply('x'.repeat(3_000_000)), usage: undefined }));
  await harness.send({ method: 'POST', path: '/v1/chat/completions', body });
  const [record] = harness.records;
  expect(record).toMatchObject({ outcome: 'success', usageEstimated: true });
  expect(record?.outputTokens).toBeGreaterThan(749_000);
  expect(record?.outputTokens).toBeLessThan(751_000);
});

it('a failed count leaves the rough one, and its reason is in the log', async () => {
  const reasons: unknown[] = [];
  const ctx = { params: body, endpoint: { operation: 'chatComplete' }, usage: null, streamEvents: 3, gatewayHeaders: new Map() };
  const services = {
    countTokens: () => Promise.reject(new GatewayError('internal', { detail: 'took longer than 2000 ms' })),
    log: { warn: ({ reason }: JsonObject) => reasons.push(reason) },
  };
  await countUsage(ctx as never, services as never, null)?.();
  expect(ctx.usage).toMatchObject({ inputTokens: 10, outputTokens: 3, estimated: true });
  expect(reasons).toEqual(['took longer than 2000 ms']);
});

describe('usage of a request whose client disconnects', () => {
  it('before the reply counts the prompt', async () => {
    const record = await recordOf(createHarness(), (leave) => [() => setImmediate(leave)]);
    expect(record).toMatchObject({ outcome: 'aborted', ...prompt, outputTokens: 0 });
  });

  it('before a streamed reply counts the prompt', async () => {
    const record = await recordOf(createHarness(), (leave) => [() => setImmediate(leave)], { body: { ...body, stream: true } });
    expect(record).toMatchObject({ outcome: 'aborted', ...prompt, outputTokens: 0 });
  });

  it('before a compacted conversation counts the input', async () => {
    const compact = { path: '/v1/responses/compact', body: { model: '@one/gpt-5', input: 'x'.repeat(40) } };
    const record = await recordOf(createHarness(), (leave) => [() => setImmediate(leave)], compact);
    expect(record).toMatchObject({ outcome: 'aborted', ...prompt, outputTokens: 0 });
  });

  const base64 = 'A'.repeat(400_000);
  const dataUrl = 'data:image/png;base64,';
  const inMessage = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
  const image = (data: string) => ({ type: 'image', source: { type: 'base64', data } });
  it.each([
    ['an image of chat', '/v1/chat/completions', inMessage({ type: 'image_url', image_url: { url: base64 } }), 1_000],
    ['a file of chat', '/v1/chat/completions', inMessage({ type: 'file', file: { file_data: base64 } }), 1_000],
    ['an image of Responses', '/v1/responses', { input: [{ content: [{ type: 'input_image', image_url: base64 }] }] }, 1_000],
    ['a file of Responses', '/v1/responses', { input: [{ content: [{ type: 'input_file', file_data: base64 }] }] }, 1_000],
    ['two images of Messages', '/v1/messages', inMessage(image(base64), image(base64)), 2_000],
    ['a small image', '/v1/messages', inMessage(image('A'.repeat(400))), 100],
    ['a text document', '/v1/messages', inMessage({ type: 'document', source: { type: 'text', data: base64 } }), 100_000],
    ['an image without a member of its own', '/v1/embeddings', { input: [`${dataUrl}${base64}`] }, 1_000],
    ['sound as browsers give it', '/v1/embeddings', { input: [`data:audio/webm;codecs=opus;base64,${base64}`] }, 1_000],
    ['a text that begins as an image', '/v1/chat/completions', inMessage({ type: 'text', text: `${dataUrl}${base64}` }), 100_006],
    ['instructions that begin as an image', '/v1/messages', { system: `${dataUrl}${base64}`, messages: [] }, 100_006],
    ['token ids', '/v1/embeddings', { input: [[1, 2, 3], [4]] }, 4],
  ])('before the reply counts %s', async (_title, path, prompt, inputTokens) => {
    const request = { path, body: { model: '@one/gpt-5', ...prompt } as JsonObject };
    const record = await recordOf(createHarness(), (leave) => [() => setImmediate(leave)], request);
    expect(record).toMatchObject({ outcome: 'aborted', inputTokens, usageEstimated: true });
  });

  it('in the middle of the reply counts the received text', async () => {
    const record = await recordOf(createHarness(), (leave) => [
      (_call, handler) => {
        head(handler);
        handler.onData(part('y'.repeat(4_000), 2_100));
        leave();
      },
    ]);
    expect(record).toMatchObject({ outcome: 'aborted', ...prompt });
    expect(record?.outputTokens).toBeGreaterThan(450);
    expect(record?.outputTokens).toBeLessThan(525);
  });

  it('in the middle of a very long text counts the received part', async () => {
    const record = await recordOf(createHarness(), (leave) => [
      (_call, handler) => {
        head(handler);
        handler.onData(part('y'.repeat(24_000_000), 20_000_000));
        leave();
      },
    ]);
    expect(record).toMatchObject({ outcome: 'aborted', ...prompt });
    expect(record?.outputTokens).toBeGreaterThan(4_999_000);
    expect(record?.outputTokens).toBeLessThan(5_000_000);
  });

  it('in the middle of an escape counts the text before it', async () => {
    const text = '{"choices":[{"message":{"content":"ab\\"cd\\';
    const record = await recordOf(createHarness(), (leave) => [
      (_call, handler) => {
        head(handler);
        handler.onData(Buffer.from(text));
        leave();
      },
    ]);
    expect(record).toMatchObject({ outcome: 'aborted', ...prompt, outputTokens: 2 });
  });

  it.each([
    [
      'a custom tool in chat completions',
      '{"choices":[{"message":{"tool_calls":[{"type":"custom","custom":{"name":"f","input":"',
    ],
    ['a custom tool in Responses', '{"output":[{"type":"custom_tool_call","name":"f","input" : "'],
    ['a tool in Messages', '{"content":[{"type":"tool_use","input":{"a":{"b":"}\\""},"c":"'],
  ])('in the middle of the input of %s counts the received part', async (_title, text) => {
    const record = await recordOf(createHarness(), (leave) => [
      (_call, handler) => {
        head(handler);
        handler.onData(Buffer.from(text + 'y'.repeat(2_000)));
        leave();
      },
    ]);
    expect(record).toMatchObject({ outcome: 'aborted', ...prompt });
    expect(record?.outputTokens).toBeGreaterThanOrEqual(500);
    expect(record?.outputTokens).toBeLessThan(510);
  });

  it('after a whole tool call counts its input and the text that follows', async () => {
    const input = `"input":{"a":["${'y'.repeat(394)}"]}`;
    const record = await recordOf(createHarness(), (leave) => [
      (_call, handler) => {
        head(handler);
        handler.onData(Buffer.from(`{"content":[{${input},"cache":"${'z'.repeat(400)}"},{"text":"${'y'.repeat(400)}`));
        leave();
      },
    ]);
    expect(record?.outputTokens).toBeGreaterThanOrEqual(200);
    expect(record?.outputTokens).toBeLessThan(205);
  });

  it('after the reply has arrived counts what the provider states', async () => {
    const harness = createHarness({ plugins: [slow()] });
    const record = await recordOf(harness, (leave) => [replyThen(leave)]);
    expect(record).toMatchObject({ outcome: 'aborted', inputTokens: 3, outputTokens: 2, usageEstimated: false });
  });

  it('after a reply without counts has arrived counts its text', async () => {
    const { usage: _usage, ...uncounted } = chatReply('z'.repeat(400));
    const harness = createHarness({ plugins: [slow()] });
    const record = await recordOf(harness, (leave) => [replyThen(leave, uncounted)]);
    expect(record).toMatchObject({ outcome: 'aborted', ...prompt, outputTokens: 100 });
  });

  it('before the provider was reached is zero', async () => {
    const record = await recordOf(createHarness(), (leave) => [
      () => {
        setImmediate(leave);
        return 'connecting';
      },
    ]);
    expect(record).toMatchObject({ outcome: 'aborted', inputTokens: 0, outputTokens: 0, usageEstimated: false });
  });

  it('is zero for a rejected call', async () => {
    const record = await recordOf(createHarness(), (leave) => [
      (_call, handler) => {
        handler.onHead(500, ['content-type', 'application/json']);
        leave();
      },
    ]);
    expect(record).toMatchObject({ outcome: 'aborted', inputTokens: 0, usageEstimated: false });
  });

  it('before speech has arrived counts the requested characters', async () => {
    const speech = { path: '/v1/audio/speech', body: { model: '@one/tts-1', voice: 'alloy', input: 'a'.repeat(25) } };
    const record = await recordOf(createHarness(), (leave) => [() => setImmediate(leave)], speech);
    expect(record).toMatchObject({ outcome: 'aborted', media: { units: { characters: 25 } }, usageEstimated: true });
  });
});

describe('usage of a reply that the provider cuts', () => {
  const cut = (error = new GatewayError('upstream_reset')): Script => {
    return (_call, handler) => {
      head(handler);
      handler.onData(part('y'.repeat(400), 350));
      handler.onError(error);
    };
  };

  it('counts the prompt and the received text', async () => {
    const record = await recordOf(createHarness(), () => [cut()]);
    expect(record).toMatchObject({ outcome: 'failed', status: 502, ...prompt });
    expect(record?.outputTokens).toBeGreaterThan(50);
  });

  it('is zero if the reply had not begun', async () => {
    const record = await recordOf(createHarness(), () => [
      (_call, handler) => handler.onError(new GatewayError('upstream_reset')),
    ]);
    expect(record).toMatchObject({ outcome: 'failed', inputTokens: 0, usageEstimated: false });
  });

  it('counts the events of a stream', async () => {
    const script = chatStream(['a', 'b', 'c', 'd'], { cutAfter: 3, error: new GatewayError('upstream_reset') });
    const record = await recordOf(createHarness(), () => [script], { body: { ...body, stream: true } });
    expect(record).toMatchObject({ outcome: 'cut', ...prompt, outputTokens: 3 });
  });

  it('before it begins counts the prompt, if its time is over', async () => {
    const record = await recordOf(createHarness(), () => [failWith(new GatewayError('request_timeout'))]);
    expect(record).toMatchObject({ outcome: 'failed', status: 408, ...prompt, outputTokens: 0 });
    expect(record?.discarded).toMatchObject([{ providerSlug: 'one', model: 'gpt-5', inputTokens: 10 }]);
  });

  it('before it begins counts the bytes of a prompt in Chinese, if its time is over', async () => {
    const chinese = { ...body, messages: [{ role: 'user', content: '你'.repeat(40) }] };
    const record = await recordOf(createHarness(), () => [failWith(new GatewayError('request_timeout'))], { body: chinese });
    expect(record).toMatchObject({ inputTokens: 30, usageEstimated: true });
  });

  it('is zero if its time is over before the call was sent', async () => {
    const record = await recordOf(createHarness(), () => [
      (_call, handler) => {
        setImmediate(() => handler.onError(new GatewayError('request_timeout')));
        return 'connecting';
      },
    ]);
    expect(record).toMatchObject({ outcome: 'failed', status: 408, inputTokens: 0, usageEstimated: false });
  });

  it('is zero for token counting on pass-through paths, if its time is over', async () => {
    const path = '/v1/proxy/v1/messages/count_tokens';
    const harness = createHarness();
    harness.script(failWith(new GatewayError('request_timeout')));
    await harness.send({ method: 'POST', path, headers: { 'x-svc-provider': '@one' }, body });
    expect(harness.records[0]).toMatchObject({ outcome: 'failed', status: 408, inputTokens: 0, usageEstimated: false });
  });

  it.each([
    ['no JSON', '<html>busy</html>', 'text/html'],
    ['cut JSON', '{"id":', 'application/json'],
    ['no object', '[]', 'application/json'],
  ])('counts the prompt of a 200 that is %s', async (_what, text, type) => {
    const record = await recordOf(createHarness(), () => [replyWith(200, text, ['content-type', type])]);
    expect(record).toMatchObject({ outcome: 'failed', status: 502, ...prompt, outputTokens: 0 });
    expect(record?.discarded).toMatchObject([{ providerSlug: 'one', model: 'gpt-5', inputTokens: 10 }]);
  });

  it('is noted apart from that of the next attempt', async () => {
    const harness = createHarness();
    harness.addConfig('pc-two', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    harness.script(cut(), replyWith(429, { error: { message: 'slow down' } }));
    await harness.send({ headers: { 'x-svc-config': 'pc-two' }, body: { ...body, model: 'gpt-5' } });
    expect(harness.records[0]).toMatchObject({ outcome: 'failed', status: 429, ...prompt });
    expect(harness.records[0]?.discarded).toMatchObject([{ providerSlug: 'one', inputTokens: 10 }]);
  });
});

function replyThen(leave: () => void, reply: JsonObject = chatReply('hello')): Script {
  return (call, handler) => {
    replyWith(200, reply)(call, handler);
    setImmediate(leave);
  };
}

it.each([
  [1, 5, { outputTokens: 5, estimated: true }],
  [5, 5, { outputTokens: 5, estimated: false }],
  [9, 5, { outputTokens: 9, estimated: false }],
])('usage of a cut stream: %d reported tokens and %d events', (outputTokens, events, expected) => {
  const ctx = { params: {}, endpoint: { operation: 'chatComplete' } } as unknown as RequestContext;
  const usage = { ...emptyUsage(), inputTokens: 7, outputTokens };
  const counted = unfinishedUsage(ctx, { operation: null, operationCall: null }, { usage, events, body: null });
  expect({ ...counted, estimated: counted?.estimated ?? false }).toMatchObject({ inputTokens: 7, ...expected });
});
