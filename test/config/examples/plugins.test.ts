import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chatReply, chatStream, createTestGateway, messagesReply, providerReply, type TestGateway } from 'svc-gateway/test-kit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadPlugins } from '../../../core/plugin-host/load-plugins.ts';

const started: TestGateway[] = [];
afterAll(() => Promise.all(started.map((gateway) => gateway.close())));

async function start(name: string): Promise<TestGateway> {
  const entries = await loadPlugins([`config/examples/plugins/${name}.mjs`]);
  const gateway = createTestGateway({ plugins: entries.map(({ plugin }) => plugin) });
  started.push(gateway);
  return gateway;
}

describe('example header-stamp', () => {
  const config = { plugins: { 'header-stamp': { headers: { 'x-served-by': 'gateway {model}' } } } };

  it('adds headers to replies, streams and errors', async () => {
    const gateway = await start('header-stamp');
    gateway.provider(providerReply(200, chatReply('hi')), chatStream(['hi']), providerReply(400, { error: { message: 'no' } }));
    for (const stream of [false, true, false]) {
      expect((await gateway.send({ config, stream })).header('x-served-by')).toBe('gateway gpt-5');
    }
  });

  it('does nothing for other configs, and rejects names without x-', async () => {
    const gateway = await start('header-stamp');
    expect((await gateway.send()).header('x-served-by')).toBeUndefined();
    const { status, text } = await gateway.send({ config: { plugins: { 'header-stamp': { headers: { 'Set-Cookie': 'a' } } } } });
    expect([status, text]).toEqual([400, expect.stringContaining('plugins.header-stamp.headers.Set-Cookie')]);
  });
});

describe('example route-by-tag', () => {
  const config = {
    strategy: {
      mode: 'conditional',
      conditions: [{ query: { 'metadata.tag': { $eq: 'code' } }, then: 'code' }],
      default: 'other',
    },
    targets: [
      { name: 'code', provider: '@anthropic', override_params: { model: 'claude' } },
      { name: 'other', provider: '@openai' },
    ],
  };
  const body = (content: string) => ({ model: 'gpt-5', max_tokens: 10, messages: [{ role: 'user', content }] });

  it('chooses the target by the tag, removes it, and records it', async () => {
    const gateway = await start('route-by-tag');
    gateway.provider(providerReply(200, messagesReply('done')));
    const { content, record } = await gateway.send({ config, body: body('#code write a loop') });
    expect([content, record.providerSlug, record.metadata.tag]).toEqual(['done', 'anthropic', 'code']);
    expect(gateway.providerCalls[0]?.body).toContain('"write a loop"');
  });

  it.each(['write a loop', '#weather now', '#Code x'])('sends "%s" to the default target', async (text) => {
    const gateway = await start('route-by-tag');
    expect((await gateway.send({ config, body: body(text) })).record.providerSlug).toBe('openai');
  });
});

describe('example ask-policy', () => {
  const config = { plugins: { 'ask-policy': { url: 'https://policy.example/decisions' } } };

  it('sends caller, model and texts, and allows', async () => {
    const gateway = await start('ask-policy');
    const asked: unknown[] = [];
    gateway.service('https://policy.example', ({ body }) => {
      asked.push(JSON.parse(body));
      return { status: 200, body: { allow: true } };
    });
    expect((await gateway.send({ config, text: 'question', metadata: { team: 'red' } })).status).toBe(200);
    expect(asked).toEqual([
      { user: null, metadata: expect.objectContaining({ team: 'red' }), model: 'gpt-5', texts: ['question'] },
    ]);
  });

  it('rejects with the reason before the provider is called', async () => {
    const gateway = await start('ask-policy');
    gateway.service('https://policy.example', () => ({ status: 200, body: { allow: false, reason: 'after hours' } }));
    const { status, text } = await gateway.send({ config });
    expect([status, text]).toEqual([403, expect.stringContaining('after hours')]);
    expect(gateway.providerCalls).toHaveLength(0);
  });

  it.each([
    ['an error', { status: 500, body: {} }],
    ['text', { status: 200, body: 'yes' }],
    ['another type', { status: 200, body: { allow: 'yes' } }],
    ['nothing', null],
    ['nothing in time', new Promise<never>(() => {})],
  ])('fails closed if the service replies with %s', async (_, reply) => {
    const gateway = await start('ask-policy');
    if (reply) gateway.service('https://policy.example', () => reply);
    expect((await gateway.send({ config })).status).toBe(503);
    expect(gateway.providerCalls).toHaveLength(0);
  });
});

