import { describe, expect, it } from 'vitest';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const config = { 'x-svc-config': '{"provider":"@one","cache":{"mode":"simple"}}' };
const key = {
  scopes: [
    'completions.write',
    'files.read',
    'files.write',
    'batches.read',
    'batches.write',
    'fine_tuning.read',
    'fine_tuning.write',
  ],
};

describe('routes without a cache', () => {
  it.each([
    ['GET', '/v1/files/file-a', '/v1/files/file-b'],
    ['GET', '/v1/files/file-a', '/v1/files/file-a'],
    ['GET', '/v1/batches/b-1', '/v1/batches/b-1'],
    ['GET', '/v1/responses/r-1', '/v1/responses/r-2'],
    ['GET', '/v1/responses/r-1', '/v1/responses/r-1'],
  ])('%s %s is not cached', async (method, first, second) => {
    const gateway = createHarness({ key });
    gateway.script(replyWith(200, { id: 'x', object: 'file' }));
    const one = await gateway.send({ method, path: first, headers: config, body: '' });
    expect([one.status, one.header('x-svc-cache-status')]).toEqual([200, 'DISABLED']);
    const reply = await gateway.send({ method, path: second, headers: config, body: '' });
    expect(reply.header('x-svc-cache-status')).toBe('DISABLED');
    expect(gateway.calls).toHaveLength(2);
  });

  it.each([
    ['a conversation', { conversation: 'conv_1' }],
    ['a background response', { background: true }],
  ])('%s is not cached', async (_what, more) => {
    const gateway = createHarness({ key });
    gateway.script(replyWith(200, { id: 'resp_1', object: 'response', status: 'completed', output: [] }));
    const body = { model: 'gpt-5', input: 'hi', ...more };
    for (let i = 0; i < 2; i++) await gateway.send({ path: '/v1/responses', headers: config, body });
    expect(gateway.calls).toHaveLength(2);
  });
});
