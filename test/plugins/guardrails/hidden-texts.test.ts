import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';

const contains = (scope: string) => [{ 'default.contains': { words: ['secret'], operator: 'none', scope }, deny: true }];

async function ask(path: string, body: JsonObject | string, config: JsonObject, script: Script, method = 'POST') {
  const gateway = createHarness({ key: { scopes: ['completions.write'] } });
  gateway.script(script);
  const headers = { 'x-svc-config': JSON.stringify({ provider: 'openai', api_key: 'k', ...config }) };
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const { status, text } = await gateway.send({ method, path, headers, body: sent });
  return { status, text, calls: gateway.calls };
}

const said = (content: unknown) => [{ role: 'user', content }];
const ok = replyWith(200, { ok: true });
const nested = (levels: number, value: unknown): unknown => (levels === 0 ? value : [nested(levels - 1, value)]);
const tool = (more: JsonObject) => ({ type: 'function', function: { name: 'f', ...more } });
const toolUse = (input: unknown) => ({ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input }] });
const schema = { properties: { a: { description: 'a secret' } } };

describe('requests: a text is checked that is', () => {
  it.each<[string, string, JsonObject]>([
    ['the description of a tool', '/v1/chat/completions', { messages: said('x'), tools: [tool({ description: 'a secret' })] }],
    ['the description of a parameter', '/v1/chat/completions', { messages: said('x'), tools: [tool({ parameters: schema })] }],
    ['the description of a function', '/v1/chat/completions', { messages: said('x'), functions: [{ description: 'a secret' }] }],
    [
      'in the schema of the reply',
      '/v1/chat/completions',
      { messages: said('x'), response_format: { type: 'json_schema', json_schema: { schema } } },
    ],
    ['in the schema of a response', '/v1/responses', { input: 'x', text: { format: { type: 'json_schema', schema } } }],
    ['predicted', '/v1/chat/completions', { messages: said('x'), prediction: { type: 'content', content: 'a secret' } }],
    ['the template of the prompt', '/v1/chat/completions', { messages: said('x'), chat_template: 'a secret' }],
    ['a system prompt in a field of its own', '/v1/chat/completions', { messages: said('x'), system_prompt: 'a secret' }],
    ['a negative prompt', '/v1/images/generations', { prompt: 'x', negative_prompt: 'a secret' }],
    ['the instruction of an embedding', '/v1/embeddings', { input: 'x', instruction: 'a secret' }],
    ['the title of an embedding', '/v1/embeddings', { input: 'x', title: 'a secret' }],
    [
      'a message between agents',
      '/v1/responses',
      { input: [{ type: 'agent_message', content: [{ type: 'encrypted_content', encrypted_content: 'secret' }] }] },
    ],
    ['nested in 40 levels', '/v1/messages', { max_tokens: 9, messages: [toolUse({ a: nested(40, 'a secret') })] }],
    [
      'escaped in arguments',
      '/v1/chat/completions',
      { messages: [{ role: 'assistant', tool_calls: [tool({ arguments: '{"a":"\\u0073ecret"}' })] }] },
    ],
    [
      'a name in arguments',
      '/v1/chat/completions',
      { messages: [{ role: 'assistant', tool_calls: [tool({ arguments: { secret: 1 } })] }] },
    ],
    [
      'an address in arguments at Gemini',
      '/v1/any',
      { contents: [{ parts: [{ functionCall: { name: 'f', args: { url: 'secret' } } }] }] },
    ],
    [
      'data in the result of a tool at Gemini',
      '/v1/any',
      { contents: [{ parts: [{ functionResponse: { name: 'f', response: { data: 'secret' } } }] }] },
    ],
    ['an id in arguments at Bedrock', '/v1/any', { messages: said([{ toolUse: { toolUseId: 't', input: { id: 'secret' } } }]) }],
    [
      'data in the result of a tool at Bedrock',
      '/v1/any',
      { messages: said([{ toolResult: { content: [{ json: { data: 'secret' } }] } }]) },
    ],
    ['in a list named data', '/v1/any', { data: ['secret'] }],
    ['named data and no base64', '/v1/any', { x: { data: 'a secret.' } }],
  ])('%s', async (_name, path, body) => {
    const config = { input_guardrails: contains('all_messages') };
    const denied = await ask(path, { model: 'm', ...body }, config, ok);
    expect([denied.status, denied.calls.length]).toEqual([446, 0]);
    const clean = JSON.parse(JSON.stringify(body).replaceAll(/secret|\\\\u0073ecret/g, 'word'));
    expect((await ask(path, { model: 'm', ...clean }, config, ok)).status).toBe(200);
  });

  it.each<[string, string, JsonObject]>([
    ['beside a text', '/v1/chat/completions', { messages: [{ role: 'user', text: 'x', content: 'a secret' }] }],
    ['beside an output', '/v1/responses', { input: [{ role: 'user', output: 'x', content: 'a secret' }] }],
    [
      'beside the output of a function',
      '/v1/chat/completions',
      { messages: [{ role: 'user', type: 'function_call_output', output: 'x', content: 'a secret' }] },
    ],
    [
      'in the result of a tool of an MCP server',
      '/v1/messages',
      { max_tokens: 9, messages: said([{ type: 'mcp_tool_result', content: [{ type: 'text', text: 'a secret' }] }]) },
    ],
  ])('%s, in each scope', async (_name, path, body) => {
    for (const scope of ['last_message', 'user_messages', 'all_messages']) {
      const denied = await ask(path, { model: 'm', ...body }, { input_guardrails: contains(scope) }, ok);
      expect([scope, denied.status, denied.calls.length]).toEqual([scope, 446, 0]);
    }
  });

  it('the credential and the address of an MCP server are not', async () => {
    const tools = [{ type: 'mcp', server_url: 'https://secret.example', authorization: 'secret', headers: { a: 'secret' } }];
    const body = { model: 'm', input: 'x', tools };
    expect((await ask('/v1/responses', body, { input_guardrails: contains('all_messages') }, ok)).status).toBe(200);
  });
});

