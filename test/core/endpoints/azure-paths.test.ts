import { describe, expect, it } from 'vitest';
import { findHeader, type RequestBody } from '../../../core/contract/values/http/http.ts';
import { deploymentPaths } from '../../../core/endpoints/azure-paths.ts';
import { controlPlaneSegments } from '../../../core/endpoints/control-plane-paths.ts';
import { explainPath } from '../../../core/endpoints/explain-path.ts';
import { errorFormatOf, matchEndpoint, routeMethods } from '../../../core/endpoints/match-endpoint.ts';
import { encodeForm, parseForm } from '../../../core/pipeline/request/form-data.ts';
import { createHarness, type Harness } from '../../../core/test-kit/pipeline-harness.ts';

describe('paths of Azure’s SDKs', () => {
  it.each([
    ['POST', '/openai/deployments/gpt-4o/chat/completions', 'chatComplete', 'gpt-4o'],
    ['POST', '/openai/v1/deployments/gpt-4o/chat/completions', 'chatComplete', 'gpt-4o'],
    ['POST', '/openai/deployments/%40mock%2Fa%2Fb%20c/embeddings', 'embed', '@mock/a/b c'],
    ['POST', '/openai/deployments/@mock/chat/completions', 'chatComplete', '@mock'],
    ['POST', '/openai/deployments/@mock/a/b/chat/completions', 'chatComplete', '@mock/a/b'],
    ['POST', '/openai/deployments/%40mock/m/completions', 'complete', '@mock/m'],
    ['POST', '/openai/deployments/@mock/v1/admin/users/embeddings', 'embed', '@mock/v1/admin/users'],
    ['POST', '/openai/deployments/whisper/audio/transcriptions', 'createTranscription', 'whisper'],
    ['POST', '/openai/deployments/d/images/edits', 'imageEdit', 'd'],
    ['POST', '/openai/deployments/d/batches', 'createBatch', 'd'],
    ['POST', '/openai/v1/chat/completions', 'chatComplete', null],
    ['POST', '/openai/chat/completions', 'chatComplete', null],
    ['POST', '/openai/responses', 'createModelResponse', null],
    ['GET', '/openai/v1/responses/resp_1/input_items', 'listResponseInputItems', null],
    ['POST', '/openai/files', 'uploadFile', null],
    ['POST', '/openai/batches/b/cancel', 'cancelBatch', null],
    ['POST', '/openai/fine_tuning/jobs', 'createFinetune', null],
    ['GET', '/openai/models', 'listModels', null],
    ['GET', '/openai/v1/models', 'listModels', null],
    ['GET', '/openai/realtime', 'realtime', null],
    ['GET', '/openai/v1/realtime', 'realtime', null],
  ])('%s %s is %s with the deployment %s', (method, path, name, azureDeployment) => {
    expect(matchEndpoint(method, path)).toMatchObject({ name, azureDeployment });
    expect(errorFormatOf(method, path)).toBe('chat');
  });

  it.each([
    ['POST', '/openai/threads', '/threads'],
    ['GET', '/openai/v1/models/gpt-4o', '/models/gpt-4o'],
    ['GET', '/openai/deployments', '/deployments'],
    ['GET', '/openai/deployments/d1', '/deployments/d1'],
    ['GET', '/openai/v1/v1/vector_stores', '/vector_stores'],
  ])('%s %s passes through as %s', (method, path, proxyPath) => {
    expect(matchEndpoint(method, path)).toMatchObject({ name: 'proxy', proxyPath });
  });

  it.each([
    ...controlPlaneSegments.flatMap((segment) => [segment, `v1/${segment}`, `v1/v1/${segment}`, `deployments/d/${segment}`]),
    'v1/admin/users',
    'configs/explain',
    'prompts/p/completions',
    'guardrails/invoke',
    'agent/a',
    'mcp/m',
    'proxy/chat/completions',
    'proxy/admin/users',
    'deployments/d/proxy/x',
    'deployments/d/v1/admin/users',
    'deployments/d/deployments/e/chat/completions',
    'deployments/d/e/chat/completions',
    'deployments/@d/e/responses',
    'deployments/@d/v1/admin/users',
    'deployments/@d/../v1/configs/chat/completions',
    'deployments/@d%2F..%2F..%2Fv1/e/chat/completions',
    'deployments/d/responses',
    'deployments/d/files',
    'deployments/d/threads',
    'deployments//chat/completions',
    'deployments/../v1/configs',
    'deployments/%2e%2e/chat/completions',
    'deployments/%252e%252e/chat/completions',
    'deployments/a%2F..%2F..%2Fadmin/chat/completions',
    'deployments/a%2F%2e%2e/chat/completions',
    'deployments/a%0d%0ab/chat/completions',
    'deployments/a%00/chat/completions',
    'deployments/%zz/chat/completions',
    'deployments/%ff/chat/completions',
    '../v1/configs',
    '%2e%2e/v1/configs',
    'v1/..%2fv1/%2E./configs',
    'v1/chat/../../../v1/configs',
  ])('/openai/%s reaches neither the control plane nor a provider', (below) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
      expect(['not-found', 'method-not-allowed']).toContain(matchEndpoint(method, `/openai/${below}`));
      expect(explainPath(method, `/openai/${below}`)).not.toBeNull();
      expect(errorFormatOf(method, `/openai/${below}`)).toBe('chat');
    }
  });

  it.each(['/openai', '/openai%2Fv1/configs', '/Openai/models', '/openai2/models', '/v2/openai/models'])(
    '%s is no path of Azure’s SDKs',
    (path) => {
      const match = matchEndpoint('GET', path);
      expect(match).toBe(path.startsWith('/v2/') ? 'control-plane' : 'not-found');
    },
  );

  it('notes of the control plane about batches are not reachable', () => {
    expect(matchEndpoint('PUT', '/openai/batches/b')).toBe('method-not-allowed');
    expect(errorFormatOf('PUT', '/openai/batches/b')).toBe('chat');
  });

  it.each([
    ['/openai/deployments/d/chat/completions', ['POST']],
    ['/openai/v1/responses/r', ['GET', 'DELETE']],
    ['/openai/configs', []],
    ['/openai/deployments/d/files', []],
  ])('%s has the methods %j', (path, methods) => {
    expect(routeMethods(path)).toEqual(methods);
  });

  it.each([
    ['GET', '/openai/deployments/d/chat/completions', 405, 'Use POST.'],
    ['POST', '/openai/deployments/d/files', 404, `Routes with a deployment: ${deploymentPaths.join(', ')}.`],
    ['POST', '/openai/v1/admin/users', 404, 'Use /v1.'],
    ['POST', '/openai/deployments/%zz/chat/completions', 404, 'percent-encoded'],
    ['POST', '/openai/v1/chat/completion', 404, 'Did you mean /v1/chat/completions?'],
  ])('%s %s without a provider is %i: %s', (method, path, status, words) => {
    expect(explainPath(method, path)).toMatchObject({ status, message: expect.stringContaining(words) });
  });
});