describe('example sign-replies', () => {
  beforeAll(() => vi.stubEnv('REPLY_SIGNING_KEY', 'a key'));
  afterAll(() => vi.unstubAllEnvs());
  const signatureOf = (text: string) => createHmac('sha256', 'a key').update(text).digest('hex');

  it('signs plain replies with the results of guardrails, and cached ones', async () => {
    const gateway = await start('sign-replies');
    gateway.provider(providerReply(200, chatReply('hi')));
    const check = { 'default.contains': { operator: 'none', words: ['no'] } };
    const config = { cache: { mode: 'simple' }, input_guardrails: [{ ...check, deny: true }] };
    for (const cacheStatus of ['MISS', 'HIT']) {
      const { header, text, record } = await gateway.send({ config });
      expect([record.cacheStatus, header('x-signature')]).toEqual([cacheStatus, signatureOf(text)]);
    }
  });

  it('signs cached streams and lists of models, but not streams of providers', async () => {
    const gateway = await start('sign-replies');
    gateway.provider(chatStream(['h', 'i']));
    const request = { config: { cache: { mode: 'simple' } }, stream: true };
    expect((await gateway.send(request)).header('x-signature')).toBeUndefined();
    const hit = await gateway.send(request);
    const list = await gateway.send({ method: 'GET', path: '/v1/models' });
    for (const { header, text } of [hit, list]) expect(header('x-signature')).toBe(signatureOf(text));
  });
});

describe('example cap-users', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cap-users-'));
  beforeAll(() => vi.stubEnv('CAP_USERS_FILE', join(folder, 'caps.db')));
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  // A reply has 3 tokens of input and 2 of output.
  const caps = { usdPerDay: 0.00001, usdPerMillionTokens: { input: 1, output: 1 } };
  const config = { cache: { mode: 'simple' }, plugins: { 'cap-users': caps } };

  it('rejects requests of a user who has spent the cap, also at another gateway, and of no others', async () => {
    const gateway = await start('cap-users');
    const send = async (user: string, text: string) => (await gateway.send({ config, metadata: { user }, text })).status;
    gateway.provider(...Array.from({ length: 3 }, () => providerReply(200, chatReply('hi'))));
    expect([await send('ada', 'one'), await send('ada', 'two'), await send('ada', 'three')]).toEqual([200, 200, 403]);
    expect(await send('bob', 'three')).toBe(200);
    const other = await start('cap-users');
    expect((await other.send({ config, metadata: { user: 'ada' }, text: 'four' })).status).toBe(403);
  });

  it('counts tokens of reasoning once', async () => {
    const gateway = await start('cap-users');
    const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8, completion_tokens_details: { reasoning_tokens: 4 } };
    gateway.provider(...Array.from({ length: 2 }, () => providerReply(200, { ...chatReply('hi'), usage })));
    const send = async (text: string) => (await gateway.send({ config, metadata: { user: 'kay' }, text })).status;
    expect([await send('one'), await send('two'), await send('three')]).toEqual([200, 200, 403]);
  });

  it('counts no hits of the cache, and asks for a user', async () => {
    const gateway = await start('cap-users');
    gateway.provider(providerReply(200, chatReply('hi')));
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await gateway.send({ config, metadata: { user: 'eve' } })).status);
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect((await gateway.send({ config })).status).toBe(400);
  });
});

describe('example mask-words', () => {
  const config = { plugins: { 'mask-words': { words: ['secret', 'key'] } } };

  it('masks words in plain replies', async () => {
    const gateway = await start('mask-words');
    gateway.provider(providerReply(200, chatReply('a secret key')));
    expect((await gateway.send({ config })).content).toBe('a ****** ***');
  });

  it('masks words that chunks of a stream split', async () => {
    const gateway = await start('mask-words');
    gateway.provider(chatStream(['a se', 'c', 'ret k', 'e', 'y, k', 'eep']));
    const { content, chunks } = await gateway.send({ config, stream: true });
    expect(content).toBe('a ****** ***, keep');
    expect(chunks.length).toBeGreaterThan(1);
  });
});

describe('example allowed-topics', () => {
  const config = { input_guardrails: [{ 'allowed-topics.keywords': { topics: ['billing'] }, deny: true }] };

  it('passes texts about a topic and denies others', async () => {
    const gateway = await start('allowed-topics');
    expect((await gateway.send({ config, text: 'my Billing address' })).status).toBe(200);
    expect((await gateway.send({ config, text: 'the weather' })).status).toBe(446);
  });
});
