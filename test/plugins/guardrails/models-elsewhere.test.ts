import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const check = (more: JsonObject = {}) => ({ 'default.contains': { words: ['secret'], operator: 'none', ...more }, deny: true });

async function ask(path: string, config: JsonObject) {
  const gateway = createHarness({ key: { scopes: ['completions.write', 'batches.create'] } });
  gateway.script(replyWith(200, { ok: true }));
  const headers = { 'x-svc-config': JSON.stringify({ provider: 'openai', api_key: 'k', ...config }) };
  const body = JSON.stringify({ model: 'm', session: { type: 'realtime' } });
  const { status } = await gateway.send({ method: 'POST', path, headers, body });
  return [status, gateway.calls.length];
}

describe('a guardrail that denies rejects', () => {
  it.each([
    '/v1/realtime/calls',
    '/v1/realtime/calls/c/accept',
    '/v1/proxy/realtime/client_secrets',
    '/v1/proxy/v1beta/auth_tokens',
    '/v1/live/sessions',
    '/v1/chatkit/sessions',
  ])('a session that a client opens at the provider: %s', async (path) => {
    expect(await ask(path, { input_guardrails: [check()] })).toEqual([446, 0]);
    expect(await ask(path, { output_guardrails: [check()] })).toEqual([446, 0]);
    expect(await ask(path, { input_guardrails: [check({ failOnError: false })] })).toEqual([200, 1]);
    expect(await ask(path, { output_guardrails: [{ ...check(), deny: false }] })).toEqual([200, 1]);
  });

  it.each([
    '/v1/messages/batches',
    '/v1/proxy/batch/jobs',
    '/v1/proxy/v1/projects/p/locations/l/batchPredictionJobs',
    '/v1/proxy/v1beta/models/m:batchGenerateContent',
  ])('a batch of its provider by its responses: %s', async (path) => {
    expect(await ask(path, { input_guardrails: [check()] })).toEqual([200, 1]);
    expect(await ask(path, { output_guardrails: [check()] })).toEqual([446, 0]);
    expect(await ask(path, { output_guardrails: [check({ failOnError: false })] })).toEqual([200, 1]);
  });

  it('no end of a call, no batch of embeddings and no list', async () => {
    for (const path of [
      '/v1/realtime/calls/c/hangup',
      '/v1/proxy/v1beta/models/m:asyncBatchEmbedContent',
      '/v1/messages/batches/b/cancel',
    ]) {
      expect([path, ...(await ask(path, { output_guardrails: [check()] }))]).toEqual([path, 200, 1]);
    }
  });
});