it.each<[string, JsonObject]>([
  ['/v1/completions', { prompt: [[1, 2]] }],
  ['/v1/completions', { prompt: [1, 2] }],
  ['/v1/embeddings', { input: [1, 2] }],
  ['/v1/proxy/embeddings', { input: [['x'], [1, 2]] }],
])('%s %j has token ids: a guardrail with deny denies it, unless failOnError is false', async (path, body) => {
  const input_guardrails = contains('last_message');
  expect((await ask(path, { model: 'm', ...body }, { input_guardrails }, ok)).status).toBe(446);
  const check = { words: ['secret'], operator: 'none', failOnError: false };
  const passing = { input_guardrails: [{ 'default.contains': check, deny: true }] };
  expect((await ask(path, { model: 'm', ...body }, passing, ok)).status).toBe(200);
});

it('arguments with escapes are redacted and stay JSON', async () => {
  const input_guardrails = [{ 'default.regexReplace': { rule: 'Müller', redactText: '[NAME]', scope: 'all_messages' } }];
  const args = '{"a":"M\\u00fcller \\"x\\" \\u0022 \\n"}';
  const body = { model: 'm', messages: [{ role: 'assistant', tool_calls: [tool({ arguments: args })] }] };
  const { calls } = await ask('/v1/chat/completions', body, { input_guardrails }, ok);
  const sent = JSON.parse(String(calls[0]?.body)).messages[0].tool_calls[0].function.arguments;
  expect(JSON.parse(sent)).toEqual({ a: '[NAME] "x" " \n' });
});

