import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const contains = { 'default.contains': { words: ['secret'], operator: 'none' }, deny: true };

/** Sends JSON about a stored resource through guardrails of both sides, to a provider that repeats it. */
async function send(path: string, body: JsonObject | string, guardrail: JsonObject = contains, method = 'POST') {
  const gateway = createHarness();
  gateway.script(replyWith(200, { id: 'x', name: 'a secret' }));
  const headers = {
    'content-type': 'application/json',
    'x-svc-config': JSON.stringify({ provider: '@one', input_guardrails: [guardrail], output_guardrails: [contains] }),
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { status } = await gateway.send({ path, method, headers, body: text });
  return { status, calls: gateway.calls.length };
}

describe('JSON about stored resources', () => {
  it.each<[string, string, JsonObject]>([
    ['POST', '/v1/vector_stores', { name: 'a', description: 'a secret' }],
    ['POST', '/v1/vector_stores/v/files', { file_id: 'f', attributes: { topic: 'secret' } }],
    ['PATCH', '/v1/proxy/vector_stores/v', { name: 'secret' }],
    ['POST', '/v1/containers', { name: 'a', skills: [{ type: 'inline', name: 'x', description: 'a secret' }] }],
    ['POST', '/v1/skills/s', { description: 'secret' }],
    ['POST', '/v1/proxy/v1beta/fileSearchStores', { displayName: 'secret' }],
    ['POST', '/v1/proxy/v1beta/fileSearchStores/s:importFile', { fileName: 'f', customMetadata: [{ stringValue: 'secret' }] }],
    ['POST', '/v1/proxy/v1beta/tunedModels', { tuningTask: { trainingData: { examples: [{ textInput: 'a secret' }] } } }],
    ['POST', '/v1/batches/b/cancel', {}],
  ])('%s %s: the texts of the request are read, and not those of the reply', async (method, path, body) => {
    const isRead = JSON.stringify(body).includes('secret');
    expect(await send(path, body, contains, method)).toEqual(isRead ? { status: 446, calls: 0 } : { status: 200, calls: 1 });
    const clean = JSON.parse(JSON.stringify(body).replaceAll('secret', 'word')) as JsonObject;
    expect(await send(path, clean, contains, method)).toEqual({ status: 200, calls: 1 });
  });

  it('checks that demand a form of a text do not run', async () => {
    const must = { 'default.contains': { words: ['needed'], operator: 'any' }, deny: true };
    expect((await send('/v1/vector_stores', { name: 'a word' }, must)).status).toBe(200);
  });

  it('JSON that cannot be read is denied', async () => {
    expect(await send('/v1/vector_stores', '{"name":"a","name":"b"}')).toEqual({ status: 446, calls: 0 });
    expect(await send('/v1/vector_stores', '["a"]')).toEqual({ status: 446, calls: 0 });
  });
});
