import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { FakeSink, fakeRequest } from '../../../core/test-kit/fake-exchange.ts';
import { createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { type Scope, textParts } from '../../../plugins/guardrails/texts.ts';
import { withTexts } from '../../../plugins/guardrails/with-texts.ts';

const none = (more: JsonObject = {}) => [{ 'default.contains': { words: ['secret'], operator: 'none' }, deny: true, ...more }];

async function ask(config: JsonObject, path: string, body: JsonObject | string | Uint8Array, script: Script, headers = {}) {
  const gateway = createHarness({ key: { scopes: ['completions.write'] } });
  gateway.script(script);
  const config_ = JSON.stringify({ provider: '@one', ...config });
  const sink = await gateway.send({ path, headers: { 'x-svc-config': config_, ...headers }, body: body as never });
  return { status: sink.status, text: sink.text, calls: gateway.calls.length, record: gateway.records[0] };
}

const events = (...list: JsonObject[]) => list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const stream: [string, string] = ['content-type', 'text/event-stream'];
const ok = replyWith(200, { ok: true });

const reinforcement = (content: string) => ({
  type: 'reinforcement',
  reinforcement: { grader: { type: 'score_model', name: 'g', model: 'gpt-5', input: [{ role: 'user', content }] } },
});

describe('requests of every route with text', () => {
  it.each<[string, JsonObject]>([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'a secret' }] }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: [{ type: 'text', text: 'a secret' }] }] }],
    [
      '/v1/chat/completions',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'tool', tool_call_id: 'c', content: 'a secret' },
        ],
      },
    ],
    ['/v1/completions', { prompt: 'a secret' }],
    ['/v1/completions', { prompt: ['x', 'a secret'] }],
    ['/v1/embeddings', { input: 'a secret' }],
    ['/v1/embeddings', { input: ['x', 'a secret'] }],
    ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'a secret' }] }],
    [
      '/v1/messages',
      { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'a secret' }] }] },
    ],
    ['/v1/messages/count_tokens', { messages: [{ role: 'user', content: 'a secret' }] }],
    ['/v1/responses', { input: 'a secret' }],
    [
      '/v1/responses',
      {
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'a secret' }] },
          { role: 'user', content: 'x' },
        ],
      },
    ],
    ['/v1/responses', { input: [{ type: 'function_call_output', call_id: 'c', output: 'a secret' }] }],
    ['/v1/images/generations', { prompt: 'a secret' }],
    ['/v1/audio/speech', { input: 'a secret', voice: 'alloy' }],
    ['/v1/moderations', { input: 'a secret' }],
    ['/v1/moderations', { input: [{ type: 'text', text: 'a secret' }] }],
    ['/v1/rerank', { query: 'a secret', documents: ['x'] }],
    ['/v1/rerank', { query: 'x', documents: [{ text: 'a secret' }] }],
    ['/v1/rerank', { query: 'x', documents: [{ title: 'a secret' }] }],
    ['/v1/decisions', { state: 'a secret', questions: {} }],
    ['/v1/decisions', { state: { deep: ['a secret'] }, questions: {} }],
    ['/v1/decisions', { input: 'a secret', questions: [] }],
    ['/v1/fine_tuning/jobs', { training_file: 'file-1', method: reinforcement('a secret') }],
    ['/v1/proxy/fine_tuning/jobs', { training_file: 'file-1', method: reinforcement('a secret') }],
    ['/v1/some/route', { deep: [{ prompt: 'a secret' }] }],
    ['/v1/models/gemini:generateContent', { contents: [{ parts: [{ text: 'a secret' }] }] }],
  ])('%s %j is denied', async (path, body) => {
    const denied = await ask({ input_guardrails: none() }, path, { model: 'm', ...body }, ok);
    expect([denied.status, denied.calls]).toEqual([446, 0]);
    const clean = JSON.parse(JSON.stringify(body).replaceAll('secret', 'word'));
    expect((await ask({ input_guardrails: none() }, path, { model: 'm', ...clean }, ok)).status).not.toBe(446);
  });
});

it('a fine-tuning job need not have the form that a check demands', async () => {
  const config = { input_guardrails: [{ 'default.endsWith': { suffix: 'please' }, deny: true }] };
  for (const more of [{}, { method: reinforcement('grade it') }]) {
    const { status, calls } = await ask(config, '/v1/fine_tuning/jobs', { model: 'm', training_file: 'file-1', ...more }, ok);
    expect([status, calls]).toEqual([200, 1]);
  }
});

