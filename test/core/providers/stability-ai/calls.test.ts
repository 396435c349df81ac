import { expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { encodeForm, parseForm } from '../../../../core/pipeline/request/form-data.ts';
import { createHarness, type Harness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { fixtureReader } from '../provider-fixtures.ts';

const fixture = fixtureReader(import.meta.dirname);
const headers = { 'x-svc-provider': 'stability-ai', authorization: 'Bearer sk-st', 'x-svc-stability-client-id': 'my-app' };

/** The sent form by field, with files in base64. */
async function sentForm(harness: Harness): Promise<JsonObject> {
  const [call] = harness.calls;
  const parts = await parseForm(call?.body as Uint8Array, findHeader(call?.headers ?? [], 'content-type') ?? '');
  return Object.fromEntries(
    parts.map(({ name, filename, body }) => [name, Buffer.from(body).toString(filename === null ? 'utf8' : 'base64')]),
  );
}

it('stability-ai: creates an image with a form that requests JSON', async () => {
  const harness = createHarness();
  const { request, providerRequest, providerReply, reply } = fixture('sd3');
  harness.script(replyWith(200, providerReply));
  const replied = await harness.send({ path: '/v1/images/generations', headers, body: request });
  expect(replied.json.data).toEqual(reply.data);
  const [call] = harness.calls;
  expect([call?.origin, call?.path]).toEqual(['https://api.stability.ai', '/v2beta/stable-image/generate/sd3']);
  for (const [name, value] of [
    ['authorization', 'Bearer sk-st'],
    ['accept', 'application/json'],
    ['stability-client-id', 'my-app'],
  ] as const) {
    expect(findHeader(call?.headers ?? [], name)).toBe(value);
  }
  expect(await sentForm(harness)).toEqual(providerRequest);
  expect(replied.header('x-svc-adapted')).toBe('size->aspect_ratio');
  expect(harness.records).toMatchObject([{ provider: 'stability-ai', media: { units: { generated_images: 1 } } }]);
});

it('stability-ai: calls an engine of version 1 with JSON', async () => {
  const harness = createHarness();
  const { request, providerRequest, providerReply, reply } = fixture('engine');
  harness.script(replyWith(200, providerReply));
  const replied = await harness.send({ path: '/v1/images/generations', headers, body: request });
  expect(replied.json.data).toEqual(reply.data);
  expect(harness.calls[0]?.path).toBe('/v1/generation/stable-diffusion-xl-1024-v1-0/text-to-image');
  expect(JSON.parse(Buffer.from(harness.calls[0]?.body as Uint8Array).toString())).toEqual(providerRequest);
});

it('stability-ai: edits an image of the client’s form', async () => {
  const harness = createHarness();
  const { form, providerReply, reply } = fixture('inpaint');
  const { contentType, body } = encodeForm(
    form.map((part: Record<string, string>) => ({
      name: part.name,
      filename: part.filename ?? null,
      contentType: part.contentType ?? null,
      body: part.base64 === undefined ? Buffer.from(part.text ?? '') : Buffer.from(part.base64, 'base64'),
    })),
  );
  harness.script(replyWith(200, providerReply));
  const replied = await harness.send({ path: '/v1/images/edits', headers: { ...headers, 'content-type': contentType }, body });
  expect(replied.json.data).toEqual(reply.data);
  expect(harness.calls[0]?.path).toBe('/v2beta/stable-image/edit/inpaint');
  expect(await sentForm(harness)).toEqual({ prompt: 'a red roof', image: 'iVBORw0KGgo=', mask: 'iVBORw0KGgoA' });
});

it.each([
  [{ model: 'inpaint', prompt: 'x' }, 'image'],
  [{ model: 'ultra', prompt: 'x', image: 'iVBORw0KGgo=', mask: 'iVBORw0KGgo=' }, 'mask'],
  [{ model: 'stable-diffusion-v1-6', prompt: 'x', image: 'iVBORw0KGgo=' }, 'model'],
])('stability-ai: rejects the edit %j naming the parameter', async (body, param) => {
  const harness = createHarness();
  const reply = await harness.send({ path: '/v1/images/edits', headers, body });
  expect([reply.status, reply.json]).toMatchObject([400, { error: { param } }]);
  expect(harness.calls).toEqual([]);
});

it('stability-ai: names provider and function of missing functions', async () => {
  const harness = createHarness();
  const reply = await harness.send({ headers, body: { model: 'core', messages: [] } });
  expect([reply.status, reply.text]).toEqual([
    400,
    expect.stringContaining('POST /v1/chat/completions is not supported by stability-ai'),
  ]);
});
