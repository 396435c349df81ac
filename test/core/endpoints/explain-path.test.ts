import { describe, expect, it } from 'vitest';
import { explainPath } from '../../../core/endpoints/explain-path.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

describe('hints for unknown paths', () => {
  it.each([
    ['POST', '/v1/chat/completion', 404, 'Did you mean /v1/chat/completions?'],
    ['POST', '/v1/mesages', 404, 'Did you mean /v1/messages?'],
    ['POST', '/v1/image/generations', 404, 'Did you mean /v1/images/generations?'],
    ['POST', '/v1/v1/messages', 404, 'Did you mean /v1/messages? This client adds /v1 itself: set its base URL without /v1.'],
    [
      'POST',
      '/v1beta/models/m:generateContent',
      404,
      'Did you mean /v1/v1beta/models/m:generateContent? Set the base URL of the client with /v1 at its end.',
    ],
    ['POST', '/chat/completions', 404, 'Did you mean /v1/chat/completions? Set the base URL of the client with /v1 at its end.'],
    ['POST', '/v1/openai/deployments/gpt/chat/completions', 404, 'Set the endpoint of the client without /v1.'],
    ['POST', '/api/v1/chat/completions', 404, 'Routes begin with /v1; GET /v1/docs lists them.'],
    ['GET', '/v1', 404, 'Routes begin with /v1; GET /v1/docs lists them.'],
    ['GET', '/v1/integratoins', 404, 'Did you mean /v1/integrations?'],
    ['PUT', '/v1/provdiers/prod', 404, 'Did you mean /v1/providers/prod?'],
    ['POST', '/v1/registry/x', 404, 'To call the route of a provider, use /v1/proxy/registry/x.'],
    ['GET', '/v1/chat/completions', 405, 'GET is not allowed on /v1/chat/completions. Use POST.'],
    ['HEAD', '/v1/embeddings', 405, 'HEAD is not allowed on /v1/embeddings. Use POST.'],
    ['GET', '/v2/rerank', 405, 'Use POST.'],
    ['OPTIONS', '/v1/anything', 405, 'not allowed'],
  ])('%s %s: %i %s', (method, path, status, words) => {
    const error = explainPath(method, path);
    expect(error?.status).toBe(status);
    expect(error?.message).toContain(words);
    expect(error?.allow !== null).toBe(status === 405);
  });

  it.each([
    ['POST', '/v1/assistants'],
    ['POST', '/v1/proxy/chat/completion'],
  ])('%s %s has no hint', (method, path) => {
    expect(explainPath(method, path)).toBeNull();
  });
});

describe('requests to unknown paths', () => {
  const auth = (key: string) => ({ authorization: `Bearer ${key}` });

  it.each([
    ['POST', '/v1/chat/completion', 404, undefined],
    ['GET', '/v1/chat/completions', 405, 'POST'],
    ['POST', '/v1/v1/messages', 404, undefined],
    ['POST', '/v1/registry/x', 404, undefined],
  ])('%s %s without a provider is %i', async (method, path, status, allow) => {
    const harness = createHarness();
    const reply = await harness.send({ method, path, headers: auth(harness.key), body: '{}' });
    expect(reply.status).toBe(status);
    expect(reply.header('allow')).toBe(allow);
    expect(reply.header('x-request-id')).toBe(reply.header('x-svc-trace-id'));
    expect(harness.calls).toHaveLength(0);
    expect(harness.records).toHaveLength(1);
  });

  it('with a provider pass through', async () => {
    const harness = createHarness();
    const headers = { ...auth(harness.key), 'x-svc-provider': '@one' };
    const reply = await harness.send({ method: 'GET', path: '/v1/chat/completions', headers });
    expect(reply.status).toBe(200);
    expect(harness.calls[0]).toMatchObject({ method: 'GET', path: '/v1/chat/completions' });
  });

  it('never reach a provider if the path is reserved', async () => {
    const harness = createHarness();
    const headers = { ...auth(harness.key), 'x-svc-provider': '@one' };
    for (const path of ['/v1/agent', '/v1/agent/x/../y', '/v1/datasets', '/v1/gateway/tokenize', '/v1/v1/dataservice']) {
      expect((await harness.send({ method: 'POST', path, headers, body: '{}' })).status).toBe(404);
    }
    expect(harness.calls).toHaveLength(0);
    await harness.send({ method: 'POST', path: '/v1/proxy/datasets', headers, body: '{}' });
    expect(harness.calls[0]?.path).toBe('/v1/datasets');
  });
});
