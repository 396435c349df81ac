import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';

const contains = (scope: string) => [{ 'default.contains': { words: ['secret'], operator: 'none', scope }, deny: true }];
const ok = replyWith(200, { ok: true });

async function ask(path: string, body: string, config: JsonObject, script: Script = ok, type = 'application/json') {
  const gateway = createHarness({ key: { scopes: ['completions.write'] } });
  gateway.script(script);
  const given = JSON.stringify({ provider: 'openai', api_key: 'k', ...config });
  const headers = { 'x-svc-config': given, 'content-type': type };
  const { status, text } = await gateway.send({ method: 'POST', path, headers, body });
  return { status, text, calls: gateway.calls };
}

const chat = (more: string) => `{"model":"m","messages":[{"role":"user","content":"x"}],${more}}`;
const tools = (parameters: string) =>
  `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",${parameters}}}}]`;

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('all_messages: a text is checked that is', () => {
  it.each<[string, string, string]>([
    ['the name of a property', '/v1/chat/completions', chat(tools('"properties":{"secret":{"type":"string"}}'))],
    [
      'the description of a property named id',
      '/v1/chat/completions',
      chat(tools('"properties":{"id":{"description":"secret"}}')),
    ],
    ['a value of a property named type', '/v1/chat/completions', chat(tools('"properties":{"type":{"enum":["secret"]}}'))],
    [
      'the description of a property named headers',
      '/v1/chat/completions',
      chat(tools('"properties":{"headers":{"description":"secret"}}')),
    ],
    ['an id in a default', '/v1/chat/completions', chat(tools('"properties":{"a":{"default":{"id":"secret"}}}'))],
    ['the name of a definition', '/v1/chat/completions', chat(tools('"$defs":{"secret":{"type":"string"}}'))],
    [
      'a name in the schema of the reply',
      '/v1/responses',
      '{"model":"m","input":"x","text":{"format":{"type":"json_schema","name":"n","schema":{"properties":{"secret":{}}}}}}',
    ],
    ['words in place of an address', '/v1/proxy/x', '{"url":"a secret word"}'],
    ['words in place of a vector', '/v1/proxy/x', '{"embedding":"a secret word"}'],
    ['a keyword of no dialect', '/v1/chat/completions', chat(tools('"properties":{"a":{"type":"string","secret":true}}'))],
    ['a keyword of a schema of Gemini', '/v1/proxy/models/m:generateContent', '{"schema":{"type":"OBJECT","secret":1}}'],
    ['a keyword of a schema with types', '/v1/chat/completions', chat('"guided_json":{"type":["object","null"],"secret":1}')],
    ['a keyword of a schema without a type', '/v1/chat/completions', chat('"guided_json":{"properties":{},"secret":1}')],
    ['the name of a property that others need', '/v1/chat/completions', chat(tools('"dependentRequired":{"secret":["a"]}'))],
    [
      'the name of a question of a decision',
      '/v1/decisions',
      '{"model":"m","state":"x","questions":{"secret":{"type":"noul","instructions":"?"}}}',
    ],
    [
      'an option of a question of a decision',
      '/v1/decisions',
      '{"model":"m","state":"x","questions":{"a":{"type":"choice","criteria":{"secret":"x"}}}}',
    ],
    ['the user', '/v1/chat/completions', chat('"user":"a secret"')],
    ['in the metadata', '/v1/chat/completions', chat('"metadata":{"a":"a secret"}')],
    ['a stop sequence', '/v1/chat/completions', chat('"stop":["secret"]')],
    ['a choice for the reply', '/v1/chat/completions', chat('"guided_choice":["secret"]')],
    ['a pattern for the reply', '/v1/chat/completions', chat('"guided_regex":"secret"')],
    [
      'the city of a search',
      '/v1/chat/completions',
      chat('"web_search_options":{"user_location":{"type":"approximate","approximate":{"city":"secret"}}}'),
    ],
    ['a field that the gateway does not know', '/v1/messages', '{"model":"m","max_tokens":9,"messages":[],"new_field":"secret"}'],
    ['named __proto__', '/v1/chat/completions', '{"model":"m","messages":[{"role":"user","content":{"__proto__":"secret"}}]}'],
    [
      'an argument named __proto__',
      '/v1/messages',
      '{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"__proto__":"secret"}}]}]}',
    ],
    ['named __proto__ on a pass-through route', '/v1/any', '{"__proto__":{"a":"secret"}}'],
    ['in an object named id on a pass-through route', '/v1/any', '{"a":{"id":{"b":"secret"}}}'],
  ])('%s', async (_name, path, body) => {
    const config = { input_guardrails: contains('all_messages') };
    const denied = await ask(path, body, config);
    expect([denied.status, denied.calls.length]).toEqual([446, 0]);
    expect((await ask(path, body.replaceAll('secret', 'word'), config)).status).toBe(200);
  });

  it.each<[string, JsonObject]>([
    [
      'a document of Bedrock',
      { messages: [{ role: 'user', content: [{ document: { source: { bytes: base64('a secret') } } }] }] },
    ],
    ['a data URL in any member', { input: { attachment: `data:text/plain;base64,${base64('a secret')}` } }],
    ['a data URL in a list', { files: [`data:application/octet-stream;base64,${base64('a secret')}`] }],
    ['words in place of base64', { data: 'an old and well kept secret' }],
    ['words in place of base64 of a text', { filename: 'a.txt', file_data: 'an old and well kept secret' }],
  ])('in a file: %s', async (_name, body) => {
    const denied = await ask('/v1/any', JSON.stringify(body), { input_guardrails: contains('all_messages') });
    expect([denied.status, denied.calls.length]).toEqual([446, 0]);
  });

  it('a file in a data URL is redacted and stays one', async () => {
    const config = {
      input_guardrails: [{ 'default.regexReplace': { rule: 'secret', redactText: 'word', scope: 'all_messages' } }],
    };
    const { calls } = await ask('/v1/chat/completions', chat(`"file":"data:text/plain;base64,${base64('a secret')}"`), config);
    expect(JSON.parse(String(calls[0]?.body))).toMatchObject({ file: `data:text/plain;base64,${base64('a word')}` });
  });

  it('settings and credentials of servers are not', async () => {
    const config = { input_guardrails: contains('all_messages') };
    const servers = '"mcp_servers":[{"type":"url","url":"https://a.example","name":"a","authorization_token":"secret"}]';
    const body = chat(`"reasoning_effort":"secret","service_tier":"secret","tool_choice":"secret",${servers}`);
    expect((await ask('/v1/chat/completions', body, config)).status).toBe(200);
  });

  it('a reply of chat completions is checked with the members that the format does not have', async () => {
    const reply = (more: JsonObject) => replyWith(200, { id: 'x', choices: [{ index: 0, message: { content: 'hi' } }], ...more });
    const config = { output_guardrails: contains('all_messages') };
    expect((await ask('/v1/chat/completions', chat('"n":1'), config, reply({ note: 'a secret' }))).status).toBe(446);
    expect((await ask('/v1/chat/completions', chat('"n":1'), config, reply({ note: 'a word' }))).status).toBe(200);
  });

  it('a reply of Responses is checked without its counts and what it repeats of the request', async () => {
    const secret = { a: 'a secret' };
    const repeated = { instructions: 'Tell no secret', tools: [secret], text: secret, metadata: secret, reasoning: secret };
    const reply = (text: string, more: JsonObject) =>
      replyWith(200, {
        id: 'x',
        output: [{ type: 'message', content: [{ type: 'output_text', text }] }],
        usage: secret,
        ...more,
      });
    const body = '{"model":"m","input":"x"}';
    const config = { output_guardrails: contains('all_messages') };
    expect((await ask('/v1/responses', body, config, reply('a word', repeated))).status).toBe(200);
    expect((await ask('/v1/responses', body, config, reply('a secret', repeated))).status).toBe(446);
    expect((await ask('/v1/responses', body, config, reply('a word', { note: 'a secret' }))).status).toBe(446);
  });
});

