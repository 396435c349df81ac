import { expect, it } from 'vitest';
import { createHarness, type Harness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const chat = (model: unknown) => ({
  ...{ id: 'c', object: 'chat.completion', created: 1, model, usage },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});
const chunks = (model: string) => [
  { id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta: { content: 'Hi' } }] },
  {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    usage,
  },
];
const messages = (model: string) => ({
  ...{ id: 'm', type: 'message', role: 'assistant', model, content: [{ type: 'text', text: 'Hi' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 3, output_tokens: 2 } },
});
const response = (model: string) => ({ id: 'r', object: 'response', status: 'completed', model, output: [], usage: {} });

const events = (...data: readonly object[]): string => data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
const streamed = (text: string) => replyWith(200, text, ['content-type', 'text/event-stream']);

async function modelOf(gateway: Harness, path: string, body: object): Promise<[unknown, unknown]> {
  const provider = path === '/v1/messages' ? '@claude' : '@one';
  const content = path === '/v1/responses' ? { input: 'x' } : { messages: [{ role: 'user', content: 'x' }], max_tokens: 5 };
  const reply = await gateway.send({ path, body: { ...content, ...body }, headers: { 'x-svc-provider': provider } });
  expect(reply.status).toBe(200);
  const record = gateway.records.at(-1);
  return [record?.model, record?.attempts.at(-1)?.model];
}

it.each([
  ['another model of the list', 'dear', ['dear', 'other'], 'dear'],
  ['a version of another model', 'dear-2026-01-01', ['dear'], 'dear'],
  ['the longer of two names', 'cheap-mini-2026', ['cheap-mini'], 'cheap-mini'],
  ['its own model', 'cheap', ['dear'], 'cheap'],
  ['a version of its own model', 'cheap-2026-01-01', ['dear'], 'cheap'],
  ['a model that the request does not name', 'chosen', ['dear'], 'chosen'],
  ['no model', null, ['dear'], 'cheap'],
  ['another model without a list', 'dear', undefined, 'cheap'],
])('the record of a reply from %s has the right model', async (_what, served, models, expected) => {
  const gateway = createHarness();
  const body = { model: 'cheap', ...(models ? { models } : {}) };
  gateway.script(replyWith(200, chat(served)));
  expect(await modelOf(gateway, '/v1/chat/completions', body)).toEqual([expected, expected]);
  if (served === null) return;
  gateway.script(streamed(`${events(...chunks(served))}data: [DONE]\n\n`));
  expect(await modelOf(gateway, '/v1/chat/completions', { ...body, stream: true })).toEqual([expected, expected]);
});

it.each(['openrouter/auto', 'cheap@preset/mail'])(
  'the record of a reply to %s, with which OpenRouter chooses the model, has the model of the reply',
  async (model) => {
    const gateway = createHarness();
    const config = JSON.stringify({ provider: 'openrouter', api_key: 'k' });
    const send = (stream: boolean) =>
      gateway.send({ body: { model, stream, messages: [{ role: 'user', content: 'x' }] }, headers: { 'x-svc-config': config } });
    gateway.script(replyWith(200, chat('dear')), streamed(`${events(...chunks('dear'))}data: [DONE]\n\n`));
    expect([(await send(false)).status, (await send(true)).status]).toEqual([200, 200]);
    expect(gateway.records.map((record) => record.model)).toEqual(['dear', 'dear']);
  },
);

it.each([
  ['azure-openai', { azure_resource_name: 'acme', azure_api_version: '2024-10-21' }],
  ['azure-ai', { azure_foundry_url: 'https://acme.services.ai.azure.com' }],
])('the record of a call of the model router at %s has the model of the reply', async (provider, settings) => {
  const gateway = createHarness();
  const config = JSON.stringify({ provider, api_key: 'k', ...settings });
  const send = (model: string) =>
    gateway.send({ body: { model, messages: [{ role: 'user', content: 'x' }] }, headers: { 'x-svc-config': config } });
  gateway.script(replyWith(200, chat('gpt-4.1-nano-2025-04-14')), replyWith(200, chat('gpt-4.1-nano-2025-04-14')));
  expect([(await send('model-router')).status, (await send('mine')).status]).toEqual([200, 200]);
  expect(gateway.records.map(({ model }) => model)).toEqual(['gpt-4.1-nano-2025-04-14', 'mine']);
});

it('replies of Messages and Responses, also streamed, name the model of their record', async () => {
  const gateway = createHarness();
  const fallbacks = [{ model: 'dear' }];
  gateway.script(replyWith(200, messages('dear')));
  expect(await modelOf(gateway, '/v1/messages', { model: 'cheap', fallbacks })).toEqual(['dear', 'dear']);
  const begin = { type: 'message_start', message: { ...messages('dear'), content: [], stop_reason: null } };
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } };
  gateway.script(streamed(events(begin, end, { type: 'message_stop' })));
  expect(await modelOf(gateway, '/v1/messages', { model: 'cheap', fallbacks, stream: true })).toEqual(['dear', 'dear']);
  gateway.script(replyWith(200, response('dear')));
  expect(await modelOf(gateway, '/v1/responses', { model: 'cheap', models: ['dear'] })).toEqual(['dear', 'dear']);
  gateway.script(streamed(events({ type: 'response.completed', response: response('dear') })));
  expect(await modelOf(gateway, '/v1/responses', { model: 'cheap', models: ['dear'], stream: true })).toEqual(['dear', 'dear']);
});

