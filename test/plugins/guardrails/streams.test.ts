import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, chatStream, createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { messagesStream, responsesStream, streamOf } from '../../../core/test-kit/provider-scripts.ts';

const none = (more: JsonObject = {}) => ({
  'default.contains': { words: ['secret'], operator: 'none' },
  deny: true,
  stream: 'window',
  ...more,
});
const replace = { 'default.regexReplace': { rule: '/secret/g', redactText: '***' }, stream: 'window' };

function completionsStream(texts: readonly string[]): Script {
  const chunk = (text: string, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'text_completion', choices: [{ index: 0, text, finish_reason, logprobs: null }] })}\n\n`;
  return streamOf([...texts.map((text) => chunk(text)), chunk('', 'stop'), 'data: [DONE]\n\n']);
}

const user = [{ role: 'user', content: 'hi' }];
/** Route, provider, body, and the stream of the provider. */
const routes: [string, string, JsonObject, (texts: readonly string[]) => Script][] = [
  ['/v1/chat/completions', '@one', { messages: user }, chatStream],
  ['/v1/chat/completions', '@claude', { messages: user }, messagesStream],
  ['/v1/completions', '@one', { prompt: 'hi' }, completionsStream],
  ['/v1/messages', '@claude', { messages: user, max_tokens: 9 }, messagesStream],
  ['/v1/messages', '@one', { messages: user, max_tokens: 9 }, chatStream],
  ['/v1/responses', '@one', { input: 'hi' }, responsesStream],
  ['/v1/responses', '@claude', { input: 'hi' }, messagesStream],
];

async function ask(config: JsonObject, [path, provider, body, stream]: (typeof routes)[number], texts: readonly string[]) {
  const gateway = createHarness();
  gateway.script(stream(texts));
  const sink = await gateway.send({
    path,
    headers: { 'x-svc-config': JSON.stringify({ provider, ...config }) },
    body: { model: 'm', stream: true, ...body },
  });
  return { gateway, sink, record: gateway.records[0] };
}

describe('a stream in a window', () => {
  it.each(routes)('%s of %s: ends before a denied word, with an error event', async (...route) => {
    const { sink, record } = await ask({ output_guardrails: [none()] }, route, ['fine ', 'a sec', 'ret ', 'more']);
    expect(sink.status).toBe(200);
    expect(sink.text).toContain('fine');
    expect(sink.text).not.toMatch(/sec|ret |more/);
    expect(sink.text).toContain('response_denied');
    expect(record).toMatchObject({
      outcome: 'cut',
      errorCode: 'response_denied',
      guardrails: [{ side: 'output', verdict: false, deny: true }],
    });
    expect(record?.outputTokens).toBeGreaterThan(0);
  });

  it.each(routes)('%s of %s: replaces a word that is split over events', async (...route) => {
    const { sink, record } = await ask({ output_mutators: [replace] }, route, ['fine ', 'a sec', 'ret ', 'more']);
    expect([sink.status, record?.outcome]).toEqual([200, 'success']);
    expect(sink.text).not.toMatch(/secret|sec"/);
    expect(sink.text).toContain('***');
    expect(record?.guardrails).toMatchObject([{ verdict: true, transformed: true }]);
  });

  it.each(routes)('%s of %s: sends a clean text whole', async (...route) => {
    const { sink, record } = await ask({ output_guardrails: [none()] }, route, ['fine ', 'a sec', 'ond']);
    expect(textOf(sink.text)).toBe('fine a second');
    expect(record).toMatchObject({ outcome: 'success', guardrails: [{ verdict: true }] });
  });

  it('passes a failed verdict without deny on, and records it', async () => {
    const { sink, record } = await ask({ output_guardrails: [none({ deny: false })] }, routes[0] as (typeof routes)[number], [
      'a sec',
      'ret',
    ]);
    expect([sink.status, textOf(sink.text)]).toEqual([200, 'a secret']);
    expect(record?.guardrails).toMatchObject([{ verdict: false, deny: false }]);
  });

  it('fails the attempt if no byte has left, so that another target replies', async () => {
    const gateway = createHarness();
    gateway.script(completionsStream(['secret']), completionsStream(['fine']));
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@one', output_guardrails: [none()] }, { provider: '@two' }],
    };
    const sink = await gateway.send({
      path: '/v1/completions',
      headers: { 'x-svc-config': JSON.stringify(config) },
      body: { model: 'm', prompt: 'hi', stream: true },
    });
    expect([sink.status, gateway.calls.length]).toEqual([200, 2]);
    expect(sink.text).toContain('fine');
    expect(gateway.records[0]?.attempts).toMatchObject([{ status: 446, errorCode: 'response_denied' }, { status: 200 }]);
  });

  it('replies 446 with the results if no byte has left and no target is left', async () => {
    const { sink, record } = await ask({ output_guardrails: [none({ id: 'g' })] }, routes[2] as (typeof routes)[number], [
      'secret',
    ]);
    expect(sink.status).toBe(446);
    expect(sink.json).toMatchObject({
      error: { type: 'hooks_failed' },
      hook_results: { after_request_hooks: [{ id: 'g', verdict: false }] },
    });
    expect(record).toMatchObject({ status: 446, errorCode: 'response_denied' });
  });

  it('stores in the cache what the client received', async () => {
    const gateway = createHarness();
    gateway.script(chatStream(['a sec', 'ret ']));
    const headers = {
      'x-svc-config': JSON.stringify({ provider: '@one', cache: { mode: 'simple' }, output_mutators: [replace] }),
    };
    const texts: string[] = [];
    for (let i = 0; i < 2; i++)
      texts.push((await gateway.send({ headers, body: { model: 'm', messages: user, stream: true } })).text);
    expect(gateway.calls).toHaveLength(1);
    expect(texts.map(textOf)).toEqual(['a *** ', 'a *** ']);
  });

  it('holds a pass-through stream, whose format is not known', async () => {
    const gateway = createHarness();
    gateway.script(chatStream(['a sec', 'ret']));
    const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', output_guardrails: [none()] }) };
    const sink = await gateway.send({ path: '/v1/some/route', headers, body: { stream: true } });
    expect(sink.status).toBe(446);
  });

  it('sends no probabilities of tokens, which repeat the text', async () => {
    const chunk = {
      choices: [{ index: 0, delta: { content: 'se' }, logprobs: { content: [{ token: 'cret' }] }, finish_reason: null }],
    };
    const stream = streamOf([
      `data: ${JSON.stringify(chunk)}\n\n`,
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
    ]);
    const [path, provider, body] = routes[0] as (typeof routes)[number];
    const { sink } = await ask({ output_guardrails: [none()] }, [path, provider, body, () => stream], []);
    expect(sink.text).not.toContain('cret');
    expect(textOf(sink.text)).toBe('se');
  });

  it('rejects a text that continues after its end, because a word could be cut in two', async () => {
    const chunk = (content: string, finish_reason: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`;
    const stream = streamOf([chunk('a sec', 'stop'), chunk('ret', 'stop'), 'data: [DONE]\n\n']);
    const [path, provider, body] = routes[0] as (typeof routes)[number];
    const { sink, record } = await ask({ output_guardrails: [none()] }, [path, provider, body, () => stream], []);
    expect(sink.text).not.toContain('ret');
    expect(record).toMatchObject({ outcome: 'cut', errorCode: 'upstream_invalid' });
  });

  it.each(routes)('%s of %s: checks events of another format too', async (...[path, provider, body]) => {
    const stream = streamOf(['data: {"surprise":[{"deep":"a secret"}]}\n\n', 'data: ["a secret"]\n\n']);
    const { sink } = await ask({ output_guardrails: [none()] }, [path, provider, body, () => stream], []);
    expect(sink.text).not.toContain('secret');
  });

  it('checks a reply that does not stream whole', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, chatReply('a secret')));
    const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', output_guardrails: [none()] }) };
    expect((await gateway.send({ headers, body: { model: 'm', messages: user } })).status).toBe(446);
  });
});

