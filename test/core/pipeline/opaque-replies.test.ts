import { describe, expect, it } from 'vitest';
import { BodyMemory } from '../../../core/contract/values/bodies/body-memory.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

/** No parser accepts the last number, so a reply with it was not parsed. */
const vector = `[${'0.0123456789,'.repeat(400)}1.2.3]`;
const embeddings = (value: string, count: number) => {
  const items = Array.from({ length: count }, (_, i) => `{"object":"embedding","index":${i},"embedding":${value}}`);
  return `{"object":"list","data":[${items}],"model":"m","usage":{"prompt_tokens":7,"total_tokens":7}}`;
};
const images = (count: number, bytes: number) =>
  `{"created":1,"data":[${Array.from({ length: count }, () => `{"b64_json":"${'A'.repeat(bytes)}\\q"}`)}]}`;
const json = ['content-type', 'application/json'];

async function send(endpoint: string, body: object, reply: string, memory = new BodyMemory(64 * 1024 * 1024)) {
  const gateway = createHarness({ memory });
  gateway.script(replyWith(200, reply, json));
  const { status, text: sent } = await gateway.send({
    path: `/v1/${endpoint}`,
    body: JSON.stringify({ model: '@one/m', ...body }),
  });
  return { status, sent, record: gateway.records[0] };
}

describe('replies with vectors and images', () => {
  it.each([1, 100])('pass without being parsed, and their tokens are counted: %i vectors', async (count) => {
    const reply = embeddings(vector, count);
    const { status, sent, record } = await send('embeddings', { input: 'a' }, reply);
    expect([status, sent === reply, record?.inputTokens]).toEqual([200, true, 7]);
  });

  it.each([
    [2, 5_000],
    [3, 400_000],
  ])('pass without being parsed, and they are counted: %i images of %i characters', async (count, bytes) => {
    const reply = images(count, bytes);
    const { status, sent, record } = await send('images/generations', { prompt: 'a' }, reply);
    expect([status, sent === reply, record?.media?.units.generated_images]).toEqual([200, true, count]);
  });

  it.each([1, 100])('are parsed if the vectors must be encoded: %i vectors', async (count) => {
    const numbers = Array.from({ length: 400 }, (_, i) => i / 8);
    const { sent } = await send(
      'embeddings',
      { input: 'a', encoding_format: 'base64' },
      embeddings(JSON.stringify(numbers), count),
    );
    const encoded = Buffer.from(new Float32Array(numbers).buffer).toString('base64');
    const { data } = JSON.parse(sent) as { data: { embedding: string }[] };
    expect(data.map(({ embedding }) => embedding)).toEqual(Array.from({ length: count }, () => encoded));
  });

  it.each([
    [1_000, 3_000_000, 503],
    [3_000_000, 1_000, 200],
  ])('take memory for what is parsed: an image of %i and a text of %i characters', async (image, text, status) => {
    const reply = images(1, image).replace('}]', `,"revised_prompt":"${'x'.repeat(text)}"}]`);
    const memory = new BodyMemory(5_000_000);
    const sent = await send('images/generations', { prompt: 'a' }, reply, memory);
    expect([sent.status, memory.usedBytes]).toEqual([status, 0]);
  });

  it.each([1, 100])('are errors if a vector contains NaN: %i vectors', async (count) => {
    const { status, sent } = await send('embeddings', { input: 'a' }, embeddings(vector.replace('1.2.3', 'NaN'), count));
    expect([status, JSON.parse(sent).error.code]).toEqual([502, 'upstream_invalid']);
  });

  it.each([1, 100])('are errors if the rest is no JSON: %i vectors', async (count) => {
    const { status } = await send('embeddings', { input: 'a' }, embeddings(vector, count).replace('"usage":', '"usage"'));
    expect(status).toBe(502);
  });
});