it('the text of pages that OCR has read is checked', async () => {
  const body = { model: 'm', document: { type: 'document_url', document_url: 'https://files.example/a.pdf' } };
  const config = { provider: 'mistral-ai', api_key: 'k', output_guardrails: none() };
  const page = (markdown: string) => replyWith(200, { pages: [{ index: 0, markdown }], model: 'm', usage_info: {} });
  expect((await ask(config, '/v1/ocr', body, page('a secret'))).status).toBe(446);
  expect((await ask(config, '/v1/ocr', body, page('a word'))).status).toBe(200);
});

it('the text of a response that is cancelled is checked', async () => {
  const output = (text: string) => [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }];
  const cancelled = (text: string) =>
    replyWith(200, { id: 'resp_1', object: 'response', status: 'cancelled', output: output(text) });
  const cancel = (text: string) =>
    ask({ provider: 'openai', api_key: 'k', output_guardrails: none() }, '/v1/responses/resp_1/cancel', '', cancelled(text));
  expect([(await cancel('a secret')).status, (await cancel('a word')).status]).toEqual([446, 200]);
});

describe('pass-through routes', () => {
  const path = '/v1/some/route';
  const gemini = (...texts: string[]) => texts.map((text) => ({ candidates: [{ content: { parts: [{ text }] } }] }));
  it.each<[string, Script, number]>([
    ['JSON', replyWith(200, { a: [{ b: 'a secret' }] }), 446],
    ['JSON, clean', replyWith(200, { a: 'x' }), 200],
    ['JSON with another status of success', replyWith(201, { a: 'a secret' }), 446],
    ['JSON list', replyWith(200, '["a secret"]'), 446],
    ['list in `data`', replyWith(200, { object: 'list', data: [{ text: 'a secret' }] }), 446],
    ['bytes in `data`', replyWith(200, { audio: { data: 'secret' } }), 200],
    ['words in `data`', replyWith(200, { audio: { data: 'a secret' } }), 446],
    ['bytes of an image and of a vector', replyWith(200, { data: [{ b64_json: 'secret' }, { embedding: 'secret' }] }), 200],
    ['text', replyWith(200, 'a secret', ['content-type', 'text/plain']), 446],
    ['events, split', replyWith(200, events(...gemini('a sec', 'ret')), stream), 446],
    ['events with CR line ends, split', replyWith(200, events(...gemini('a sec', 'ret')).replaceAll('\n', '\r'), stream), 446],
    ['events, clean', replyWith(200, events(...gemini('a', 'b')), stream), 200],
    [
      'lines of JSON, split',
      replyWith(
        200,
        gemini('a sec', 'ret')
          .map((line) => JSON.stringify(line))
          .join('\n'),
        ['content-type', 'application/x-ndjson'],
      ),
      446,
    ],
    ['gzip', bytes(gzipSync('{"a":"a secret"}'), 'gzip'), 446],
    ['gzip by its older name, clean', bytes(gzipSync('{"a":"x"}'), 'x-gzip'), 200],
    ['brotli, clean', bytes(brotliCompressSync('{"a":"x"}'), 'br'), 200],
    ['unknown encoding', bytes(Buffer.from('{"a":"x"}'), 'rot13'), 446],
    ['broken gzip', bytes(Buffer.from('{"a":"x"}'), 'gzip'), 446],
    ['unknown type', replyWith(200, 'x', ['content-type', 'application/vnd.amazon.eventstream']), 446],
    ['audio', bytes(Buffer.from('secret\xff', 'latin1'), 'identity', 'audio/mpeg'), 200],
    ['text of a type for audio', replyWith(200, 'a secret', ['content-type', 'audio/mpeg']), 446],
    ['error of the provider', replyWith(500, { error: { message: 'a secret' } }), 500],
  ])('response: %s', async (_name, script, status) => {
    const asked = await ask({ output_guardrails: none() }, path, { x: 1 }, script);
    expect(asked.status).toBe(status);
    expect(asked.text.includes('hook_results')).toBe(status === 446);
  });

  it.each<[string, JsonObject | string | Uint8Array, Record<string, string>, JsonObject, number]>([
    ['JSON that cannot be parsed', '{"a":', {}, {}, 446],
    ['JSON that cannot be parsed, failOnError false', '{"a":', {}, { failOnError: false }, 200],
    ['bytes', new Uint8Array([1, 2]), { 'content-type': 'application/octet-stream' }, {}, 446],
  ])('request: %s', async (_name, body, headers, parameters, status) => {
    const input_guardrails = [{ 'default.contains': { words: ['secret'], operator: 'none', ...parameters }, deny: true }];
    expect((await ask({ input_guardrails }, path, body, ok, headers)).status).toBe(status);
  });

  it('a failed verdict without deny changes nothing but the record', async () => {
    const { status, text, record } = await ask({ input_guardrails: none({ deny: false }) }, path, { a: 'secret' }, ok);
    expect([status, text]).toEqual([200, '{"ok":true}']);
    expect(record?.guardrails).toMatchObject([{ verdict: false, deny: false }]);
  });

  it('a replacement cannot be made: it is denied with deny, otherwise recorded as an error', async () => {
    const replace = (more: JsonObject) => [{ 'default.regexReplace': { rule: 'secret' }, ...more }];
    expect((await ask({ input_guardrails: replace({ deny: true }) }, path, { a: 'secret' }, ok)).status).toBe(446);
    const passed = await ask({ input_guardrails: replace({}) }, path, { a: 'secret' }, ok);
    expect(passed.status).toBe(200);
    expect(passed.record?.guardrails?.[0]?.checks).toMatchObject([{ error: 'Check error', failedOpen: true }]);
  });

  it('checks without text run', async () => {
    const input_guardrails = [{ 'default.allowedRequestTypes': { blockedTypes: ['proxy'] }, deny: true }];
    expect((await ask({ input_guardrails }, path, { a: 1 }, ok)).status).toBe(446);
  });
});