describe('a check that needs the whole text', () => {
  it.each<[JsonObject, string]>([
    [{ 'default.contains': { words: ['a'], operator: 'any' } }, 'default.contains: with the operator any'],
    [{ 'default.contains': { words: ['a'], operator: 'none', normalize: true } }, 'default.contains: with `normalize`'],
    [{ 'default.regexMatch': { rule: 'a' } }, 'default.regexMatch: without `not`'],
    [{ 'default.regexMatch': { rule: 'a+', not: true } }, 'default.regexMatch: the length of a match has no bound'],
    [{ 'default.regexReplace': { rule: 'a?' } }, 'default.regexReplace: the pattern matches the empty text'],
    [{ 'default.regexReplace': { rule: '(a{0,30}b{0,30}){1,16}c' } }, 'default.regexReplace: the pattern is too complex'],
    [{ 'default.regexReplace': { rule: 'a', scope: 'all_messages' } }, 'default.regexReplace: the scope all_messages'],
    [{ 'default.wordCount': { maxWords: 5 } }, 'default.wordCount: the check needs the whole text'],
    [{ 'default.webhook': { webhookURL: 'https://a.example' } }, 'default.webhook: the check needs the whole text'],
  ])('%j is rejected in a window', async (entry, expected) => {
    const gateway = createHarness();
    const config = { provider: '@one', output_guardrails: [{ ...entry, stream: 'window' }] };
    const sink = await gateway.send({
      headers: { 'x-svc-config': JSON.stringify(config) },
      body: { model: 'm', messages: user },
    });
    expect(sink.status).toBe(400);
    expect(JSON.stringify(sink.json)).toContain(`output_guardrails[0].stream: window is not possible with ${expected}`);
  });
});

/** The text of the reply in a stream of any format. */
function textOf(stream: string): string {
  let text = '';
  for (const line of stream.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    // biome-ignore lint/suspicious/noExplicitAny: events of all formats
    const event = JSON.parse(line.slice(6)) as any;
    const choice = event.choices?.[0];
    if (choice) text += choice.delta?.content ?? choice.text ?? '';
    else if (event.type === 'content_block_delta') text += event.delta.text ?? '';
    else if (event.type === 'response.output_text.delta') text += event.delta;
  }
  return text;
}
