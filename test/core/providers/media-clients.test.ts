import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, type Harness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { frame } from './bedrock/frames.ts';

/** OpenAI's client with providers whose images, embeddings and streams differ from OpenAI's. */
const fixture = (provider: string, name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, provider, 'fixtures', `${name}.json`), 'utf8'));

const keys = { aws_region: 'eu-west-1', aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'sk' };

function clientOf(harness: Harness, config: JsonObject): OpenAI {
  harness.addConfig('target', config);
  return new OpenAI({
    apiKey: 'unused',
    baseURL: 'http://gateway.test/v1',
    maxRetries: 0,
    fetch: async (url, init) => {
      const request = new Request(url as string, init as RequestInit);
      const body = new Uint8Array(await request.arrayBuffer());
      const { authorization: _unused, ...headers } = Object.fromEntries(request.headers);
      const path = new URL(request.url).pathname;
      const sink = await harness.send({ path, method: request.method, headers: { ...headers, 'x-svc-config': 'target' }, body });
      const pairs = Array.from({ length: sink.headers.length / 2 }, (_, i) => sink.headers.slice(2 * i, 2 * i + 2));
      return new Response(Buffer.concat(sink.chunks), { status: sink.status, headers: pairs as [string, string][] });
    },
  });
}

function harnessWith(script: Script): Harness {
  const harness = createHarness();
  harness.script(script);
  return harness;
}

it('media clients: create images with Amazon Nova Canvas', async () => {
  const { request, providerReply } = fixture('bedrock', 'image-nova');
  const harness = harnessWith(replyWith(200, providerReply));
  const { data } = await clientOf(harness, { provider: 'bedrock', ...keys }).images.generate({
    model: request.model,
    prompt: 'a lighthouse',
    n: 2,
    size: '1024x1024',
  });
  expect(data?.map((image) => image.b64_json)).toEqual(providerReply.images);
});

it('media clients: edit an image with a mask by Stability AI', async () => {
  const harness = harnessWith(replyWith(200, fixture('stability-ai', 'inpaint').providerReply));
  const { data } = await clientOf(harness, { provider: 'stability-ai', api_key: 'k' }).images.edit({
    model: 'inpaint',
    prompt: 'a red roof',
    image: await toFile(Buffer.from('iVBORw0KGgo=', 'base64'), 'house.png', { type: 'image/png' }),
    mask: await toFile(Buffer.from('iVBORw0KGgoA', 'base64'), 'mask.png', { type: 'image/png' }),
  });
  expect(data?.[0]?.b64_json).toBe('iVBORw0KGgo=');
  const sent = Buffer.from(harness.calls[0]?.body as Uint8Array).toString('latin1');
  expect(sent).toContain(Buffer.from('iVBORw0KGgoA', 'base64').toString('latin1'));
});

it.each([
  ['pinecone', 'embed', { provider: 'pinecone', api_key: 'k' }, [0.1, 0.2]],
  ['cohere', 'embed', { provider: 'cohere', api_key: 'k' }, null],
  ['bedrock', 'embed-cohere-v4', { provider: 'bedrock', ...keys }, null],
] as const)('reads embeddings of %s, which it asks for as base64', async (provider, name, config, expected) => {
  const { request, providerReply, reply } = fixture(provider, name);
  const harness = harnessWith(replyWith(200, providerReply));
  const { data } = await clientOf(harness, config).embeddings.create({ model: request.model, input: request.input });
  expect(data).toHaveLength([request.input].flat().length);
  for (const [index, value] of (expected ?? []).entries()) expect(data[0]?.embedding[index]).toBeCloseTo(value, 6);
  expect(data.every(({ embedding }) => embedding.length > 0 && embedding.every(Number.isFinite))).toBe(true);
  expect(reply.data).toHaveLength(data.length);
});

it('media clients: stream from a container on SageMaker', async () => {
  const chunks = readFileSync(join(import.meta.dirname, 'sagemaker/fixtures/text.chunks.txt'));
  const headers = { ':event-type': 'PayloadPart', ':message-type': 'event' };
  const harness = harnessWith((_call, handler) => {
    handler.onHead(200, ['content-type', 'application/vnd.amazon.eventstream']);
    for (let at = 0; at < chunks.length; at += 90) handler.onData(frame(headers, chunks.subarray(at, at + 90)));
    handler.onEnd();
  });
  const stream = await clientOf(harness, { provider: 'sagemaker', ...keys }).chat.completions.create({
    model: 'qwen3-endpoint',
    messages: [{ role: 'user', content: 'Which river flows through Paris?' }],
    stream: true,
  });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  expect(text).toBe('The Seine.');
});
