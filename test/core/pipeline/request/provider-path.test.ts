import { describe, expect, it } from 'vitest';
import { createHarness } from '../../../../core/test-kit/pipeline-harness.ts';

function headersOf(harness: ReturnType<typeof createHarness>): Record<string, string> {
  return { authorization: `Bearer ${harness.key}`, 'x-svc-provider': '@one' };
}

describe('pass-through paths', () => {
  it.each([
    '/v1/proxy/../../admin',
    '/v1/proxy/../admin',
    '/v1/things/../../admin',
    '/v1/things/%2e%2e/%2E%2E/admin',
    '/v1/things/.%2e/%2e./admin',
    '/v1/things/%252e%252e/%252e%252e/admin',
    '/v1/things/%25252e%25252e/..',
    '/v1/things/..;a=b/..;/admin',
    '/v1/things/..%2f..%2fadmin',
    '/v1/things/..%5c..%5cadmin',
    '/v1/things//../../admin',
    '/v1/things/./../../admin',
    '/v1/a%2fb/../../../admin',
    '/v1/v1/../admin',
    '/v1/..',
    '/v1/files/..',
    '/v1/files/%2e%2e/content',
    '/v1/files/..%2f..%2fadmin',
    '/v1/batches/..%252fx',
    '/v1/proxy/files/../chat/completions',
    '/v1/proxy/files/%2e%2e/chat/completions',
    '/v1/proxy/models/./gpt-5:generateContent',
    '/v1/proxy/models/%2e/gpt-5:generateContent',
    '/v1/things/../other',
    '/v1/files/.',
  ])('%s has a dot segment and is 400', async (path) => {
    const harness = createHarness();
    const reply = await harness.send({ method: 'GET', path, headers: headersOf(harness) });
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({
      error: { code: 'bad_request', param: /^.v1.(files|batches)/.test(path) ? 'id' : 'target' },
    });
    expect(harness.calls).toHaveLength(0);
  });

  it.each([
    ['/v1/things//a/b%2Fc/%25/x..y/...', '/v1/things//a/b%2Fc/%25/x..y/...'],
    ['/v1/things/.a/b.;c', '/v1/things/.a/b.;c'],
    ['/v1/things/..a/a..', '/v1/things/..a/a..'],
    ['/v1/proxy/things/%E9;v=1', '/v1/things/%E9;v=1'],
  ])('%s has none and is forwarded unchanged', async (path, sent) => {
    const harness = createHarness();
    const reply = await harness.send({ method: 'GET', path, headers: headersOf(harness) });
    expect(reply.status).toBe(200);
    expect(harness.calls[0]?.path).toBe(sent);
  });
});
