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
    ['/v1/proxy/batch%65s', '%65', 'e'],
    ['/v1/%62atches', '%62', 'b'],
    ['/v1/proxy/models/gemini-3:predict%4cong%52unning', '%4c', 'L'],
    ['/v1/proxy/auth%5ftokens', '%5f', '_'],
    ['/v1/proxy/async%2Dinvoke', '%2D', '-'],
    ['/v1/proxy/v%31/realtime/client_secrets', '%31', '1'],
    ['/v1/proxy/batch%2565s', '%65', 'e'],
  ])('%s names its operation in a spelling that no check knows and is 400', async (path, spelled, plain) => {
    const harness = createHarness();
    const reply = await harness.send({ method: 'POST', path, headers: headersOf(harness), body: {} });
    expect([reply.status, harness.calls.length]).toEqual([400, 0]);
    expect(reply.json).toMatchObject({
      error: { param: 'target', message: `target: ${spelled} in the path: send ${plain} instead` },
    });
  });

  it('a session whose messages name the model has no spelling that hides it from a list of models', async () => {
    const harness = createHarness();
    const path = '/v1/proxy/respons%65s?model=allowed';
    const reply = await harness.send({ method: 'GET', path, headers: headersOf(harness) });
    expect([reply.status, harness.calls.length]).toEqual([400, 0]);
  });

  it('an id in a path of a unified route may have any encoding', async () => {
    const harness = createHarness();
    const reply = await harness.send({ method: 'GET', path: '/v1/files/%66ile-1', headers: headersOf(harness) });
    expect([reply.status, harness.calls.length]).toEqual([200, 1]);
  });

  it.each([
    ['/v1/things//a/b%2Fc/%25/x..y/...', '/v1/things//a/b%2Fc/%25/x..y/...'],
    ['/v1/things/.a/b.;c', '/v1/things/.a/b.;c'],
    ['/v1/things/..a/a..', '/v1/things/..a/a..'],
    ['/v1/proxy/threads/thread%5Fa%2Db/messages', '/v1/threads/thread%5Fa%2Db/messages'],
    ['/v1/things/a%20b%3Ac%40d%7Ee%E4%BD%A0', '/v1/things/a%20b%3Ac%40d%7Ee%E4%BD%A0'],
    ['/v1/proxy/things/%E9;v=1', '/v1/things/%E9;v=1'],
  ])('%s has none and is forwarded unchanged', async (path, sent) => {
    const harness = createHarness();
    const reply = await harness.send({ method: 'GET', path, headers: headersOf(harness) });
    expect(reply.status).toBe(200);
    expect(harness.calls[0]?.path).toBe(sent);
  });
});
