import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import {
  chatReply,
  chatStream,
  createHarness,
  type Harness,
  replyWith,
  workspaceId,
} from '../../../core/test-kit/pipeline-harness.ts';

const others = { userKeyMetadata: false, userKeyMetadataOverride: false, cacheTtlSeconds: null };
const settings = { blockInlineConfig: false, debugLog: true, ...others };

const cached = { 'x-svc-config': '{"provider":"@one","cache":{"mode":"simple"}}' };
const body = { model: 'gpt-5', input: 'hi' };
const send = (
  gateway: Harness,
  headers: Record<string, string> = {},
  sent: object = body,
  path = '/v1/custom/x',
  method = 'POST',
) => gateway.send({ method, path, headers: { ...cached, ...headers }, body: JSON.stringify(sent) });

describe('the cache of pass-through requests', () => {
  it('serves the second of two equal requests without usage', async () => {
    const gateway = createHarness();
    const replies = [await send(gateway), await send(gateway)];
    expect(replies.map((reply) => reply.header('x-svc-cache-status'))).toEqual(['MISS', 'HIT']);
    expect(replies[1]?.text).toBe(replies[0]?.text);
    expect(gateway.calls).toHaveLength(1);
    expect(gateway.records[1]).toMatchObject({ cacheStatus: 'HIT', inputTokens: 0, outputTokens: 0, usageEstimated: false });
  });

  it('serves the reply to a request with a copy of the key in Authorization to requests without it', async () => {
    const gateway = createHarness();
    await send(gateway, { authorization: `Bearer ${gateway.key}` });
    expect((await send(gateway)).header('x-svc-cache-status')).toBe('HIT');
  });

  it('stores bodies above 64 KiB', async () => {
    const gateway = createHarness();
    const large = { input: 'x'.repeat(100_000) };
    await send(gateway, {}, large);
    expect((await send(gateway, {}, large)).header('x-svc-cache-status')).toBe('HIT');
  });

  it('stores encoded replies with their encoding, per accepted encoding', async () => {
    const gateway = createHarness();
    const encoded = gzipSync(JSON.stringify(chatReply('hello')));
    gateway.script((_call, handler) => {
      handler.onHead(200, ['content-type', 'application/json', 'content-encoding', 'gzip']);
      handler.onData(encoded);
      handler.onEnd();
    });
    const gzip = { 'accept-encoding': 'gzip' };
    await send(gateway, gzip);
    const hit = await send(gateway, gzip);
    expect([hit.header('x-svc-cache-status'), hit.header('content-encoding')]).toEqual(['HIT', 'gzip']);
    expect(Buffer.concat(hit.chunks).equals(encoded)).toBe(true);
    expect((await send(gateway)).header('x-svc-cache-status')).toBe('MISS');
  });

  it.each<[string, Record<string, string>, object, string]>([
    ['another path', {}, body, '/v1/custom/y'],
    ['another query', {}, body, '/v1/custom/x?a=1'],
    ['another body', {}, { ...body, input: 'ho' }, '/v1/custom/x'],
    ['another header', { 'openai-organization': 'org-2' }, body, '/v1/custom/x'],
    ['other metadata', { 'x-svc-metadata': '{"team":"b"}' }, body, '/v1/custom/x'],
  ])('distinguishes %s', async (_what, headers, sent, path) => {
    const gateway = createHarness();
    await send(gateway);
    expect((await send(gateway, headers, sent, path)).header('x-svc-cache-status')).toBe('MISS');
    expect((await send(gateway, { 'user-agent': 'other', 'x-stainless-retry-count': '1' })).header('x-svc-cache-status')).toBe(
      'HIT',
    );
  });

  it('distinguishes streams and plain replies', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, chatReply('hello')), chatStream(['a']));
    const path = '/v1/proxy/chat/completions';
    await send(gateway, {}, body, path);
    const streamed = await send(gateway, {}, { ...body, stream: true }, path);
    expect(streamed.header('x-svc-cache-status')).toBe('MISS');
    const again = await send(gateway, {}, { ...body, stream: true }, path);
    expect(again.header('x-svc-cache-status')).toBe('HIT');
    expect(again.text).toBe(streamed.text);
  });

  it.each([
    ['GET', '/v1/custom/x'],
    ['PUT', '/v1/custom/x'],
    ['POST', '/v1/proxy/files'],
    ['POST', '/v1/proxy/audio/speech'],
  ])('pass-through cache: stores nothing of %s %s', async (method, path) => {
    const gateway = createHarness();
    await send(gateway, {}, body, path, method);
    expect((await send(gateway, {}, body, path, method)).header('x-svc-cache-status')).toBe('DISABLED');
    expect(gateway.calls).toHaveLength(2);
  });
});