describe('responses: a text is checked that is', () => {
  const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a secret' }] }];
  const choice = (message: JsonObject, more: JsonObject = {}) => ({
    choices: [{ index: 0, message: { content: 'x', ...message }, ...more }],
  });
  it.each<[string, string, string, string, JsonObject, JsonObject]>([
    ['an item of an earlier response', 'all_messages', 'GET', '/v1/responses/r/input_items', {}, { data: output }],
    ['compacted', 'last_message', 'POST', '/v1/responses/compact', { input: 'x' }, { output }],
    [
      'spoken',
      'last_message',
      'POST',
      '/v1/chat/completions',
      { messages: said('x') },
      choice({ audio: { transcript: 'a secret' } }),
    ],
    [
      'in a message beside a text',
      'last_message',
      'POST',
      '/v1/chat/completions',
      { messages: said('x') },
      choice({ content: 'a secret' }, { text: 'x' }),
    ],
    [
      'escaped in arguments',
      'all_messages',
      'POST',
      '/v1/chat/completions',
      { messages: said('x') },
      choice({ tool_calls: [{ ...tool({ arguments: '{"a":"\\u0073ecret"}' }), id: 'c' }] }),
    ],
  ])('%s', async (_name, scope, method, path, body, reply) => {
    const sent = method === 'GET' ? '' : { model: 'm', ...body };
    const config = { output_guardrails: contains(scope) };
    const { status, text } = await ask(path, sent, config, replyWith(200, { id: 'r', model: 'm', ...reply }), method);
    expect([status, text.includes('ecret')]).toEqual([446, false]);
  });
});

it.each<[string, string]>([
  ['/v1/chat/completions', '{"model":"m","messages":[{"role":"user","content":"a secret"}],"messages":[]}'],
  ['/v1/chat/completions', '{"model":"m","messages":[{"role":"user","content":"a secret","content":"x"}]}'],
  ['/v1/proxy/chat/completions', '{"model":"m","messages":[{"role":"user","content":"a secret","content":"x"}]}'],
  ['/v1/chat/completions', `{"messages":[{"role":"user","content":"a secret","content":"x"}],"model":"${' '.repeat(300_000)}m"}`],
  [
    '/v1/chat/completions',
    `{"messages":[{"role":"user","content":"a secret","content":"x"}],"stream":true,"pad":"${' '.repeat(9000)}"}`,
  ],
  [
    '/v1/chat/completions',
    `{"model":"@one/m","messages":[{"role":"user","content":"a secret","content":"x"}],"x":"${' '.repeat(9000)}"}`,
  ],
])('%s %.100s has a name twice: the value that is not checked is not sent', async (path, body) => {
  const { calls } = await ask(path, body, { input_guardrails: contains('all_messages') }, ok);
  expect(calls.some((call) => String(call.body).includes('secret'))).toBe(false);
  const start = [{ 'default.allowedRequestTypes': { blockedTypes: ['embed'] }, deny: true }];
  const later = await ask(path, body, { start_hooks: start, input_guardrails: contains('all_messages') }, ok);
  expect(later.calls.some((call) => String(call.body).includes('secret'))).toBe(false);
});

