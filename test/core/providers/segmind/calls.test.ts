import { expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import { createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { fixtureReader } from '../provider-fixtures.ts';

const fixture = fixtureReader(import.meta.dirname);
const headers = { 'x-svc-provider': 'segmind', 'x-api-key': 'sg-key', authorization: 'Bearer sg-key' };

it('segmind: creates an image at the path of its model', async () => {
  const harness = createHarness();
  const { request, providerRequest, providerReply, reply } = fixture('stable-diffusion');
  harness.script(replyWith(200, providerReply));
  const replied = await harness.send({ path: '/v1/images/generations', headers, body: request });
  expect(replied.json.data).toEqual(reply.data);
  const [call] = harness.calls;
  expect([call?.origin, call?.path]).toEqual(['https://api.segmind.com', '/v1/sdxl1.0-txt2img']);
  expect(findHeader(call?.headers ?? [], 'x-api-key')).toBe('sg-key');
  expect(JSON.parse(Buffer.from(call?.body as Uint8Array).toString())).toEqual(providerRequest);
  expect(harness.records).toMatchObject([{ provider: 'segmind', media: { units: { generated_images: 1 } } }]);
});

it('segmind: accepts a binary image', async () => {
  const harness = createHarness();
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]);
  harness.script((_call, handler) => {
    handler.onHead(200, ['content-type', 'image/png']);
    handler.onData(bytes);
    handler.onEnd();
  });
  const body = { model: 'flux-schnell', prompt: 'a lighthouse', base64: false };
  const reply = await harness.send({ path: '/v1/images/generations', headers, body });
  expect(reply.json.data).toEqual([{ b64_json: bytes.toString('base64') }]);
});

it.each(['', '..', 'a/b', 'a?b'])('segmind: rejects the model "%s"', async (model) => {
  const harness = createHarness();
  const reply = await harness.send({ path: '/v1/images/generations', headers, body: { model, prompt: 'x' } });
  expect(reply.status).toBe(400);
  expect(harness.calls).toEqual([]);
});