it('a second attempt at another target has the model of its own call', async () => {
  const gateway = createHarness();
  gateway.script(replyWith(500, { error: { message: 'no' } }), replyWith(200, chat('second')));
  const config = {
    strategy: { mode: 'fallback' },
    targets: [{ provider: '@one' }, { provider: '@one', override_params: { model: 'second' } }],
  };
  const body = { model: 'cheap', models: ['dear'], messages: [{ role: 'user', content: 'x' }] };
  const reply = await gateway.send({ body, headers: { 'x-svc-config': JSON.stringify(config) } });
  expect(reply.status).toBe(200);
  expect(gateway.records.at(-1)?.attempts.map(({ model }) => model)).toEqual(['cheap', 'second']);
});

it.each([
  ['a list of models', { model: 'cheap', models: ['dear'] }, 'dear-2026-01-01', 'dear'],
  ['fallbacks of Anthropic', { model: 'cheap', fallbacks: [{ model: 'dear' }] }, 'dear', 'dear'],
  ['a router of OpenRouter', { model: 'openrouter/auto' }, 'dear', 'dear'],
  ['no choice', { model: 'cheap' }, 'dear', 'cheap'],
])('pass-through: the record of a request with %s has the model that served it', async (_what, request, served, expected) => {
  const gateway = createHarness();
  const config = JSON.stringify({ provider: 'openrouter', api_key: 'k' });
  const send = (stream: boolean) =>
    gateway.send({
      path: '/v1/proxy/chat/completions',
      body: { ...request, stream, messages: [{ role: 'user', content: 'x' }] },
      headers: { 'x-svc-config': config },
    });
  gateway.script(replyWith(200, chat(served)), streamed(`${events(...chunks(served))}data: [DONE]\n\n`));
  expect([(await send(false)).status, (await send(true)).status]).toEqual([200, 200]);
  expect(gateway.records.map(({ model, inputTokens }) => [model, inputTokens])).toEqual(Array(2).fill([expected, 3]));
});

it.each(['/v1/chat/completions', '/v1/proxy/chat/completions'])(
  '%s: a stream that states another model in each event ends within the time of one test',
  async (path) => {
    const gateway = createHarness();
    const config = JSON.stringify({ provider: 'openrouter', api_key: 'k' });
    const models = Array.from({ length: path.includes('proxy') ? 6_000 : 90_000 }, () => 'a');
    const stated = Array.from({ length: 800_000 }, (_, index) => `{"model":"b${index % 2}","choices":[]}`);
    gateway.script(streamed(`${stated.map((chunk) => `data: ${chunk}\n\n`).join('')}data: [DONE]\n\n`));
    const body = { model: 'cheap', models, stream: true, messages: [{ role: 'user', content: 'x' }] };
    expect((await gateway.send({ path, body, headers: { 'x-svc-config': config } })).status).toBe(200);
    expect(gateway.records.map(({ model }) => model)).toEqual([expect.stringMatching(/^b[01]$/)]);
  },
);
