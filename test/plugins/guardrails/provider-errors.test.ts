import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';

const denies = { id: 'g', 'default.contains': { words: ['secret'], operator: 'none' }, deny: true };
const redacts = { 'default.regexReplace': { rule: 'secret', redactText: 'word' } };
const error = (status: number, message: string) =>
  replyWith(status, { error: { message, type: 'x', failed_generation: message } });

async function ask(path: string, body: JsonObject, config: JsonObject, ...scripts: Script[]) {
  const gateway = createHarness({ key: { scopes: ['completions.write'] } });
  gateway.script(...scripts);
  const headers = { 'x-svc-config': JSON.stringify({ provider: 'openai', api_key: 'k', ...config }) };
  const { status, text } = await gateway.send({ method: 'POST', path, headers, body: JSON.stringify(body) });
  return { status, text, calls: gateway.calls.length, record: gateway.records[0] };
}

const ok = replyWith(200, { id: 'x', choices: [{ index: 0, message: { role: 'assistant', content: 'fine' } }] });
const messages = [{ role: 'user', content: 'x' }];
const routes: [string, JsonObject][] = [
  ['/v1/chat/completions', { model: 'm', messages }],
  ['/v1/chat/completions', { model: 'm', messages, stream: true }],
  ['/v1/messages', { model: 'm', max_tokens: 9, messages }],
  ['/v1/embeddings', { model: 'm', input: 'x' }],
  ['/v1/any', { model: 'm' }],
];

describe('guardrails of responses judge errors of a provider', () => {
  it.each(routes)('%s %j: the text of a denied one is withheld, and its status stays', async (path, body) => {
    for (const status of [400, 404, 429, 500]) {
      const got = await ask(path, body, { output_guardrails: [denies] }, error(status, 'a secret'));
      expect([got.status, got.text.includes('a secret')]).toEqual([status, false]);
      expect(JSON.parse(got.text).error.message).toContain('A guardrail withholds its text');
      expect(got.record?.guardrails).toMatchObject([{ id: 'g', side: 'output', verdict: false, deny: true }]);
    }
    const passed = await ask(path, body, { output_guardrails: [denies] }, error(400, 'a word'));
    expect([passed.status, passed.text.includes('a word')]).toEqual([400, true]);
  });

  it.each(routes)('%s %j: a text is redacted', async (path, body) => {
    const { status, text } = await ask(path, body, { output_guardrails: [redacts] }, error(400, 'a secret'));
    expect([status, text.includes('a word'), text.includes('secret')]).toEqual([400, true, false]);
  });

  it('in the event of a stream, in a reply that cannot be read, and in text', async () => {
    const [path, body] = routes[1] as (typeof routes)[number];
    const event = replyWith(200, 'data: {"error":{"message":"a secret"}}\n\n', ['content-type', 'text/event-stream']);
    const garbage = replyWith(200, '<html>a secret</html>', ['content-type', 'text/html']);
    const text = replyWith(500, 'a secret', ['content-type', 'text/plain']);
    for (const script of [event, garbage, text]) {
      for (const stream of ['buffer', 'window']) {
        const got = await ask(path, body, { output_guardrails: [{ ...denies, stream }] }, script);
        expect(got.text).toContain('A guardrail withholds its text');
        expect(got.text).not.toContain('a secret');
      }
    }
    const passed = await ask('/v1/any', { model: 'm' }, { output_guardrails: [denies] }, text);
    expect([passed.status, passed.text.includes('a secret')]).toEqual([500, false]);
  });

  it('leave retries and fallback to the status of the provider', async () => {
    const [path, body] = routes[0] as (typeof routes)[number];
    const target = { provider: 'openai', api_key: 'k' };
    const config = {
      strategy: { mode: 'fallback', on_status_codes: [429] },
      targets: [target, target],
      output_guardrails: [denies],
    };
    const got = await ask(path, body, config, error(429, 'a secret'), ok);
    expect([got.status, got.calls]).toEqual([200, 2]);
  });

  it('leave out checks that demand a form of the reply', async () => {
    const [path, body] = routes[0] as (typeof routes)[number];
    const forms = [{ 'default.contains': { words: ['please'] } }, { 'default.jsonSchema': { schema: { type: 'object' } } }];
    for (const form of forms) {
      const got = await ask(path, body, { output_guardrails: [{ ...form, deny: true }] }, error(400, 'no'));
      expect([got.status, got.text.includes('openai error: no')]).toEqual([400, true]);
    }
  });
});