describe('conversations that a provider stores', () => {
  const message = { role: 'user', content: 'a secret' };
  it.each<[string, JsonObject, number]>([
    ['/v1/conversations', { items: [message] }, 446],
    ['/v1/conversations', {}, 200],
    ['/v1/conversations/c/items', { items: [message] }, 446],
    ['/v1/conversations/c/items', { items: [{ role: 'user', content: 'a word' }] }, 200],
    ['/v1/proxy/openai/conversations/c/items', { items: [message] }, 446],
    ['/v1/threads', { messages: [message] }, 446],
    ['/v1/threads/t/messages', message, 446],
    ['/v1/assistants', { instructions: 'a secret' }, 446],
    ['/v1/cachedContents', { contents: [{ parts: [{ text: 'a secret' }] }] }, 446],
    ['/v1/vector_stores', { name: 'a secret' }, 446],
  ])('request: %s %j is %i', async (path, body, status) => {
    const { status: replied, calls } = await ask({ input_guardrails: none(), output_guardrails: none() }, path, body, ok);
    expect([replied, calls]).toEqual([status, status === 446 ? 0 : 1]);
  });

  it.each([
    ['/v1/conversations/c/items', 446],
    ['/v1/conversations/c/items/i', 446],
    ['/v1/threads/t/messages', 446],
    ['/v1/threads/t/runs/r/steps', 446],
    ['/v1/chat/completions', 446],
    ['/v1/chat/completions/c', 446],
    ['/v1/conversations/c', 446],
    ['/v1/vector_stores/v', 200],
  ])('response: GET %s is %i', async (path, status) => {
    const gateway = createHarness({ key: { scopes: ['completions.write'] } });
    gateway.script(replyWith(200, { data: [{ content: [{ text: 'a secret' }] }] }));
    const must = [{ 'default.contains': { words: ['needed'], operator: 'any' }, deny: true }];
    const config = JSON.stringify({ provider: '@one', input_guardrails: must, output_guardrails: none() });
    const sink = await gateway.send({ method: 'GET', path, headers: { 'x-svc-config': config }, body: '' });
    expect(sink.status).toBe(status);
  });

  it('request: a GET without a body has no text that a guardrail of requests could miss', async () => {
    const gateway = createHarness({ key: { scopes: ['completions.write'] } });
    gateway.script(replyWith(200, { data: [{ content: [{ text: 'a secret' }] }] }));
    const must = [{ 'default.contains': { words: ['needed'], operator: 'any' }, deny: true }];
    const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', input_guardrails: must }) };
    const sink = await gateway.send({ method: 'GET', path: '/v1/threads/t/messages', headers, body: '' });
    expect(sink.status).toBe(200);
  });
});

