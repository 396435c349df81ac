import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { modelHeaders } from '../../../core/providers/index.ts';
import { FakeSink, fakeRequest } from '../../../core/test-kit/fake-exchange.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

const json = { 'content-type': 'application/json' };
const multipart = { 'content-type': 'multipart/form-data; boundary=b' };
const config = JSON.stringify({
  provider: '@one',
  input_guardrails: [{ 'default.modelWhitelist': { models: ['good'] }, deny: true }],
});

const form = (...models: string[]): string =>
  `${models.map((model) => `--b\r\ncontent-disposition: form-data; name="model"\r\n\r\n${model}\r\n`).join('')}--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--b--\r\n`;

async function ask(path: string, headers: Record<string, string>, body: string | Uint8Array) {
  const gateway = createHarness();
  const { status } = await gateway.send({ method: 'POST', path, headers: { 'x-svc-config': config, ...headers }, body });
  return { status, calls: gateway.calls.length };
}

describe('default.modelWhitelist', () => {
  it.each(['default.modelwhitelist', 'modelwhitelist'])('runs for the id %s of the manifest', async (id) => {
    const gateway = createHarness();
    const lists = [{ [id]: { models: ['good'] }, deny: true }];
    const headers = { ...json, 'x-svc-config': JSON.stringify({ provider: '@one', input_guardrails: lists }) };
    const { status } = await gateway.send({ headers, body: { model: 'bad', messages: [] } });
    expect(status).toBe(446);
  });

  it.each([
    ['another spelling', '/v1/chat/completions', json, '{"messages":[],"model":"good","Model":"bad"}'],
    ['two models of a form', '/v1/audio/transcriptions', multipart, form('good', 'bad')],
    ['another spelling of pass-through', '/v1/proxy/chat/completions', json, '{"model":"good","Model":"bad"}'],
    ['the body beside the query', '/v1/proxy/chat/completions?model=good', json, '{"model":"bad"}'],
    ['text beside the query', '/v1/proxy/chat/completions?model=good', { 'content-type': 'text/plain' }, '{"model":"bad"}'],
    [
      'a compressed body beside the query',
      '/v1/proxy/chat/completions?model=good',
      { ...json, 'content-encoding': 'gzip' },
      gzipSync('{"model":"bad"}'),
    ],
    [
      'an encoded form beside the query',
      '/v1/proxy/x?model=good',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'model=bad',
    ],
    ['requests of a batch', '/v1/proxy/messages/batches', json, '{"requests":[{"params":{"model":"bad"}}]}'],
    ['no model', '/v1/proxy/threads/t/runs', json, '{"assistant_id":"a"}'],
    ['the version of a prediction', '/v1/proxy/predictions', json, '{"model":"good","version":"bad"}'],
  ])('denies a request with %s', async (_what, path, headers, body) => {
    expect(await ask(path, headers, body)).toEqual({ status: 446, calls: 0 });
  });

  it.each([
    ['/v1/chat/completions', json, '{"messages":[],"model":"good"}'],
    ['/v1/audio/transcriptions', multipart, form('good')],
    ['/v1/proxy/audio/transcriptions', multipart, form('good')],
    ['/v1/proxy/messages/batches', json, '{"requests":[{"params":{"model":"good"}}]}'],
    ['/v1/proxy/x?model=good', json, '{"url":"x"}'],
    ['/v1/listen?model=good', { 'content-type': 'audio/wav' }, 'sound'],
    ['/v1/proxy/vector_stores', json, '{"name":"x"}'],
  ])('allows %s', async (path, headers, body) => {
    expect(await ask(path, headers, body)).toEqual({ status: 200, calls: 1 });
  });

  it.each(modelHeaders)('denies a request that selects another model with %s', async (name) => {
    for (const path of ['/v1/proxy/responses', '/v1/responses']) {
      const good = { model: 'good', input: 'hi' };
      expect(await ask(path, { ...json, [name]: 'bad' }, JSON.stringify(good))).toEqual({ status: 446, calls: 0 });
      expect((await ask(path, { ...json, [name]: 'good' }, JSON.stringify(good))).calls).toBe(1);
    }
  });

  it.each(['model=bad', 'deployment=bad', 'model=bad&deployment=good'])(
    'denies a realtime session with another model before it begins: %s',
    async (query) => {
      const gateway = createHarness();
      const headers = { 'x-svc-config': config };
      const sink = new FakeSink();
      const request = fakeRequest({ method: 'GET', path: `/v1/realtime?${query}`, headers, body: '' }, gateway.key);
      gateway.handle({ ...request, webSocketProtocols: [] }, sink);
      await sink.done;
      expect([sink.status, gateway.calls.length]).toEqual([446, 0]);
    },
  );

  it.each([
    ['segmind', '/bad'],
    ['fal-ai', '/fal-ai/bad'],
    ['stability-ai', '/v2beta/stable-image/generate/bad'],
    ['replicate', '/models/owner/bad/predictions'],
    ['predibase', '/deployments/v2/llms/bad/generate'],
    ['fireworks-ai', '/workflows/accounts/a/models/bad/text_to_image'],
  ])('judges the model in a pass-through path of %s beside that of the body', async (provider, path) => {
    const one = { ...JSON.parse(config), provider, api_key: 'key' };
    const headers = { ...json, 'x-svc-config': JSON.stringify(one) };
    expect(await ask(`/v1/proxy${path}`, headers, '{"model":"good"}')).toEqual({ status: 446, calls: 0 });
  });

  it('judges the model of a pass-through request once if its target reads it where all others do', async () => {
    const gateway = createHarness();
    const headers = { 'x-svc-config': config, ...json };
    await gateway.send({ method: 'POST', path: '/v1/proxy/chat/completions', headers, body: '{"model":"good"}' });
    expect(gateway.records[0]?.guardrails).toHaveLength(1);
  });

  it.each([
    ['segmind', '/good', 200],
    ['segmind', '/bad', 446],
    ['huggingface', '/hf-inference/models/good/pipeline/feature-extraction', 200],
    ['huggingface', '/hf-inference/models/bad/pipeline/feature-extraction', 446],
    // These providers read no model in the path.
    ['openai', '/good', 446],
    ['huggingface', '/good', 446],
  ])('judges the model in a pass-through path of %s if the body names none: %s', async (provider, path, status) => {
    const one = { ...JSON.parse(config), provider, api_key: 'key' };
    const headers = { ...json, 'x-svc-config': JSON.stringify(one) };
    expect(await ask(`/v1/proxy${path}`, headers, '{"inputs":"x"}')).toEqual({ status, calls: status === 200 ? 1 : 0 });
  });

  it('judges the model in a pass-through path for each target that is tried', async () => {
    const targets = ['segmind', 'fal-ai', 'openai'].map((provider) => ({ provider, api_key: 'key' }));
    const strategy = { mode: 'fallback', on_status_codes: [446] };
    const { provider: _provider, ...guardrails } = JSON.parse(config);
    const headers = (given: object[]) => ({
      ...json,
      'x-svc-config': JSON.stringify({ ...guardrails, strategy, targets: given }),
    });
    const body = '{"model":"good","prompt":"a fox"}';
    expect(await ask('/v1/proxy/bad', headers(targets.slice(0, 2)), body)).toEqual({ status: 446, calls: 0 });
    // This provider reads the model of the body.
    expect(await ask('/v1/proxy/bad', headers(targets), body)).toEqual({ status: 200, calls: 1 });
    expect(await ask('/v1/proxy/good', headers(targets), body)).toEqual({ status: 200, calls: 1 });
  });
});