describe('requests with a deployment', () => {
  const field = (name: string, value: string) => ({ name, filename: null, contentType: null, body: Buffer.from(value) });
  const file = { name: 'file', filename: 'a.wav', contentType: 'audio/wav', body: Buffer.alloc(100_000, 7) };
  const path = '/openai/deployments/%40two%2Fd1/audio/transcriptions';
  const messages = [{ role: 'user', content: 'hi' }];

  async function sent(harness: Harness): Promise<Buffer> {
    const body = harness.calls.at(-1)?.body;
    if (body instanceof Uint8Array) return Buffer.from(body);
    const chunks: Uint8Array[] = [];
    await new Promise<void>((resolve, reject) => {
      (body as RequestBody).pipe({ onData: (chunk) => chunks.push(chunk) > 0, onEnd: resolve, onError: reject }, 1e9);
    });
    return Buffer.concat(chunks);
  }

  function form(parts: Parameters<typeof encodeForm>[0], key: string) {
    const { contentType, body } = encodeForm(parts);
    return { method: 'POST', path: `${path}?api-version=1`, headers: { 'api-key': key, 'content-type': contentType }, body };
  }

  const modelsSent = async (harness: Harness) => {
    const parts = await parseForm(await sent(harness), findHeader(harness.calls.at(-1)?.headers ?? [], 'content-type') ?? '');
    expect(parts.find((part) => part.name === 'file')?.body.length).toBe(file.body.length);
    return parts.filter((part) => part.name === 'model').map((part) => Buffer.from(part.body).toString());
  };

  it.each([[{}], [{ model: 'other' }], [{ model: '@one/d1' }], [{ model: 5 }], [{ pad: 'x'.repeat(200_000) }]])(
    'have it as model, with its slug: %#',
    async (more) => {
      const harness = createHarness();
      const reply = await harness.send({
        path: '/openai/deployments/%40two%2Fd1/chat/completions?api-version=2024-10-21',
        headers: { 'api-key': harness.key },
        body: { messages, ...more },
      });
      expect(reply.status).toBe(200);
      expect(harness.calls[0]).toMatchObject({ path: '/v1/chat/completions' });
      expect(JSON.parse((await sent(harness)).toString())).toEqual({ messages, ...more, model: 'd1' });
      expect(harness.records[0]).toMatchObject({ endpoint: 'chatComplete', model: 'd1' });
    },
  );

  it('keep the bytes of a body that names the same model', async () => {
    const harness = createHarness();
    const body = Buffer.from('{ "messages": [{"role":"user","content":"hi"}], "temperature": 1.0, "model": "d1" }');
    const headers = { 'api-key': harness.key, 'x-svc-provider': '@one' };
    await harness.send({ path: '/openai/deployments/d1/chat/completions', headers, body });
    expect((await sent(harness)).equals(body)).toBe(true);
  });

  it('with equal bodies and other deployments share no cached reply', async () => {
    const harness = createHarness();
    const config = JSON.stringify({ provider: '@one', cache: { mode: 'simple' } });
    for (const deployment of ['d1', 'd2', 'd1']) {
      const headers = { 'api-key': harness.key, 'x-svc-config': config };
      await harness.send({ path: `/openai/deployments/${deployment}/chat/completions`, headers, body: { messages } });
    }
    expect(harness.calls).toHaveLength(2);
  });

  it.each([
    ['no model', [file]],
    ['another model', [field('model', 'other'), file]],
    ['a model behind the file', [file, field('model', 'other')]],
    ['two models', [field('model', 'a'), field('model', 'b'), file]],
    ['a list', [field('model[]', 'a'), file]],
  ])('in a form with %s have the deployment as their one model', async (_, parts) => {
    const harness = createHarness();
    expect((await harness.send(form(parts, harness.key))).status).toBe(200);
    expect(await modelsSent(harness)).toEqual(['d1']);
    expect(harness.calls[0]?.path).toBe('/v1/audio/transcriptions');
  });

  it('in a form that streams need a model before the file', async () => {
    const harness = createHarness({ formBytesMax: 70_000 });
    expect((await harness.send(form([field('model', 'other'), file], harness.key))).status).toBe(200);
    expect(await modelsSent(harness)).toEqual(['d1']);
    const refused = await harness.send(form([file], harness.key));
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('before the file');
  });

  it.each(['/openai/files', '/openai/v1/batches'])('lists of %s are read without api-version', async (path) => {
    const harness = createHarness();
    const headers = { 'api-key': harness.key, 'x-svc-provider': '@one' };
    await harness.send({ method: 'GET', path: `${path}?api-version=preview&limit=2&after=x`, headers, body: '' });
    expect(harness.calls[0]?.path).toBe(path.replace(/^\/openai(?:\/v1)?/, '/v1').concat('?limit=2&after=x'));
  });
});