describe('WebSocket sessions of unknown formats', () => {
  const contains = (more: JsonObject = {}) => ({ 'default.contains': { words: ['secret'], operator: 'none', ...more } });
  const targets = [{ provider: '@one', input_guardrails: [{ ...contains(), deny: true }] }, { provider: '@two' }];
  it.each<[string, JsonObject, boolean]>([
    ['input guardrail that denies', { input_guardrails: [{ ...contains(), deny: true }] }, true],
    ['output guardrail that denies', { output_guardrails: [{ ...contains(), deny: true }] }, true],
    ['guardrail of one target that denies', { provider: undefined, strategy: { mode: 'fallback' }, targets }, true],
    ['failOnError false', { input_guardrails: [{ ...contains({ failOnError: false }), deny: true }] }, false],
    ['guardrail without deny', { input_guardrails: [contains()] }, false],
    [
      'check without text that fails',
      { input_guardrails: [{ 'default.requiredMetadataKeys': { metadataKeys: ['x'] }, deny: true }] },
      true,
    ],
    [
      'check without text that passes',
      { input_guardrails: [{ 'default.allowedRequestTypes': { allowedTypes: ['proxy'] }, deny: true }] },
      false,
    ],
  ])('%s', async (_name, config, isDenied) => {
    const gateway = createHarness();
    const sink = new FakeSink();
    const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', ...config }) };
    const request = fakeRequest({ method: 'GET', path: '/v1/responses', headers, body: '' }, gateway.key);
    gateway.handle({ ...request, webSocketProtocols: [] }, sink);
    await sink.done;
    expect(sink.status === 446).toBe(isDenied);
    expect(gateway.records[0]?.guardrails).toHaveLength(1);
  });
});

describe('texts by scope', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'fn', arguments: '{"arg":1}' } };
  const chat = {
    messages: [
      { role: 'system', content: 'sys' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'image_url', image_url: { url: 'https://x' } },
        ],
      },
      { role: 'assistant', content: 'two', tool_calls: [call] },
      { role: 'user', content: 'three' },
    ],
  };
  const messages = {
    system: [{ type: 'text', text: 'sys' }],
    messages: [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'fn', input: { q: 'arg' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'result' }] }] },
    ],
  };
  it.each<['chatComplete' | 'messages' | 'createModelResponse', Scope, JsonObject, string[]]>([
    ['chatComplete', 'last_message', chat, ['three']],
    ['chatComplete', 'user_messages', chat, ['one', 'three']],
    ['chatComplete', 'all_messages', chat, ['sys', 'one', 'two', 'fn', '{"arg":1}', 'three']],
    ['messages', 'last_message', messages, ['result']],
    ['messages', 'user_messages', messages, ['one', 'result']],
    ['messages', 'all_messages', messages, ['sys', 'one', 'fn', 'q', 'arg', 'result']],
    ['createModelResponse', 'all_messages', { instructions: 'sys', input: [{ role: 'user', content: 'one' }] }, ['sys', 'one']],
  ])('%s %s', (operation, scope, body, texts) => {
    const parts = textParts(operation, 'input', body, scope);
    expect(parts.map(({ text }) => text)).toEqual(texts);
    const upper = withTexts(
      body,
      parts,
      parts.map(({ text }) => text.toUpperCase()),
    );
    expect(textParts(operation, 'input', upper, scope).map(({ text }) => text)).toEqual(texts.map((text) => text.toUpperCase()));
  });

  it.each<['chatComplete' | 'complete' | 'messages' | 'createModelResponse', JsonObject, string[]]>([
    ['chatComplete', { choices: [{ message: { content: 'a' } }, { message: { content: null, refusal: 'b' } }] }, ['a', 'b']],
    ['complete', { choices: [{ text: 'a' }, { text: 'b' }] }, ['a', 'b']],
    [
      'messages',
      {
        content: [
          { type: 'thinking', thinking: 't' },
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      ['a', 'b'],
    ],
    [
      'createModelResponse',
      {
        output: [
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'r' }] },
          {
            type: 'message',
            content: [
              { type: 'output_text', text: 'a' },
              { type: 'refusal', refusal: 'b' },
            ],
          },
        ],
      },
      ['r', 'a', 'b'],
    ],
  ])('response of %s', (operation, body, texts) => {
    expect(textParts(operation, 'output', body, 'last_message').map(({ text }) => text)).toEqual(texts);
  });
});

function bytes(body: Uint8Array, encoding: string, type = 'application/json'): Script {
  return (_call, handler) => {
    handler.onHead(200, ['content-type', type, 'content-encoding', encoding]);
    handler.onData(body);
    handler.onEnd();
  };
}