describe('pass-through requests that run no model', () => {
  it.each<[string, JsonObject]>([
    ['/v1/threads', { messages: said('a secret') }],
    ['/v1/threads/t/messages', { role: 'user', content: 'a secret' }],
    ['/v1/assistants', { model: 'm', instructions: 'a secret' }],
    ['/v1/conversations', { items: said('a secret') }],
    ['/v1/conversations/c/items', { items: said('a secret') }],
    ['/v1/vector_stores/v/search', { query: 'a secret' }],
    ['/v1/cachedContents', { contents: [{ parts: [{ text: 'a secret' }] }] }],
    ['/v1/proxy/messages/count_tokens', { messages: said('a secret') }],
    ['/v1/proxy/models/gemini:countTokens', { contents: [{ parts: [{ text: 'a secret' }] }] }],
  ])('POST %s: its texts are checked', async (path, body) => {
    const config = { input_guardrails: contains('last_message') };
    const denied = await ask(path, body, config, ok);
    expect([denied.status, denied.calls.length]).toEqual([446, 0]);
    const clean = JSON.parse(JSON.stringify(body).replaceAll('secret', 'word'));
    expect((await ask(path, clean, config, ok)).status).toBe(200);
  });

  it.each([
    '/v1/threads/t/messages',
    '/v1/threads/t/runs/r/steps',
    '/v1/conversations/c/items',
    '/v1/chat/completions',
    '/v1/chat/completions/c',
    '/v1/predictions/p',
    '/v1/evals/e/runs/r/output_items',
  ])('GET %s: its reply is checked', async (path) => {
    const config = { output_guardrails: contains('last_message') };
    const reply = (value: string) =>
      replyWith(200, { data: [{ content: [{ type: 'text', text: { value } }] }], output: [value] });
    const denied = await ask(path, '', config, reply('a secret'), 'GET');
    expect([denied.status, denied.text.includes('secret')]).toEqual([446, false]);
    expect((await ask(path, '', config, reply('a word'), 'GET')).status).toBe(200);
  });

  it.each(['/v1/proxy/datasets/d/query', '/v1/vector_stores/v/chat', '/v1/proxy/tunedModels/m:generateText'])(
    '%s runs a model below a stored resource and is checked',
    async (path) => {
      const config = { input_guardrails: contains('last_message') };
      expect((await ask(path, { prompt: 'a secret' }, config, ok)).status).toBe(446);
      expect((await ask(path, { prompt: 'a word' }, config, ok)).status).toBe(200);
    },
  );

  it.each([
    ['POST', '/v1/proxy/webhooks'],
    ['POST', '/v1/proxy/organization/projects'],
    ['POST', '/v1/realtime/calls/c/refer'],
    ['GET', '/v1/files/f/parts'],
    ['GET', '/v1/proxy/models'],
  ])('%s %s holds no text for a model and is not checked', async (method, path) => {
    const config = { input_guardrails: contains('last_message'), output_guardrails: contains('last_message') };
    const sent = method === 'POST' ? { name: 'secret' } : '';
    expect((await ask(path, sent, config, replyWith(200, { name: 'secret' }), method)).status).toBe(200);
  });
});

it('segments and words of a transcript that is redacted are removed', async () => {
  const gateway = createHarness();
  const segments = [
    { id: 0, text: 'a se' },
    { id: 1, text: 'cret' },
    { id: 2, text: 'a secret' },
  ];
  gateway.script(replyWith(200, { task: 'transcribe', text: 'a secret', segments, words: [{ word: 'secret' }] }));
  const form =
    '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\nx\r\n--b--\r\n';
  const output_guardrails = [{ 'default.regexReplace': { rule: '/[s]ecret/g', redactText: '***' } }];
  const headers = {
    'content-type': 'multipart/form-data; boundary=b',
    'x-svc-config': JSON.stringify({ provider: '@one', output_guardrails }),
  };
  const { status, text } = await gateway.send({ path: '/v1/audio/transcriptions', headers, body: form });
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ text: 'a ***', segments: [], words: [] });
});

it('the text that a response repeats is removed if it is redacted', async () => {
  const output_guardrails = [{ 'default.regexReplace': { rule: '/[s]ecret/g', redactText: '***' } }];
  const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a secret' }] }];
  const reply = { id: 'r', object: 'response', status: 'completed', output, output_text: 'a secret' };
  const { status, text } = await ask('/v1/responses', { model: 'm', input: 'x' }, { output_guardrails }, replyWith(200, reply));
  expect([status, text.includes('secret'), text.includes('a ***')]).toEqual([200, false, true]);
});

