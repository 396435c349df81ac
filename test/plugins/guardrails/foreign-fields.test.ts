import { describe, expect, it } from 'vitest';
import type { OperationName, ProviderAdapter } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { providers } from '../../../core/providers/index.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { textParts } from '../../../plugins/guardrails/texts.ts';
import { callOf } from '../../core/providers/contract-suite.ts';

const content = 'the content';
const requests: readonly (readonly [OperationName, JsonObject])[] = [
  ['chatComplete', { messages: [{ role: 'user', content }] }],
  ['complete', { prompt: content }],
  ['embed', { input: content }],
  ['messages', { max_tokens: 9, messages: [{ role: 'user', content }] }],
  ['createModelResponse', { input: content }],
  ['imageGenerate', { prompt: content }],
  ['createSpeech', { input: content, voice: 'v' }],
  ['moderate', { input: content }],
  ['rerank', { query: content, documents: [content] }],
];

/** A model of each form of request that an adapter has. */
const models: Readonly<Record<string, readonly string[]>> = {
  openai: ['gpt-4o', 'o1-pro'],
  'azure-openai': ['gpt-4o', 'o1-pro'],
  google: ['gemini-2.5-flash', 'imagen-4', 'gemini-embedding-001'],
  'vertex-ai': ['gemini-2.5-flash', 'claude-sonnet-4', 'text-embedding-005', 'multimodalembedding@001', 'imagen-4'],
  bedrock: [
    ...['amazon.nova-lite-v1:0', 'amazon.nova-canvas-v1:0', 'amazon.titan-embed-text-v2:0', 'amazon.titan-embed-image-v1'],
    ...['amazon.nova-2-multimodal-embeddings-v1:0', 'cohere.embed-english-v3', 'cohere.embed-v4:0', 'cohere.rerank-v3-5:0'],
    ...['stability.sd3-5-large-v1:0', 'twelvelabs.marengo-embed-2-7-v1:0', 'twelvelabs.marengo-embed-3-0-v1:0'],
  ],
  'stability-ai': ['stable-image-core', 'stable-diffusion-v1-6'],
};

/** The fields in which an adapter sends the content of a request, without those of the request. */
async function contentFields(adapter: ProviderAdapter, operation: OperationName, params: JsonObject): Promise<string[]> {
  const call = callOf(params, {}, { aws_region: 'eu-central-1', vertex_region: 'us-central1', vertex_project_id: 'p' });
  const body = await adapter.operations[operation]?.toProvider?.(call.params, call);
  if (body === undefined || body instanceof Uint8Array) return [];
  return Object.entries(body)
    .filter(([name, value]) => !(name in params) && JSON.stringify(value)?.includes(content))
    .map(([name]) => name);
}

describe('fields of a request in which providers take content', () => {
  it.each(requests)('%s: all reach the checks', async (operation, request) => {
    const missed: string[] = [];
    let count = 0;
    for (const [id, adapter] of providers) {
      for (const model of models[id] ?? ['m']) {
        // Models without this operation throw.
        const fields = await contentFields(adapter, operation, { model, ...request }).catch(() => []);
        count += fields.length;
        for (const name of fields) {
          const read = textParts(operation, 'input', { model, ...request, [name]: 'the secret' }, 'last_message');
          if (!read.some(({ text }) => text === 'the secret')) missed.push(`${id} ${model}: ${name}`);
        }
      }
    }
    expect(missed).toEqual([]);
    if (operation === 'createModelResponse') expect(count).toBeGreaterThan(50);
  });

  it.each<[string, string, JsonObject]>([
    ['/v1/responses', 'mistral-ai', { input: 'x', messages: [{ role: 'user', content: 'a secret' }] }],
    ['/v1/embeddings', 'cohere', { input: 'x', texts: ['a secret'] }],
    ['/v1/embeddings', 'cohere', { inputs: [{ content: [{ type: 'text', text: 'a secret' }] }] }],
    [
      '/v1/chat/completions',
      'google',
      { messages: [{ role: 'user', content: 'x' }], contents: [{ role: 'user', parts: [{ text: 'a secret' }] }] },
    ],
  ])('%s of %s %j is denied', async (path, provider, body) => {
    const gateway = createHarness({ key: { scopes: ['completions.write'] } });
    gateway.script(replyWith(200, {}));
    const input_guardrails = [{ 'default.contains': { words: ['secret'], operator: 'none' }, deny: true }];
    const headers = { 'x-svc-config': JSON.stringify({ provider, api_key: 'k', input_guardrails }) };
    const sink = await gateway.send({ path, headers, body: { model: 'm', ...body } as never });
    expect([sink.status, gateway.calls.length]).toEqual([446, 0]);
  });
});

describe('fields of the format that hold settings', () => {
  it('are no content: `text` and `prompt` of Responses', () => {
    const body = { input: 'x', text: { format: { type: 'json_schema', name: 'n' } }, prompt: { id: 'p', version: '1' } };
    expect(textParts('createModelResponse', 'input', body, 'last_message').map(({ text }) => text)).toEqual(['x']);
  });

  it('variables of a stored prompt are read in every message', () => {
    const body = { input: 'x', prompt: { id: 'p', variables: { city: 'Oslo' } } };
    expect(textParts('createModelResponse', 'input', body, 'all_messages').map(({ text }) => text)).toContain('Oslo');
  });
});
