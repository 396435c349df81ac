import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, providerDocument, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const cannotDecrypt = {
  error: {
    message:
      'The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_encrypted_content',
  },
};
const badSignature = {
  type: 'error',
  error: { type: 'invalid_request_error', message: 'messages.1.content.0: Invalid `signature` in `thinking` block' },
};
const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [] };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: 'end_turn' };

const ask = { type: 'message', role: 'user', content: 'look' };
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' };
const result = { type: 'function_call_output', call_id: 'c1', output: 'seen' };

const loop = (...blocks: JsonObject[]) => [
  { role: 'user', content: 'look' },
  { role: 'assistant', content: [...blocks, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' }] },
];

async function run(
  type: string,
  path: string,
  body: JsonObject,
  refusal: JsonObject,
  final: JsonObject,
  config: JsonObject = {},
) {
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/own`, providerDocument('own', type));
  gateway.script(replyWith(400, refusal), replyWith(200, final));
  const reply = await gateway.send({ path, body, headers: { 'x-svc-config': JSON.stringify({ provider: '@own', ...config }) } });
  const sent = gateway.calls.map(({ body: bytes }) => JSON.parse(Buffer.from(bytes as Uint8Array).toString()) as JsonObject);
  return { reply, sent };
}

describe('reasoning that the provider cannot read', () => {
  const body = { model: 'gpt-5', store: false, input: [ask, reasoning, call, result] };

  it('is left out of a Responses call, which is sent once more', async () => {
    const { reply, sent } = await run('openai', '/v1/responses', body, cannotDecrypt, response);
    expect(sent.map(({ input }) => input)).toEqual([body.input, [ask, call, result]]);
    expect([reply.status, reply.header('x-svc-dropped-params')]).toEqual([200, 'input.reasoning']);
  });

  it('is left out of a Messages call that becomes a Responses call', async () => {
    const messages = loop({ type: 'thinking', thinking: 'hm', signature: 'openai:rs_1:gAAA' });
    const { reply, sent } = await run(
      'openai',
      '/v1/messages',
      { model: 'gpt-5-codex', max_tokens: 99, messages },
      cannotDecrypt,
      response,
    );
    const types = sent.map(({ input }) => (input as JsonObject[]).map(({ type, role }) => type ?? role));
    expect(types).toEqual([
      ['user', 'reasoning', 'function_call', 'function_call_output'],
      ['user', 'function_call', 'function_call_output'],
    ]);
    expect(reply.status).toBe(200);
  });

  it('is left out of a call to Claude, with the budget of the loop', async () => {
    const messages = loop({ type: 'thinking', thinking: 'hm', signature: 'c2ln' });
    const thinking = { type: 'enabled', budget_tokens: 1_024 };
    const asked = { model: 'claude-sonnet-4-5', max_tokens: 2_000, thinking, messages };
    const { reply, sent } = await run('anthropic', '/v1/messages', asked, badSignature, message);
    expect(sent).toEqual([asked, { model: asked.model, max_tokens: 2_000, messages: loop() }]);
    expect(reply.status).toBe(200);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['other errors', {}, { error: { message: 'input: too long', type: 'invalid_request_error' } }],
    ['calls with strict_params', { strict_params: true }, cannotDecrypt],
  ])('is not left out of %s', async (_, config, refusal) => {
    const { reply, sent } = await run('openai', '/v1/responses', body, refusal, response, config);
    expect([reply.status, sent.length]).toEqual([400, 1]);
  });

  it.each<[string, string, JsonObject]>([
    ['a chat call', '/v1/chat/completions', { messages: [{ role: 'user', content: 'look' }] }],
    ['a Responses call', '/v1/responses', { input: [ask, call, result] }],
    ['a pass-through call', '/v1/proxy/responses', { input: [ask, reasoning] }],
  ])('is not looked for in %s without reasoning that can be left out', async (_, path, asked) => {
    // The reply of a pass-through call is held for the next target.
    const config = {
      provider: undefined,
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@own' }, { provider: '@none' }],
    };
    const { reply, sent } = await run('openai', path, { model: 'gpt-5', ...asked }, cannotDecrypt, response, config);
    expect([reply.status, sent.length]).toEqual([400, 1]);
  });
});