describe('forms with a text field behind a file', () => {
  const part = (head: string, body: string) => `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
  const form = (bytes: number, prompt: string) =>
    `${part('name="model"', 'm')}${part('name="file"; filename="a.wav"', 'x'.repeat(bytes))}${part('name="prompt"', prompt)}--b--\r\n`;
  const send = async (path: string, body: string, more: JsonObject = {}) => {
    const gateway = createHarness();
    gateway.script(ok);
    const check = { words: ['secret'], operator: 'none', ...more };
    const config = { provider: '@one', input_guardrails: [{ 'default.contains': check, deny: true }] };
    const headers = { 'content-type': 'multipart/form-data; boundary=b', 'x-svc-config': JSON.stringify(config) };
    return (await gateway.send({ path, headers, body })).status;
  };

  it.each(['/v1/audio/transcriptions', '/v1/any/route'])('%s: the field is checked', async (path) => {
    expect(await send(path, form(200_000, 'a secret'))).toBe(446);
    expect(await send(path, form(200_000, 'a word'))).toBe(200);
  });

  it.each(['/v1/audio/transcriptions', '/v1/any/route', '/v1/proxy/files'])(
    '%s: a form above the limit cannot be checked',
    async (path) => {
      expect(await send(path, form(2_000_000, 'a word'))).toBe(446);
      expect(await send(path, form(2_000_000, 'a word'), { failOnError: false })).toBe(200);
    },
  );
});

describe('files in text that a request contains', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const url = (text: string, type = 'text/plain') => `data:${type};base64,${base64(text)}`;
  const file = (file_data: string, filename = 'a.txt') => said([{ type: 'file', file: { filename, file_data } }]);
  const bodies: [string, string, (text: string) => JsonObject][] = [
    ['a data URL', '/v1/chat/completions', (text) => ({ messages: file(url(text)) })],
    [
      'a data URL without base64',
      '/v1/chat/completions',
      (text) => ({ messages: file(`data:text/plain,${encodeURIComponent(text)}`) }),
    ],
    ['base64 without a type', '/v1/chat/completions', (text) => ({ messages: file(base64(text)) })],
    ['text with another type', '/v1/chat/completions', (text) => ({ messages: file(url(text, 'application/pdf')) })],
    [
      'the address of an image',
      '/v1/chat/completions',
      (text) => ({ messages: said([{ type: 'image_url', image_url: { url: url(text) } }]) }),
    ],
    [
      'a file of a response',
      '/v1/responses',
      (text) => ({ input: said([{ type: 'input_file', filename: 'a.txt', file_data: url(text) }]) }),
    ],
    [
      'a document',
      '/v1/messages',
      (text) => ({
        max_tokens: 9,
        messages: said([{ type: 'document', source: { type: 'base64', media_type: 'text/plain', data: base64(text) } }]),
      }),
    ],
    [
      'inline data of Gemini',
      '/v1/any',
      (text) => ({ contents: [{ parts: [{ inlineData: { mimeType: 'text/plain', data: base64(text) } }] }] }),
    ],
  ];
  it.each(bodies)('%s is checked in each scope', async (_name, path, bodyOf) => {
    for (const scope of ['last_message', 'user_messages', 'all_messages']) {
      const send = (text: string) => ask(path, { model: 'm', ...bodyOf(text) }, { input_guardrails: contains(scope) }, ok);
      expect([scope, (await send('a secret')).status, (await send('a word')).status]).toEqual([scope, 446, 200]);
    }
  });

  it('is redacted', async () => {
    const input_guardrails = [{ 'default.regexReplace': { rule: 'secret', redactText: '***' } }];
    const { calls } = await ask(
      '/v1/chat/completions',
      { model: 'm', messages: file(url('a secret')) },
      { input_guardrails },
      ok,
    );
    expect(JSON.parse(String(calls[0]?.body)).messages).toEqual(file(url('a ***')));
  });

  it('an image is not text', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0xfe]);
    const messages = said([
      { type: 'text', text: 'x' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
    ]);
    const input_guardrails = [{ 'default.characterCount': { maxCharacters: 1 }, deny: true }];
    expect((await ask('/v1/chat/completions', { model: 'm', messages }, { input_guardrails }, ok)).status).toBe(200);
  });
});
