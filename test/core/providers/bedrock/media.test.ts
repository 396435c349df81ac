import { describe, expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { encodeForm } from '../../../../core/pipeline/request/form-data.ts';
import { createHarness, type Harness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { fixtureReader } from '../provider-fixtures.ts';

const fixture = fixtureReader(import.meta.dirname);
const signing = {
  provider: 'bedrock',
  aws_region: 'eu-central-1',
  aws_access_key_id: 'AKIDEXAMPLE',
  aws_secret_access_key: 'sk',
};

async function send(harness: Harness, path: string, body: JsonObject | Uint8Array, config: JsonObject = signing, type?: string) {
  harness.addConfig('aws', config);
  const headers = { 'x-svc-config': 'aws', ...(type === undefined ? {} : { 'content-type': type }) };
  return harness.send({ path, headers, body });
}

const sentBody = (harness: Harness) => JSON.parse(Buffer.from(harness.calls[0]?.body as Uint8Array).toString());

describe('images of Bedrock', () => {
  it.each(['image-nova', 'image-stability'])('are created by InvokeModel and counted (%s)', async (name) => {
    const harness = createHarness();
    const { request, providerRequest, providerReply, reply, usage } = fixture(name);
    harness.script(replyWith(200, providerReply));
    const replied = await send(harness, '/v1/images/generations', request);
    expect(replied.json.data).toEqual(reply.data);
    expect(harness.calls[0]?.path).toBe(`/model/${encodeURIComponent(request.model)}/invoke`);
    expect(sentBody(harness)).toEqual(providerRequest);
    expect(harness.records).toMatchObject([{ provider: 'bedrock', media: usage }]);
  });

  it('are edited from a form, which is sent as signed JSON', async () => {
    const harness = createHarness();
    const { form, providerRequest, providerReply, reply } = fixture('edit-nova-mask');
    const { contentType, body } = encodeForm(
      form.map((part: Record<string, string>) => ({
        name: part.name,
        filename: part.filename ?? null,
        contentType: part.contentType ?? null,
        body: part.base64 === undefined ? Buffer.from(part.text ?? '') : Buffer.from(part.base64, 'base64'),
      })),
    );
    harness.script(replyWith(200, providerReply));
    const replied = await send(harness, '/v1/images/edits', body, signing, contentType);
    expect(replied.json.data).toEqual(reply.data);
    expect(sentBody(harness)).toEqual(providerRequest);
    expect(findHeader(harness.calls[0]?.headers ?? [], 'content-type')).toBe('application/json');
    expect(findHeader(harness.calls[0]?.headers ?? [], 'authorization')).toMatch(/^AWS4-HMAC-SHA256 /);
  });

  it.each(['amazon.nova-canvas-v1:0', 'us.amazon.titan-image-generator-v2:0'])('are varied by %s', async (model) => {
    const harness = createHarness();
    const field = (name: string, text: string) => ({ name, filename: null, contentType: null, body: Buffer.from(text) });
    const { contentType, body } = encodeForm([
      { name: 'image', filename: 'a.png', contentType: 'image/png', body: Buffer.from('pixels') },
      field('model', model),
      field('n', '2'),
      field('size', '1024x512'),
      field('response_format', 'b64_json'),
    ]);
    harness.script(replyWith(200, { images: ['b25l', 'dHdv'] }));
    const replied = await send(harness, '/v1/images/variations', body, signing, contentType);
    expect(replied.json.data).toEqual([{ b64_json: 'b25l' }, { b64_json: 'dHdv' }]);
    expect(harness.calls[0]?.path).toBe(`/model/${encodeURIComponent(model)}/invoke`);
    expect(sentBody(harness)).toEqual({
      taskType: 'IMAGE_VARIATION',
      imageVariationParams: { images: [Buffer.from('pixels').toString('base64')] },
      imageGenerationConfig: { numberOfImages: 2, width: 1024, height: 512 },
    });
    expect(harness.records).toMatchObject([{ media: { units: { generated_images: 2 } } }]);
  });

  it('cannot be varied by models that need a prompt', async () => {
    const harness = createHarness();
    const { contentType, body } = encodeForm([
      { name: 'image', filename: 'a.png', contentType: 'image/png', body: Buffer.from('pixels') },
      { name: 'model', filename: null, contentType: null, body: Buffer.from('stability.sd3-5-large-v1:0') },
    ]);
    const reply = await send(harness, '/v1/images/variations', body, signing, contentType);
    expect([reply.status, reply.json]).toMatchObject([400, { error: { param: 'prompt' } }]);
  });

  it.each([
    ['/v1/images/generations', { model: 'anthropic.claude-sonnet-4-5', prompt: 'x' }, 'model'],
    ['/v1/images/edits', { model: 'amazon.nova-canvas-v1:0', prompt: 'x' }, 'image'],
    ['/v1/images/edits', { model: 'amazon.nova-canvas-v1:0', prompt: 'x', image: 'https://example.com/a.png' }, 'image'],
    [
      '/v1/images/edits',
      { model: 'stability.sd3-5-large-v1:0', prompt: 'x', image: 'iVBORw0KGgo=', mask: 'iVBORw0KGgo=' },
      'mask',
    ],
    ['/v1/embeddings', { model: 'amazon.nova-2-multimodal-embeddings-v1:0', input: ['a', 'b'] }, 'input'],
    ['/v1/embeddings', { model: 'amazon.titan-embed-text-v2:0', input: [[1, 2]] }, 'input'],
    ['/v1/embeddings', { model: 'amazon.titan-embed-text-v2:0', input: [{ image: 'iVBORw0KGgo=' }] }, 'input'],
    ['/v1/rerank', { model: 'amazon.rerank-v1:0', query: 'x', documents: [] }, 'documents'],
    ['/v1/rerank', { model: 'amazon.rerank-v1:0', documents: ['x'] }, 'query'],
  ])('on %s with unsupported parameters are rejected by name: %j', async (path, body, param) => {
    const harness = createHarness();
    const reply = await send(harness, path, body);
    expect([reply.status, reply.json]).toMatchObject([400, { error: { param } }]);
    expect(harness.calls).toEqual([]);
  });
});

describe('rerank of Bedrock', () => {
  const { request, providerReply, reply } = fixture('rerank');

  it('uses the agent runtime of the region and counts search units', async () => {
    const harness = createHarness();
    harness.script(replyWith(200, providerReply));
    const replied = await send(harness, '/v1/rerank', request);
    expect(replied.json).toEqual(reply);
    const [call] = harness.calls;
    expect([call?.origin, call?.path]).toEqual(['https://bedrock-agent-runtime.eu-central-1.amazonaws.com', '/rerank']);
    expect(findHeader(call?.headers ?? [], 'authorization')).toContain('/eu-central-1/bedrock/aws4_request');
    const { modelConfiguration } = sentBody(harness).rerankingConfiguration.bedrockRerankingConfiguration;
    expect(modelConfiguration.modelArn).toBe('arn:aws:bedrock:eu-central-1::foundation-model/cohere.rerank-v3-5:0');
    expect(harness.records).toMatchObject([{ provider: 'bedrock', media: { units: { search_units: 1 } } }]);
  });

  it.each([
    [{ provider: 'bedrock', aws_auth_type: 'apiKey', api_key: 'bk' }, 'https://bedrock-runtime.us-east-1.amazonaws.com'],
    [{ ...signing, custom_host: 'https://vpce-1.example.com' }, 'https://vpce-1.example.com'],
  ])('calls the model itself if the agent runtime cannot be used: %j', async (config, origin) => {
    const harness = createHarness();
    harness.script(replyWith(200, { results: [{ index: 1, relevance_score: 0.9 }] }));
    const replied = await send(harness, '/v1/rerank', { ...request, documents: ['Rome', 'Paris'] }, config);
    expect(replied.json.results).toEqual([{ index: 1, relevance_score: 0.9, document: { text: 'Paris' } }]);
    expect(harness.calls).toMatchObject([{ origin, path: '/model/cohere.rerank-v3-5%3A0/invoke' }]);
  });
});

it('Bedrock models: lists the foundation models of the region, signed', async () => {
  const harness = createHarness({ key: { scopes: ['completions.write', 'models.list'] } });
  harness.script(
    replyWith(200, { modelSummaries: [{ modelId: 'amazon.nova-pro-v1:0', modelName: 'Nova Pro', providerName: 'Amazon' }] }),
  );
  harness.addConfig('aws', signing);
  const reply = await harness.send({ method: 'GET', path: '/v1/models', headers: { 'x-svc-config': 'aws' }, body: '' });
  expect(reply.json.data).toMatchObject([{ id: 'amazon.nova-pro-v1:0', owned_by: 'Amazon', provider: 'bedrock' }]);
  expect(harness.calls).toMatchObject([
    { method: 'GET', origin: 'https://bedrock.eu-central-1.amazonaws.com', path: '/foundation-models' },
  ]);
  expect(findHeader(harness.calls[0]?.headers ?? [], 'authorization')).toMatch(/^AWS4-HMAC-SHA256 /);
});
