import { describe, expect, it } from 'vitest';
import { chatReply, chatStream, createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 7,
  status: 'completed',
  model: 'gpt-4o',
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.', annotations: [] }] }],
  usage: { input_tokens: 3, output_tokens: 2 },
};
const body = (model: string) => ({ model: `@one/${model}`, max_tokens: 99, messages: [{ role: 'user', content: 'hi' }] });

describe('openai by its Responses API, through the pipeline', () => {
  it.each([
    ['the model has no other', 'gpt-5-codex', {}],
    ['the beta header asks for it', 'gpt-4o', { 'x-svc-beta': 'server-side-mcp-2026-06-01, use-responses-api-2026-07-30' }],
    ['the header of the setting asks for it', 'gpt-4o', { 'x-svc-use-responses-api': 'true' }],
    ['the config asks for it', 'gpt-4o', { 'x-svc-config': JSON.stringify({ use_responses_api: true }) }],
  ])('serves chat and Messages calls in their own format if %s', async (_, model, headers) => {
    const gateway = createHarness();
    gateway.script(replyWith(200, response));
    const chat = await gateway.send({ body: body(model), headers });
    expect(chat.json).toMatchObject({ object: 'chat.completion', choices: [{ message: { content: 'Hi.' } }] });
    const message = await gateway.send({ path: '/v1/messages', body: body(model), headers });
    expect(message.json).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hi.' }] });
    expect(gateway.calls.map((call) => call.path)).toEqual(['/v1/responses', '/v1/responses']);
    expect(gateway.records.map((record) => [record.inputTokens, record.outputTokens])).toEqual([
      [3, 2],
      [3, 2],
    ]);
  });

  it.each([
    [{}, 'gpt-4o'],
    [{ 'x-svc-beta': 'server-side-mcp-2026-06-01' }, 'gpt-4o'],
    [{ 'x-svc-use-responses-api': 'false' }, 'gpt-5-codex'],
  ])('is not used with %j for %s', async (headers, model) => {
    const gateway = createHarness();
    await gateway.send({ body: body(model), headers });
    expect(gateway.calls[0]?.path).toBe('/v1/chat/completions');
  });

  it('is controlled by the setting, whose error names valid values', async () => {
    const gateway = createHarness();
    const reply = await gateway.send({ body: body('gpt-4o'), headers: { 'x-svc-use-responses-api': 'perhaps' } });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('use_responses_api: expected true or false')]);
  });
});

describe('text completions of openai', () => {
  const ask = (model: string, more: object = {}) => ({
    path: '/v1/completions',
    body: { model: `@one/${model}`, prompt: 'Say hi', max_tokens: 9, ...more },
  });

  it.each([
    ['gpt-4o', '/v1/chat/completions'],
    ['ft:gpt-4o-mini:org::1', '/v1/chat/completions'],
    ['gpt-3.5-turbo', '/v1/chat/completions'],
    ['o3-mini', '/v1/chat/completions'],
    ['gpt-3.5-turbo-instruct', '/v1/completions'],
    ['davinci-002', '/v1/completions'],
    ['gpt-35', '/v1/completions'],
  ])('a text completion of %s calls %s', async (model, path) => {
    const gateway = createHarness();
    await gateway.send(ask(model));
    expect(gateway.calls.map((call) => call.path)).toEqual([path]);
  });

  it('text completions of a chat model are chats with one user message, and their replies are text completions', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, chatReply('Hi there')), chatStream(['Hi', ' there']));
    const reply = await gateway.send(ask('gpt-4o'));
    expect(reply.json).toMatchObject({ object: 'text_completion', choices: [{ index: 0, text: 'Hi there' }] });
    const sent = JSON.parse(Buffer.from(gateway.calls[0]?.body as Uint8Array).toString());
    expect(sent).toEqual({ model: 'gpt-4o', max_tokens: 9, messages: [{ role: 'user', content: 'Say hi' }] });
    const stream = await gateway.send(ask('gpt-4o', { stream: true }));
    expect(stream.text).toContain('"text":" there"');
    expect(stream.text).not.toContain('delta');
    expect(gateway.records.map(({ endpoint, status, outputTokens }) => [endpoint, status, (outputTokens ?? 0) > 0])).toEqual([
      ['complete', 200, true],
      ['complete', 200, true],
    ]);
  });

  it('a text completion of a model with only the Responses API calls that', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, response));
    const reply = await gateway.send(ask('gpt-5-codex'));
    expect(gateway.calls[0]?.path).toBe('/v1/responses');
    expect([reply.json, gateway.records[0]]).toMatchObject([
      { object: 'text_completion', choices: [{ text: 'Hi.' }] },
      { inputTokens: 3, outputTokens: 2 },
    ]);
  });

  it('text completions of another host stay as they are', async () => {
    const gateway = createHarness();
    const headers = { 'x-svc-provider': 'openai', 'x-svc-custom-host': 'https://llm.example.com/v1', authorization: 'Bearer k' };
    await gateway.send({ path: '/v1/completions', headers, body: { model: 'gpt-4o', prompt: 'Say hi' } });
    expect(gateway.calls[0]?.path).toBe('/v1/completions');
  });
});
