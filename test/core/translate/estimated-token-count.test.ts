import { expect, it } from 'vitest';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const body = {
  model: 'm',
  system: 'two words',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'three more words' }] }],
};

const vertex = { 'x-svc-vertex-project-id': 'p', 'x-svc-vertex-region': 'us-central1' };

it.each(['openai', 'groq', 'cohere'])('token counts of Messages calls: %s gets an estimate without a call', async (provider) => {
  const { send, calls, records, key } = createHarness();
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': provider, authorization: 'Bearer k' };
  const reply = await send({ path: '/v1/messages/count_tokens', headers, body });
  expect([reply.status, reply.json]).toEqual([200, { input_tokens: 5 }]);
  expect(reply.header('x-svc-adapted')).toBe('reply.input_tokens');
  expect(calls).toEqual([]);
  expect(records[0]).toMatchObject({ status: 200, inputTokens: 0, outputTokens: 0 });
});

it('token counts of Messages calls: models of other makers on Vertex AI get an estimate', async () => {
  const { send, calls, key } = createHarness();
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': 'vertex-ai', ...vertex, authorization: 'Bearer k' };
  const reply = await send({ path: '/v1/messages/count_tokens', headers, body: { ...body, model: 'meta/llama-4-maas' } });
  expect([reply.status, reply.json]).toEqual([200, { input_tokens: 5 }]);
  expect(reply.header('x-svc-adapted')).toBe('reply.input_tokens');
  expect(calls).toEqual([]);
});

it.each([
  ['vertex-ai', vertex, '/v1/projects/p/locations/us-central1/publishers/anthropic/models/count-tokens:rawPredict'],
  ['azure-ai', { 'x-svc-azure-foundry-url': 'https://r.services.ai.azure.com' }, '/anthropic/v1/messages/count_tokens'],
  ['bedrock-mantle', { 'x-svc-aws-region': 'us-east-1' }, '/anthropic/v1/messages/count_tokens'],
])('token counts of Messages calls: Claude counts on %s', async (provider, settings, path) => {
  const { send, calls, script, key } = createHarness();
  script(replyWith(200, { input_tokens: 9 }));
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': provider, ...settings, authorization: 'Bearer k' };
  const model = 'anthropic.claude-sonnet-4-5';
  const reply = await send({ path: '/v1/messages/count_tokens', headers, body: { ...body, model } });
  expect([reply.status, reply.json, reply.header('x-svc-adapted')]).toEqual([200, { input_tokens: 9 }, undefined]);
  expect(calls[0]?.path).toBe(path);
  expect(JSON.parse(String(calls[0]?.body))).toMatchObject({ messages: body.messages });
});

it('token counts of Messages calls: Google counts the request that would be sent', async () => {
  const { send, calls, script, key } = createHarness();
  script(replyWith(200, { totalTokens: 9, promptTokensDetails: [] }));
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': 'google', authorization: 'Bearer k' };
  const reply = await send({ path: '/v1/messages/count_tokens', headers, body: { ...body, model: 'gemini-3.8-flash' } });
  expect([reply.status, reply.json]).toEqual([200, { input_tokens: 9 }]);
  expect(calls[0]?.path).toBe('/v1beta/models/gemini-3.8-flash:countTokens');
  expect(JSON.parse(String(calls[0]?.body))).toEqual({
    generateContentRequest: {
      model: 'models/gemini-3.8-flash',
      systemInstruction: { parts: [{ text: 'two words' }] },
      contents: [{ role: 'user', parts: [{ text: 'three more words' }] }],
    },
  });
});
