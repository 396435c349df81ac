import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';

/** Guardrails of saved configs, seen through the official clients. */
let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
});
afterAll(() => gateway?.close());

const none = (word: string, more: JsonObject = {}) => [
  { 'default.contains': { words: [word], operator: 'none' }, id: 'words', ...more },
];
const deny = { deny: true };

async function openai(config: JsonObject): Promise<OpenAI> {
  const apiKey = await gateway.keyFor({ provider: '@oai', ...config });
  return new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0 });
}

async function anthropic(config: JsonObject): Promise<Anthropic> {
  const apiKey = await gateway.keyFor({ provider: '@ant', ...config });
  return new Anthropic({ baseURL: gateway.baseUrl.replace(/\/v1$/, ''), apiKey, maxRetries: 0 });
}

const model = 'gpt-4o-mini';
const said = (content: string) => [{ role: 'user' as const, content }];

describe('chat completions', () => {
  it('denied request: the client gets a 446 with the results, the provider gets nothing, the log shows the guardrail', async () => {
    const client = await openai({ input_guardrails: none('secret', deny) });
    const before = gateway.upstream.requests.length;
    const { response } = await client.chat.completions.create({ model, messages: said('hello') }).withResponse();
    expect(response.status).toBe(200);
    const error = await client.chat.completions.create({ model, messages: said('a secret') }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ status: 446, error: { type: 'hooks_failed' } });
    expect(gateway.upstream.requests.length).toBe(before + 1);
    const trace = (error as InstanceType<typeof OpenAI.APIError>).headers?.get('x-svc-trace-id') as string;
    expect(await gateway.logOf(trace)).toMatchObject({
      guardrails: [
        { id: 'words', side: 'input', verdict: false, deny: true, checks: [{ id: 'default.contains', verdict: false }] },
      ],
    });
  });

  it('failed verdict without deny: the reply has status 246 and both lists of results', async () => {
    const client = await openai({ input_guardrails: none('secret') });
    const { data, response } = await client.chat.completions.create({ model, messages: said('a secret') }).withResponse();
    expect([response.status, data.choices[0]?.message.content]).toEqual([246, 'You said: a secret']);
    expect(data).toMatchObject({
      hook_results: { before_request_hooks: [{ id: 'words', verdict: false }], after_request_hooks: [] },
    });
  });

  it('denied stream: no text of it leaves', async () => {
    const client = await openai({ output_guardrails: none('secret', deny) });
    const stream = client.chat.completions.create({ model, messages: said('a secret'), stream: true });
    await expect(stream).rejects.toMatchObject({ status: 446 });
    const passed = await client.chat.completions.create({ model, messages: said('hello'), stream: true });
    let text = '';
    for await (const chunk of passed) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('You said: hello');
  });
});

describe('responses', () => {
  it.each([false, true])('denies and replaces, stream %s', async (stream) => {
    const denying = await openai({ output_guardrails: none('secret', deny) });
    await expect(denying.responses.create({ model, input: 'a secret', stream })).rejects.toMatchObject({ status: 446 });
    const replacing = await openai({ output_mutators: [{ 'default.regexReplace': { rule: 'secret', redactText: '***' } }] });
    if (!stream) {
      expect((await replacing.responses.create({ model, input: 'a secret' })).output_text).toBe('You said: a ***');
      return;
    }
    const events = await replacing.responses.create({ model, input: 'a secret', stream: true });
    let text = '';
    let whole = '';
    for await (const event of events) {
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.completed') whole = JSON.stringify(event.response.output);
    }
    expect(text).toBe('You said: a ***');
    expect(whole).toContain('You said: a ***');
    expect(whole).not.toContain('secret');
  });
});

describe('messages', () => {
  it.each([false, true])('denies and replaces, stream %s', async (stream) => {
    const body = { model: 'claude-test', max_tokens: 99, messages: said('a secret') };
    const denying = await anthropic({ output_guardrails: none('secret', deny) });
    await expect(denying.messages.create({ ...body, stream })).rejects.toMatchObject({ status: 446 });
    const replacing = await anthropic({ output_mutators: [{ 'default.regexReplace': { rule: 'secret', redactText: '***' } }] });
    if (!stream) {
      expect((await replacing.messages.create(body)).content).toMatchObject([
        { type: 'text', text: expect.stringContaining('a ***') },
      ]);
      return;
    }
    const text = await replacing.messages.stream(body).finalText();
    expect(text).toContain('a ***');
    expect(text).not.toContain('secret');
  });
});

it('embeddings: a denied input is not sent', async () => {
  const client = await openai({ input_guardrails: none('secret', deny) });
  await expect(client.embeddings.create({ model: 'text-embedding-3-small', input: 'a secret' })).rejects.toMatchObject({
    status: 446,
  });
});

it('webhook: another service decides, over a real connection', async () => {
  const received: JsonObject[] = [];
  const service = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const event = JSON.parse(text);
      received.push(event);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ verdict: !event.request.text.includes('secret') }));
    });
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  try {
    const webhookURL = `http://127.0.0.1:${(service.address() as AddressInfo).port}/w`;
    const client = await openai({ input_guardrails: [{ 'default.webhook': { webhookURL, failOnError: true }, ...deny }] });
    await client.chat.completions.create({ model, messages: said('hello') });
    await expect(client.chat.completions.create({ model, messages: said('a secret') })).rejects.toMatchObject({ status: 446 });
    expect(received.map(({ eventType }) => eventType)).toEqual(['beforeRequestHook', 'beforeRequestHook']);
  } finally {
    service.close();
    service.closeAllConnections();
  }
});

it('validUrls: a reply with a URL that does not reply is denied', async () => {
  const client = await openai({ output_guardrails: [{ 'default.validUrls': {}, ...deny }] });
  const good = `${gateway.baseUrl.replace(/\/v1$/, '')}/health`;
  const ask = (url: string) => client.chat.completions.create({ model, messages: said(`see ${url}.`) });
  expect((await ask(good)).choices[0]?.message.content).toContain(good);
  await expect(ask(`${good}/none`)).rejects.toMatchObject({ status: 446 });
  await expect(ask('http://169.254.169.254/latest')).rejects.toMatchObject({ status: 446 });
});

it('configs: a wrong check is rejected when the config is saved, with its path', async () => {
  const config = { provider: '@oai', targets: [{ input_guardrails: [{ 'default.nope': {} }] }] };
  const expected = 'targets[0].input_guardrails[0].default.nope: there is no check default.nope';
  await expect(gateway.admin.createConfig(config)).rejects.toThrow(expected);
});
