import { describe, expect, it } from 'vitest';
import { allButBad, ask, json, onlyGood, restricted } from './restricted.ts';

describe('a model allow-list for the routes of one provider', () => {
  const aws = { aws_auth_type: 'accessKey', aws_access_key_id: 'AKIDEXAMPLE', aws_region: 'us-east-1' };
  it.each([
    ['azure-openai', {}, 'x-ms-oai-image-generation-deployment'],
    ['azure-ai', {}, 'x-ms-oai-image-generation-deployment'],
    ['azure-ai', {}, 'azureml-model-deployment'],
    ['sagemaker', aws, 'x-amzn-sagemaker-target-model'],
    ['sagemaker', aws, 'x-amzn-sagemaker-inference-component'],
  ])('applies to headers that %s reads: %j %s', async (provider, settings, name) => {
    for (const [value, isAllowed] of [
      ['bad', false],
      ['good', true],
    ] as const) {
      const harness = restricted(onlyGood, { provider, settings: { ...settings, custom_host: 'https://one.example' } });
      const headers = { authorization: `Bearer ${harness.key}`, 'x-svc-provider': '@one', 'content-type': json, [name]: value };
      const body = '{"model":"good","input":"x"}';
      const { status } = await harness.send({ method: 'POST', path: '/v1/proxy/other/route', headers, body });
      expect([value, status !== 412]).toEqual([value, isAllowed]);
    }
  });

  it.each([
    ['openai', 'other/route?model_id=bad', 412],
    ['sagemaker', 'endpoints/bad/invocations', 412],
    ['sagemaker', 'endpoints/bad/invocations-response-stream', 412],
    ['databricks', 'bad/invocations', 412],
    ['databricks', 'good/invocations', 200],
    ['vertex-ai', 'projects/p/locations/l/endpoints/bad/chat/completions', 412],
    ['vertex-ai', 'projects/p/locations/l/endpoints/openapi/chat/completions', 200],
    ['segmind', 'bad', 412],
    ['segmind', 'good', 200],
    ['fal-ai', 'fal-ai/bad', 412],
    ['stability-ai', 'v2beta/stable-image/generate/ultra', 412],
    ['stability-ai', 'generation/bad/text-to-image', 412],
    ['stability-ai', 'v2beta/stable-image/generate/sd3', 200],
    ['huggingface', 'hf-inference/models/bad', 412],
    ['huggingface', 'hf-inference/models/of/bad/pipeline/feature-extraction', 412],
    ['huggingface', 'hf-inference/models/good/v1/chat/completions', 200],
    ['replicate', 'models/of%2Fbad/predictions', 412],
    ['replicate', 'models/good/predictions', 200],
    ['triton', 'models/bad/versions/1/infer', 412],
    ['triton', 'models/good/generate', 200],
    ['predibase', 't/deployments/v2/llms/bad/v1/chat/completions', 412],
    ['predibase', 't/deployments/v2/llms/good/v1/chat/completions', 200],
    ['fireworks-ai', 'workflows/accounts/fireworks/models/bad/text_to_image', 412],
    ['fireworks-ai', 'image_generation/bad', 412],
    ['fireworks-ai', 'workflows/good/text_to_image', 200],
    ['ollama', 'api/copy', 400],
    ['ollama', 'api/create', 400],
  ])('applies to what %s runs at the path %s', async (provider, path, status) => {
    const settings = {
      ...(provider === 'sagemaker' && aws),
      ...(provider === 'vertex-ai' && { vertex_auth_type: 'basic', vertex_project_id: 'p', vertex_region: 'us-central1' }),
      custom_host: 'https://one.example',
    };
    const body = '{"model":"good","source":"bad","from":"bad","destination":"good"}';
    expect((await ask(restricted(onlyGood, { provider, settings }), `/v1/proxy/${path}`, json, body)).status).toBe(status);
  });

  it.each([
    ['triton', 'models/bad/generate'],
    ['predibase', 't/deployments/v2/llms/bad/v1/chat/completions'],
    ['fireworks-ai', 'workflows/accounts/fireworks/models/bad/text_to_image'],
    ['huggingface', 'hf-inference/models/bad/pipeline/feature-extraction'],
  ])('is also a list of rejected models for what %s runs at the path %s', async (provider, path) => {
    const harness = restricted(allButBad, { provider, settings: { custom_host: 'https://one.example' } });
    const reply = await ask(harness, `/v1/proxy/${path}`, json, '{"model":"good"}');
    expect(reply.json).toMatchObject({ error: { code: 'model_not_allowed' } });
  });

  it('fixes settings that select a part of a SageMaker endpoint', async () => {
    const harness = restricted(onlyGood, { provider: 'sagemaker', settings: aws });
    const headers = { 'x-svc-provider': '@one', 'x-svc-amzn-sagemaker-inference-component': 'bad' };
    const reply = await harness.send({ path: '/v1/chat/completions', headers, body: { model: 'good', messages: [] } });
    expect(reply.json).toMatchObject({ error: { code: 'invalid_config', param: 'amzn_sagemaker_inference_component' } });
  });

  it('applies to the version of a prediction', async () => {
    for (const [body, status] of [
      ['{"model":"good","version":"bad"}', 412],
      ['{"version":"good"}', 200],
    ] as const) {
      const harness = restricted(onlyGood, { provider: 'replicate' });
      expect((await ask(harness, '/v1/predictions', json, body)).status).toBe(status);
    }
  });
});