describe('a value that is nested too deeply to be read', () => {
  const deep = `${'['.repeat(3000)}"t"${']'.repeat(3000)}`;
  const type = ['content-type', 'application/json'];

  it('is denied in a request and in a reply, and passes guardrails that do not deny', async () => {
    const request = chat(`"a":${deep}`);
    const reply = replyWith(200, `{"id":"x","choices":[{"index":0,"message":{"content":"hi"}}],"a":${deep}}`, type);
    for (const [deny, status] of [
      [true, 446],
      [false, 200],
    ] as const) {
      const guardrails = contains('all_messages').map((one) => ({ ...one, deny }));
      expect((await ask('/v1/chat/completions', request, { input_guardrails: guardrails })).status).toBe(status);
      expect((await ask('/v1/chat/completions', chat('"n":1'), { output_guardrails: guardrails }, reply)).status).toBe(status);
    }
  });

  it.each(['/v1/chat/completions', '/v1/any'])('is withheld in an error of %s, whose status stays', async (path) => {
    const error = replyWith(400, `{"error":{"message":"no"},"a":${deep}}`, type);
    const got = await ask(path, chat('"n":1'), { output_guardrails: contains('all_messages') }, error);
    expect([got.status, got.text.includes('A guardrail withholds its text')]).toEqual([400, true]);
  });

  const nested = (levels: number, text: string) => `${'{"a":'.repeat(levels)}"${text}"${'}'.repeat(levels)}`;
  const events = (...all: string[]) =>
    replyWith(200, all.map((data) => `data: ${data}\n\n`).join(''), ['content-type', 'text/event-stream']);

  it.each([
    [40, 'a secret', 446],
    [40, 'a word', 200],
    [250, 'a word', 446],
  ])('is denied in a held stream: %i levels around %j have the status %i', async (levels, text, status) => {
    const piece = (value: string) =>
      `{"id":"c","choices":[{"index":0,"delta":{"note":${nested(levels, value)}},"finish_reason":null}]}`;
    const stream = events(piece('a'), piece(text), '{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}');
    const config = { output_guardrails: contains('all_messages') };
    expect((await ask('/v1/chat/completions', chat('"stream":true'), config, stream)).status).toBe(status);
  });

  it.each([
    [40, 'a secret', 446],
    [40, 'a word', 200],
    [250, 'a word', 502],
  ])('ends a stream in a window: %i levels around %j have the status %i', async (levels, text, status) => {
    const stream = events(
      `{"other":${nested(levels, text)}}`,
      '{"id":"c","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}',
    );
    const output_guardrails = contains('last_message').map((one) => ({ ...one, stream: 'window' }));
    expect((await ask('/v1/chat/completions', chat('"stream":true'), { output_guardrails }, stream)).status).toBe(status);
  });

  it('is a part of a message with a file at a depth that no format has', async () => {
    const data = Buffer.from('a secret').toString('base64');
    const part = `{"type":"text","text":"hi","b":${nested(7, 'x').replace('"x"', `{"data":"${data}"}`)}}`;
    const body = chat('"n":1').replace(/"messages":\[.*?\]/, `"messages":[{"role":"user","content":[${part}]}]`);
    expect((await ask('/v1/chat/completions', body, { input_guardrails: contains('last_message') })).status).toBe(446);
  });

  it('is denied in an event of a pass-through stream', async () => {
    const events = replyWith(200, `event: x\ndata: {"a":${deep}}\n\n`, ['content-type', 'text/event-stream']);
    expect((await ask('/v1/any', '{}', { output_guardrails: contains('last_message') }, events)).status).toBe(446);
  });
});

