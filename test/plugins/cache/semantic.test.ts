import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { defineCorePlugin } from '../../../core/contract/plugin/core-plugin.ts';
import type { CacheRule } from '../../../core/contract/plugin/plan.ts';
import type { ProviderCall } from '../../../core/contract/plugin/services/provider-call.ts';
import type {
  CachedReply,
  Joined,
  ReplyCache,
  SimilarKey,
  SimilarReply,
} from '../../../core/contract/protocol/cached-replies.ts';
import type { WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import {
  chatReply,
  createHarness,
  type Harness,
  replyWith,
  type Script,
  workspaceId,
} from '../../../core/test-kit/pipeline-harness.ts';
import { createSemantic } from '../../../plugins/cache/semantic.ts';
import { embeddingsReply } from '../../support/fakes/fake-embeddings.ts';
import { newGate } from '../../support/gate.ts';
import { until } from '../../support/until.ts';

interface Asked {
  readonly similar: SimilarKey;
  readonly minScore: number;
}

/** A reply cache in memory that records its look-ups and finds similar replies without its own threshold. */
function fakeReplies(found: () => Promise<SimilarReply | null> = async () => null) {
  const asked: Asked[] = [];
  const stored: { digest: string; similar: SimilarKey | null; labels: object }[] = [];
  const entries = new Map<string, CachedReply>();
  const lead = (digest: string): Extract<Joined, { kind: 'lead' }> => ({
    kind: 'lead',
    end(result) {
      if (typeof result !== 'object') return;
      entries.set(digest, result.reply);
      stored.push({ digest, similar: result.similar, labels: result.labels });
    },
  });
  const replies: ReplyCache = {
    join({ digest }) {
      const reply = entries.get(digest);
      return reply ? { kind: 'hit', reply } : lead(digest);
    },
    similar(_key, similar, minScore) {
      asked.push({ similar, minScore });
      return found();
    },
    refresh: ({ digest }) => lead(digest),
  };
  return { replies, asked, stored };
}

const cached = (cache: object = {}) => ({
  'x-svc-config': JSON.stringify({
    provider: '@one',
    cache: { mode: 'semantic', embedding: { provider: 'two', model: 'e' }, ...cache },
  }),
});
const noSettings = {
  ...{ blockInlineConfig: false, debugLog: true, userKeyMetadata: false, userKeyMetadataOverride: false, cacheTtlSeconds: null },
};
const user = (content: unknown) => ({ role: 'user', content });
const hit: SimilarReply = {
  reply: {
    ...{ targetPath: 'config', provider: 'openai', contentType: 'application/json', contentEncoding: null, form: 'plain' },
    body: Buffer.from('{"similar":true}'),
  },
  ttlMs: 60_000,
};

/** Embeddings from one script, everything else is a chat reply. */
const replyTo =
  (embed: Script): Script =>
  (call, handler) =>
    (call.path === '/v1/embeddings' ? embed : replyWith(200, chatReply('fresh')))(call, handler);
const embeds: Script = (call, handler) => {
  const params = JSON.parse(Buffer.from(call.body as Uint8Array).toString()) as JsonObject;
  return replyWith(200, embeddingsReply(params))(call, handler);
};

function start(found?: () => Promise<SimilarReply | null>, embed: Script = embeds) {
  const fake = fakeReplies(found);
  const gateway = createHarness({ replies: fake.replies });
  gateway.script(replyTo(embed));
  const chat = (messages: unknown[], more: JsonObject = {}, headers = cached()) =>
    gateway.send({ headers, body: { model: 'gpt-5', messages, ...more } });
  return { ...fake, gateway, chat };
}

const embeddingsOf = ({ calls }: Harness) => calls.filter(({ path }) => path === '/v1/embeddings');

describe('the semantic cache', () => {
  it('replies from a similar entry, and stores it under the exact text without a vector', async () => {
    const { chat, gateway, stored } = start(async () => hit);
    const reply = await chat([user('hello there')]);
    expect([reply.header('x-svc-cache-status'), reply.text]).toEqual(['SEMANTIC HIT', '{"similar":true}']);
    expect(gateway.calls.map(({ path }) => path)).toEqual(['/v1/embeddings']);
    expect(stored).toEqual([expect.objectContaining({ similar: null })]);
    expect((await chat([user('hello there')])).header('x-svc-cache-status')).toBe('HIT');
    expect(gateway.records.at(-1)).toMatchObject({ cacheStatus: 'HIT', inputTokens: 0 });
  });

  it('stores a missed reply with the vector of its text, of length 1', async () => {
    const { chat, stored, asked } = start();
    const reply = await chat([user('hello there')]);
    expect(reply.header('x-svc-cache-status')).toBe('SEMANTIC MISS');
    const [one] = stored;
    expect(one?.similar?.partition).toBe(asked[0]?.similar.partition);
    expect(Math.hypot(...(one?.similar?.vector ?? []))).toBeCloseTo(1, 5);
    expect(one?.labels).toEqual({ namespace: null, model: 'gpt-5', endpoint: 'chatComplete' });
  });

  it('asks for at least 0.95; configs raise that, and do not lower it', async () => {
    const { chat, asked } = start();
    await chat([user('one')]);
    await chat([user('two')], {}, cached({ threshold: 0.98 }));
    await chat([user('three')], {}, cached({ threshold: 0.5 }));
    expect(asked.map(({ minScore }) => minScore)).toEqual([0.95, 0.98, 0.95]);
  });

  it.each([
    [0.99, 0.97, 0.99],
    [0.96, 0.97, 0.97],
    [0.5, undefined, 0.95],
  ])('asks for at least %d of the organisation, with %s in the config', async (organisation, config, expected) => {
    const { chat, asked, gateway } = start();
    const id = `workspace ${workspaceId}`;
    const document = gateway.documents.get(id) as WorkspaceDocument;
    const settings = { ...noSettings, cacheSimilarityThreshold: organisation };
    gateway.documents.set(id, { ...document, settings });
    await chat([user('one')], {}, cached(config === undefined ? {} : { threshold: config }));
    expect(asked[0]?.minScore).toBe(expected);
  });

  it('embeds the messages without the system text', async () => {
    const { chat, gateway } = start();
    await chat([{ role: 'system', content: 'be brief' }, user('hello'), { role: 'assistant', content: 'yes?' }, user('go on')]);
    const [call] = embeddingsOf(gateway);
    expect(JSON.parse(Buffer.from(call?.body as Uint8Array).toString())).toEqual({ model: 'e', input: 'hello\nyes?\ngo on' });
  });

  it.each([
    ['more than four messages', [user('a'), user('b'), user('c'), user('d'), user('e')]],
    ['no message of a user', [{ role: 'system', content: 'a' }]],
    [
      'an image',
      [
        user([
          { type: 'text', text: 'what is this' },
          { type: 'image_url', image_url: { url: 'https://x.y/z.png' } },
        ]),
      ],
    ],
    ['a tool result', [user('a'), { role: 'tool', tool_call_id: 'c', content: 'b' }]],
    ['tool calls', [user('a'), { role: 'assistant', content: null, tool_calls: [] }]],
    ['a named speaker', [{ ...user('a'), name: 'bob' }]],
    ['8,191 tokens', [user('a '.repeat(8_191))]],
  ])('matches only exactly with %s', async (_what, messages) => {
    const { chat, asked, stored } = start(async () => hit);
    const reply = await chat(messages);
    expect(reply.text).toContain('fresh');
    expect(asked).toEqual([]);
    expect(stored[0]?.similar).toBeNull();
  });

  it.each([
    ['/v1/completions', { model: 'm', prompt: 'hello' }],
    ['/v1/messages', { model: 'm', max_tokens: 5, messages: [user('hello')] }],
    ['/v1/responses', { model: 'm', input: 'hello' }],
    [
      '/v1/responses',
      { model: 'm', input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] }] },
    ],
  ])('serves %s', async (path, body) => {
    const { gateway, asked } = start(async () => hit);
    const reply = await gateway.send({ path, headers: cached(), body });
    expect(reply.header('x-svc-cache-status')).toBe('SEMANTIC HIT');
    expect(asked).toHaveLength(1);
  });

  it('matches embeddings, images and moderations only exactly', async () => {
    const { gateway, asked } = start(async () => hit);
    for (const [path, body] of [
      ['/v1/embeddings', { model: 'm', input: 'hello' }],
      ['/v1/images/generations', { model: 'm', prompt: 'hello' }],
      ['/v1/moderations', { model: 'm', input: 'hello' }],
    ] as const) {
      const reply = await gateway.send({ path, headers: cached(), body });
      expect(reply.header('x-svc-cache-status')).toBe('MISS');
    }
    expect(asked).toEqual([]);
  });

  it('has one partition per set of parameters, whatever the order of their keys', async () => {
    const { chat, asked } = start();
    const partition = async (more: JsonObject): Promise<string | undefined> => {
      await chat([user('hello')], more);
      return asked.at(-1)?.similar.partition;
    };
    const base = await partition({ temperature: 0, seed: 1 });
    expect(base).toBeDefined();
    expect(await partition({ seed: 1, temperature: 0 })).toBe(base);
    expect(await partition({ seed: 2, temperature: 0 })).not.toBe(base);
  });

  it.each(['gpt-5', '@one/gpt-5'])('shares no reply of a body with a name twice, model %s', async (model) => {
    const { gateway, asked } = start(async () => hit);
    const ask = async (content: string): Promise<string | undefined> => {
      const body = `{"model":"${model}","messages":[{"role":"user",${content}}],"user":"${'x'.repeat(10_000)}"}`;
      return (await gateway.send({ headers: cached(), body })).header('x-svc-cache-status');
    };
    expect(await ask('"content":"other","content":"hello"')).toBe('MISS');
    expect(asked).toEqual([]);
    expect(await ask('"content":"hello"')).toBe('SEMANTIC HIT');
  });

  it('has another partition if the default model of embeddings changes, although the config stays', async () => {
    let ctx: RequestContext | null = null;
    const catches = defineCorePlugin({
      name: 'catches',
      stage: 'strategy',
      config: v.optional(v.unknown()),
      onConfig: () => ({
        onRequest(given: RequestContext) {
          ctx = given;
        },
      }),
    });
    const gateway = createHarness({ plugins: [catches] });
    gateway.script(replyTo(embeds));
    await gateway.send({ headers: { 'x-svc-provider': '@one' }, body: { model: 'gpt-5', messages: [user('hello')] } });
    const callProvider = async ({ params }: ProviderCall) => embeddingsReply(params);
    const partitionWith = async (model: string) => {
      const semanticCache = { embedding: { provider: 'two', model, dimensions: null }, threshold: 0.95, timeoutMs: 500 };
      const request = createSemantic({ ...gateway.services, callProvider, semanticCache }).begin(
        ctx as unknown as RequestContext,
        { mode: 'semantic' } as CacheRule,
        null,
      );
      return (await request?.embedded)?.partition;
    };
    const one = await partitionWith('e');
    expect(one).toBeDefined();
    expect(await partitionWith('e')).toBe(one);
    expect(await partitionWith('f')).not.toBe(one);
  });

  it('has another partition for texts with other facts', async () => {
    const { chat, asked } = start();
    for (const text of ['is it safe', 'is it not safe', 'tell me is it safe']) await chat([user(text)]);
    const [safe, unsafe, reworded] = asked.map(({ similar }) => similar.partition);
    expect(unsafe).not.toBe(safe);
    expect(reworded).toBe(safe);
  });

  it.each([
    ['fails', replyWith(500, {})],
    ['is not a list of numbers', replyWith(200, { data: [{ embedding: 'AAAA' }] })],
    ['is empty', replyWith(200, { data: [] })],
    ['is zero', replyWith(200, { data: [{ embedding: [0, 0] }] })],
  ])('is a miss if the embedding %s', async (_what, embed) => {
    const { chat, asked, stored } = start(async () => hit, embed);
    const reply = await chat([user('hello')]);
    expect([reply.status, reply.header('x-svc-cache-status')]).toEqual([200, 'SEMANTIC MISS']);
    expect(asked).toEqual([]);
    expect(stored[0]?.similar).toBeNull();
  });

  it('does not ask a provider again right after it failed', async () => {
    const { chat, gateway } = start(undefined, replyWith(500, {}));
    await chat([user('one')]);
    await chat([user('two')]);
    expect(embeddingsOf(gateway)).toHaveLength(1);
  });

  it('continues as a miss if the embedding is slow', async () => {
    const { chat, asked } = start(
      async () => hit,
      () => {},
    );
    const reply = await chat([user('hello')]);
    expect([reply.status, reply.header('x-svc-cache-status')]).toEqual([200, 'SEMANTIC MISS']);
    expect(asked).toEqual([]);
  });

  it('continues as a miss if the store is slow, and stores the reply with its vector', async () => {
    const never = newGate();
    const { chat, stored } = start(async () => {
      await never.opened;
      return hit;
    });
    const reply = await chat([user('hello')]);
    expect([reply.status, reply.header('x-svc-cache-status')]).toEqual([200, 'SEMANTIC MISS']);
    expect(stored[0]?.similar).not.toBeNull();
    never.open();
  });

  it('stores a refreshed reply with its vector, without looking for a similar one or waiting for the embedding', async () => {
    const embedding = newGate();
    const late: Script = (call, handler) => void embedding.opened.then(() => embeds(call, handler));
    const { chat, stored, asked } = start(async () => hit, late);
    const reply = await chat([user('hello')], {}, { ...cached(), 'x-svc-cache-force-refresh': 'true' } as never);
    expect([reply.header('x-svc-cache-status'), reply.text.includes('fresh')]).toEqual(['REFRESH', true]);
    expect([asked, stored]).toEqual([[], []]);
    embedding.open();
    await until(() => stored.length === 1);
    expect(stored[0]?.similar?.vector).toBeDefined();
  });

  it('is a simple cache without a model for embeddings', async () => {
    const { gateway, chat } = start(async () => hit);
    const reply = await chat([user('hello')], {}, { 'x-svc-config': '{"provider":"@one","cache":"semantic"}' });
    expect(reply.header('x-svc-cache-status')).toBe('MISS');
    expect(embeddingsOf(gateway)).toEqual([]);
  });

  it('can differ by target; x-svc-cache: semantic without a model for embeddings is a simple cache', async () => {
    const { gateway, chat, asked } = start();
    const targets = [
      { provider: '@one', cache: 'off', override_params: { model: 'x' } },
      { provider: '@two', cache: { mode: 'semantic', embedding: { provider: '@two', model: 'e' } } },
    ];
    const fallback = JSON.stringify({
      strategy: { mode: 'loadbalance' },
      targets: targets.map((one, i) => ({ ...one, weight: i })),
    });
    const reply = await chat([user('hello')], {}, { 'x-svc-config': fallback });
    expect(reply.header('x-svc-cache-status')).toBe('SEMANTIC MISS');
    expect(asked).toHaveLength(1);
    const on = await gateway.send({ headers: { 'x-svc-provider': '@one', 'x-svc-cache': 'semantic' } });
    expect(on.header('x-svc-cache-status')).toBe('MISS');
  });

  const hides = { input_guardrails: [{ 'default.regexReplace': { rule: 'Ada', redactText: 'NAME' } }] };
  const restores = { output_guardrails: [{ 'default.regexReplace': { rule: 'fresh', redactText: 'Ada' } }] };

  it('embeds the text as a guardrail has changed it', async () => {
    const { gateway, stored } = start();
    const config = { ...JSON.parse(cached()['x-svc-config']), ...hides };
    const body = { model: 'm', messages: [user('who is Ada')] };
    const reply = await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config) }, body });
    expect(reply.header('x-svc-cache-status')).toBe('SEMANTIC MISS');
    expect(embeddingsOf(gateway).map((call) => JSON.parse(String(call.body)).input)).toEqual(['who is NAME']);
    expect(stored).toEqual([expect.objectContaining({ similar: expect.objectContaining({ vector: expect.anything() }) })]);
  });

  it('stores a reply without a vector if it may show text that a guardrail has hidden', async () => {
    const { gateway, stored } = start();
    const config = { ...JSON.parse(cached()['x-svc-config']), ...hides, ...restores };
    const body = { model: 'm', messages: [user('who is Ada')] };
    const reply = await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config) }, body });
    expect(reply.text).toContain('Ada');
    expect(stored).toEqual([expect.objectContaining({ similar: null })]);
  });

  it('serves pass-through requests, plain replies and streams apart', async () => {
    const { gateway, asked } = start(async () => hit);
    const send = (path: string, body: JsonObject) => gateway.send({ path, headers: cached(), body: JSON.stringify(body) });
    const chat = { model: 'm', messages: [user('hello there')] };
    expect((await send('/v1/proxy/chat/completions', chat)).header('x-svc-cache-status')).toBe('SEMANTIC HIT');
    await send('/v1/proxy/chat/completions', { ...chat, stream: true });
    await send('/v1/proxy/chat/completions', { ...chat, model: 'n' });
    expect(new Set(asked.map(({ similar }) => similar.partition)).size).toBe(3);
    expect((await send('/v1/proxy/other', chat)).header('x-svc-cache-status')).toBe('MISS');
    expect(embeddingsOf(gateway)).toHaveLength(3);
  });
});
