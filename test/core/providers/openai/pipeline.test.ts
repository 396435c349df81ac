import { describe, expect, it } from 'vitest';
import { answer, createHarness } from '../../../support/pipeline-harness.ts';

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
    gateway.script(answer(200, response));
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