describe('cache control headers', () => {
  const chat = '/v1/chat/completions';
  const ask = (gateway: Harness, headers: Record<string, string>) => gateway.send({ path: chat, headers });

  it('x-svc-debug: false calls the provider, and the reply is not stored', async () => {
    const gateway = createHarness();
    const silent = { ...cached, 'x-svc-debug': 'false' };
    for (const headers of [silent, cached, silent]) await ask(gateway, headers);
    expect(gateway.records.map((record) => record.cacheStatus)).toEqual([null, 'MISS', null]);
  });

  it('x-svc-debug: false has no effect if the organisation enforces its own setting', async () => {
    const gateway = createHarness();
    const document = gateway.documents.get(`workspace ${workspaceId}`) as WorkspaceDocument;
    gateway.documents.set(`workspace ${workspaceId}`, { ...document, settings: { ...settings, ignoreDebugHeader: true } });
    for (const _ of [1, 2]) await ask(gateway, { ...cached, 'x-svc-debug': 'false' });
    expect(gateway.records.map((record) => record.cacheStatus)).toEqual(['MISS', 'HIT']);
  });

  it.each(['simple', 'true'])('x-svc-cache: %s turns the cache on if the config has none', async (mode) => {
    const gateway = createHarness();
    gateway.addConfig('pc-plain', { provider: '@one' });
    const ways: Record<string, string>[] = [
      { 'x-svc-provider': '@one' },
      { 'x-svc-config': '{"provider":"@one"}' },
      { 'x-svc-config': 'pc-plain' },
    ];
    for (const own of ways) {
      const headers = { ...own, 'x-svc-cache': mode };
      await ask(gateway, headers);
      const second = await ask(gateway, headers);
      expect(second.header('x-svc-cache-status')).toBe('HIT');
      expect((await ask(gateway, own)).header('x-svc-cache-status')).toBe('DISABLED');
    }
    expect(gateway.records.at(-2)?.configSlug).toBe('pc-plain');
  });

  it('x-svc-cache does not override the cache of a config', async () => {
    const gateway = createHarness();
    const off = { 'x-svc-config': '{"provider":"@one","cache":{"mode":"off"}}', 'x-svc-cache': 'simple' };
    expect((await ask(gateway, off)).header('x-svc-cache-status')).toBe('DISABLED');
    expect((await ask(gateway, { 'x-svc-config': '{', 'x-svc-cache': 'simple' })).status).toBe(400);
  });

  it('cache-control: max-age is the lifetime if the config sets none', async () => {
    for (const [passedMs, status] of [
      [59_000, 'HIT'],
      [61_000, 'MISS'],
    ] as const) {
      let now = 1_000_000;
      const gateway = createHarness({ now: () => now, elapsed: () => now });
      const headers = { ...cached, 'cache-control': 'max-age=60' };
      await ask(gateway, headers);
      now += passedMs;
      expect((await ask(gateway, headers)).header('x-svc-cache-status')).toBe(status);
    }
  });
});

describe('unsupported cache headers', () => {
  it.each([
    ['x-svc-cache', 'yes'],
    ['x-svc-debug', 'no'],
    ['x-svc-nitro-mode', 'true'],
    ['x-svc-ignore-service-log', 'true'],
    ['x-svc-refresh-prompt-cache', 'yes'],
    ['x-svc-gateway-transport', 'grpc'],
    ['x-svc-sensitive-headers', 'a b'],
    ['x-other-nitro-mode', 'true'],
  ])('%s: %s is rejected by its name', async (name, value) => {
    const gateway = createHarness();
    const refused = await gateway.send({ headers: { 'x-svc-provider': '@one', [name]: value } });
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text).error.message).toContain(name.replace('x-other-', ''));
    expect(gateway.calls).toHaveLength(0);
  });

  it.each([
    ['x-svc-debug', 'true'],
    ['x-svc-cache', 'false'],
    ['x-svc-nitro-mode', 'false'],
    ['x-svc-ignore-service-log', 'false'],
    ['x-svc-sensitive-headers', 'x-api-key, X-Internal'],
  ])('%s: %s is accepted', async (name, value) => {
    const gateway = createHarness();
    expect((await gateway.send({ headers: { 'x-svc-provider': '@one', [name]: value } })).status).toBe(200);
  });
});