it('a name of a property is redacted with its other occurrences, and the schema stays one', async () => {
  const rule = { rule: 'Müller', redactText: 'NAME', scope: 'all_messages' };
  const body = chat(tools('"properties":{"Müller":{"type":"string","description":"of Müller"}},"required":["Müller"]'));
  const { calls } = await ask('/v1/chat/completions', body, { input_guardrails: [{ 'default.regexReplace': rule }] });
  const sent = JSON.parse(Buffer.from(calls[0]?.body as Uint8Array).toString());
  expect(sent.tools[0].function.parameters).toEqual({
    type: 'object',
    properties: { NAME: { type: 'string', description: 'of NAME' } },
    required: ['NAME'],
  });
});

describe('images', () => {
  const images = replyWith(200, { created: 1, data: [{ b64_json: 'aaaa', revised_prompt: 'a secret' }] });

  it('a prompt that the model has revised is checked and replaced', async () => {
    const body = '{"model":"m","prompt":"x"}';
    const denied = await ask('/v1/images/generations', body, { output_guardrails: contains('last_message') }, images);
    expect([denied.status, denied.text.includes('a secret')]).toEqual([446, false]);
    const rule = { rule: 'secret', redactText: 'word' };
    const changed = await ask('/v1/images/generations', body, { output_guardrails: [{ 'default.regexReplace': rule }] }, images);
    expect(JSON.parse(changed.text).data).toEqual([{ b64_json: 'aaaa', revised_prompt: 'a word' }]);
  });

  it('the prompt of a variation is checked', async () => {
    const part = (name: string, value: string) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const file = '--b\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\ncontent-type: image/png\r\n\r\nx\r\n';
    const form = (prompt: string) => `${part('prompt', prompt)}${file}--b--\r\n`;
    const type = 'multipart/form-data; boundary=b';
    const config = { input_guardrails: contains('last_message') };
    expect((await ask('/v1/images/variations', form('a secret'), config, ok, type)).status).toBe(446);
    expect((await ask('/v1/images/variations', form('a word'), config, ok, type)).status).toBe(200);
  });
});