describe('guardrails of responses read a pass-through stream with', () => {
  it.each([
    ['data that is text', 'data: {"a":1}\n\ndata: a secret\n\n'],
    ['data on two lines', 'data: {"b":1}\n\ndata: {"a":\ndata: "secret"}\n\n'],
    ['data that is a list', 'data: {"b":1}\n\ndata: ["secret"]\n\n'],
    ['a comment', ': a secret\n\ndata: {"a":1}\n\n'],
    ['a name', 'event: secret\ndata: {"a":1}\n\n'],
    ['a name twice', 'data: {"a":"secret","a":"x"}\n\n'],
  ])('%s', async (_name, stream) => {
    const script = replyWith(200, stream, ['content-type', 'text/event-stream']);
    const got = await ask('/v1/any', { model: 'm', stream: true }, { output_guardrails: [denies] }, script);
    expect([got.status, got.text.includes('secret"')]).toEqual([446, false]);
    const clean = replyWith(200, 'event: message\ndata: {"type":"message","a":1}\n\ndata: [DONE]\n\n', [
      'content-type',
      'text/event-stream',
    ]);
    expect((await ask('/v1/any', { model: 'm', stream: true }, { output_guardrails: [denies] }, clean)).status).toBe(200);
  });
});

describe('a response with a name twice', () => {
  const choice = (content: string) => JSON.stringify([{ index: 0, message: { role: 'assistant', content } }]);
  const [path, body] = routes[0] as (typeof routes)[number];

  it.each([0, 1_000_000])('is sent with the value that was checked (%i further characters)', async (length) => {
    const id = 'x'.repeat(length);
    const script = replyWith(200, `{"id":"${id}","choices":${choice('secret')},"choices":${choice('fine')}}`);
    const got = await ask(path, body, { output_guardrails: [denies] }, script);
    expect([got.status, JSON.parse(got.text).choices[0].message.content]).toEqual([200, 'fine']);
    expect(got.text.split('"choices"').length).toBe(2);
  });

  it('in a held stream, or on a pass-through route, cannot be read', async () => {
    const chunk = '{"id":"x","choices":[{"index":0,"delta":{"content":"secret","content":"fine"}}]}';
    const stream = replyWith(200, `data: ${chunk}\n\ndata: [DONE]\n\n`, ['content-type', 'text/event-stream']);
    expect((await ask(path, { ...body, stream: true }, { output_guardrails: [denies] }, stream)).status).toBe(446);
    const plain = replyWith(200, '{"a":"secret","a":"x"}');
    expect((await ask('/v1/any', { model: 'm' }, { output_guardrails: [denies] }, plain)).status).toBe(446);
  });
});

it('a large response is not parsed in one turn of the event loop', async () => {
  const [path, body] = routes[0] as (typeof routes)[number];
  const usage = Array.from({ length: 100_000 }, (_, index) => ({ index }));
  const reply = JSON.stringify({ id: 'x', choices: [{ index: 0, message: { role: 'assistant', content: 'fine' } }], usage });
  const parse = vi.spyOn(JSON, 'parse');
  const { status } = await ask(path, body, { output_guardrails: [denies] }, replyWith(200, reply));
  const longest = Math.max(...parse.mock.calls.map(([text]) => text.length));
  parse.mockRestore();
  expect([status, longest < 100_000]).toEqual([200, true]);
});

it('a revised prompt in a stream of images is checked', async () => {
  const event = { type: 'image_generation.completed', b64_json: 'AAAA', revised_prompt: 'a secret' };
  const script = replyWith(200, `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`, [
    'content-type',
    'text/event-stream',
  ]);
  for (const stream of ['buffer', 'window']) {
    const got = await ask(
      '/v1/images/generations',
      { model: 'm', prompt: 'x', stream: true },
      { output_guardrails: [{ ...denies, stream }] },
      script,
    );
    expect([stream, got.status, got.text.includes('a secret')]).toEqual([stream, 446, false]);
  }
});
