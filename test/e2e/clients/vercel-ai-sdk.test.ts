import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai';
import {
  APICallError,
  embed,
  embedMany,
  generateText,
  isStepCount,
  jsonSchema,
  Output,
  streamText,
  ToolLoopAgent,
  tool,
} from 'ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../../support/product/gateway-with-upstream.ts';
import { openaiError, stallBeforeHead, stallMidStream } from '../../support/upstream/fake-upstream.ts';
import { dataEvent } from '../../support/upstream/send-events.ts';

/** The Vercel AI SDK with its own OpenAI provider. Only base URL and key differ. */
let gateway: SharedGatewayWithUpstream;
let openai: OpenAIProvider;
/** The same, served by Anthropic. */
let overAnthropic: OpenAIProvider;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  openai = createOpenAI({ baseURL: gateway.baseUrl, apiKey: await gateway.keyFor({ provider: '@oai' }) });
  overAnthropic = createOpenAI({ baseURL: gateway.baseUrl, apiKey: await gateway.keyFor({ provider: '@ant' }) });
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const prompt = 'hello there';
const maxRetries = 0;
const weather = () => {
  const cities: string[] = [];
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
  const execute = async ({ city }: { city: string }) => {
    cities.push(city);
    return 'rain';
  };
  return { cities, tools: { weather: tool({ inputSchema: jsonSchema<{ city: string }>(schema as object), execute }) } };
};

describe.each([
  ['chat completions', () => openai.chat('gpt-4o-mini'), '/v1/chat/completions'],
  ['responses', () => openai.responses('gpt-4o-mini'), '/v1/responses'],
  ['chat completions served by Anthropic', () => overAnthropic.chat('claude-test'), '/v1/messages'],
])('%s', (_, model, path) => {
  it('generates text', async () => {
    const result = await generateText({ model: model(), prompt, maxRetries });
    expect(result.text).toContain('You said: hello there');
    expect(result.finishReason).toBe('stop');
    expect(result.usage.outputTokens).toBe(4);
    expect(gateway.upstream.last.path).toBe(path);
  });

  it('streams the same text and counts the same tokens', async () => {
    const plain = await generateText({ model: model(), prompt, maxRetries });
    const result = streamText({ model: model(), prompt, maxRetries });
    const pieces: string[] = [];
    for await (const piece of result.textStream) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join('')).toBe(plain.text);
    expect(await result.finishReason).toBe('stop');
    const { inputTokens, outputTokens } = await result.usage;
    expect([inputTokens, outputTokens]).toEqual([plain.usage.inputTokens, plain.usage.outputTokens]);
  });

  it('runs an agent through a tool call to its result', async () => {
    const { cities, tools } = weather();
    const result = await new ToolLoopAgent({ model: model(), tools, stopWhen: isStepCount(4), maxRetries }).generate({ prompt });
    expect(cities).toEqual(['sample']);
    expect(result.steps.length).toBe(2);
    expect(result.text).toContain('The tool said:');
    expect(result.text).toContain('rain');
  });

  it('runs the same agent over streams', async () => {
    const { cities, tools } = weather();
    const result = await new ToolLoopAgent({ model: model(), tools, stopWhen: isStepCount(4), maxRetries }).stream({ prompt });
    const types = new Set<string>();
    for await (const part of result.fullStream) types.add(part.type);
    expect([...types]).toEqual(expect.arrayContaining(['tool-call', 'tool-result', 'text-delta', 'finish']));
    expect(types).not.toContain('error');
    expect(cities).toEqual(['sample']);
    expect(await result.text).toContain('rain');
  });

  it('raises the error of the provider with status and message', async () => {
    gateway.upstream.once(path, openaiError(400, 'its own words'));
    const error = await generateText({ model: model(), prompt, maxRetries }).catch((thrown) => thrown);
    expect(APICallError.isInstance(error)).toBe(true);
    expect([error.statusCode, error.isRetryable]).toEqual([400, false]);
    expect(error.message).toContain('its own words');
  });

  it('retries by itself after a 429 with a wait', async () => {
    gateway.upstream.once(path, openaiError(429, 'slow down', null, { 'retry-after-ms': '1' }));
    const result = await generateText({ model: model(), prompt, maxRetries: 1 });
    expect(result.text).toContain('You said');
    expect(gateway.upstream.requests).toHaveLength(2);
  });

  it('ends the call to the provider when it is aborted', async () => {
    const held = stallBeforeHead();
    gateway.upstream.once(path, held);
    const controller = new AbortController();
    const call = generateText({ model: model(), prompt, maxRetries, abortSignal: controller.signal }).catch((thrown) => thrown);
    const { request } = await held.reached;
    controller.abort();
    expect((await call).name).toBe('AbortError');
    expect(await request.closed).toBe('client-left');
  });
});

it('Vercel AI SDK: ends the call to the provider when a stream is aborted', async () => {
  const chunk = {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content: 'first' } }],
  };
  const held = stallMidStream([dataEvent(chunk)], []);
  gateway.upstream.once('/v1/chat/completions', held);
  const controller = new AbortController();
  const result = streamText({ model: openai.chat('gpt-4o-mini'), prompt, maxRetries, abortSignal: controller.signal });
  const types: string[] = [];
  for await (const part of result.fullStream) {
    types.push(part.type);
    if (part.type === 'text-delta') controller.abort();
  }
  expect(types).toContain('abort');
  expect(await (await held.reached).request.closed).toBe('client-left');
});

it('Vercel AI SDK: generates an object for a schema', async () => {
  const schema = {
    type: 'object',
    properties: { answer: { type: 'string' } },
    required: ['answer'],
    additionalProperties: false,
  };
  const output = Output.object({ schema: jsonSchema<{ answer: string }>(schema as object) });
  const result = await generateText({ model: openai.chat('gpt-4o-mini'), prompt, maxRetries, output });
  expect(result.output).toEqual({ answer: 'sample' });
});

it('Vercel AI SDK: embeds one text and many', async () => {
  const model = openai.embedding('text-embedding-3-small');
  const one = await embed({ model, value: 'first', maxRetries });
  const many = await embedMany({ model, values: ['first', 'second'], maxRetries });
  expect(one.embedding).toHaveLength(8);
  expect(many.embeddings[0]).toEqual(one.embedding);
  expect(many.embeddings[1]).not.toEqual(one.embedding);
  expect(gateway.upstream.last.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);
});

it('Vercel AI SDK: raises 401 for an unknown key', async () => {
  const stranger = createOpenAI({ baseURL: gateway.baseUrl, apiKey: 'sk-not-ours' });
  const error = await generateText({ model: stranger.chat('gpt-4o-mini'), prompt, maxRetries }).catch((thrown) => thrown);
  expect([error.statusCode, error.isRetryable]).toEqual([401, false]);
  expect(error.message).toContain('Invalid API Key');
});
