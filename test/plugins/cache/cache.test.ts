import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { chatReply, chatStream, createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';

const cached = { 'x-svc-config': '{"provider":"@one","cache":{"mode":"simple"}}' };
const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };

describe('the simple cache', () => {
  it('serves the second of two equal requests without calling the provider', async () => {
    const gateway = createHarness();
    const first = await gateway.send({ headers: cached, body });
    const second = await gateway.send({ headers: cached, body });
    expect(first.header('x-svc-cache-status')).toBe('MISS');
    expect(second.header('x-svc-cache-status')).toBe('HIT');
    expect(second.text).toBe(first.text);
    for (const name of ['content-type', 'x-svc-provider', 'x-svc-last-used-option-index', 'x-svc-retry-attempt-count']) {
      expect(second.header(name), name).toBe(first.header(name));
      expect(second.header(name), name).toBeTruthy();
    }
    expect(gateway.calls).toHaveLength(1);
    expect(gateway.records[1]).toMatchObject({ cacheStatus: 'HIT', provider: 'openai', inputTokens: 0, outcome: 'success' });
    const [call, hit] = gateway.records;
    const { provider, providerSlug, model, inputTokens, outputTokens } = call as RequestRecord;
    expect(outputTokens).toBeGreaterThan(0);
    expect(hit?.saved).toMatchObject({ provider, providerSlug, model, inputTokens, outputTokens });
    expect(call?.saved).toBeUndefined();
  });

  it.each(['', 'Zürich', '日本'])('rejects the namespace "%s", which may arrive as another one', async (namespace) => {
    const gateway = createHarness();
    const reply = await gateway.send({ headers: { ...cached, 'x-svc-cache-namespace': namespace }, body });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('x-svc-cache-namespace: expected printable ASCII')]);
    expect(gateway.calls).toHaveLength(0);
  });

  it('records of hits say that the repeated call was served by provisioned capacity', async () => {
    const gateway = createHarness({ providers: { one: 'google' } });
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, trafficType: 'PROVISIONED_THROUGHPUT' };
    const candidates = [{ content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP' }];
    gateway.script(replyWith(200, { candidates, usageMetadata, modelVersion: 'gemini-2.5-pro' }));
    for (const status of ['MISS', 'HIT'])
      expect((await gateway.send({ headers: cached, body })).header('x-svc-cache-status')).toBe(status);
    expect(gateway.records[1]?.saved).toMatchObject({ outputTokens: 2, trafficType: 'PROVISIONED_THROUGHPUT' });
  });

  it('replays a stream event by event', async () => {
    const gateway = createHarness();
    gateway.script(chatStream(['a', 'b']));
    const first = await gateway.send({ headers: cached, body: { ...body, stream: true } });
    const second = await gateway.send({ headers: cached, body: { ...body, stream: true } });
    expect(second.header('x-svc-cache-status')).toBe('HIT');
    expect(second.text).toBe(first.text);
    expect(second.header('content-type')).toContain('text/event-stream');
    const [call, hit] = gateway.records;
    expect(hit?.saved?.outputTokens).toBe(call?.outputTokens);
    expect(hit?.saved?.outputTokens).toBeGreaterThan(0);
  });

  it('replays a translated stream to its last event', async () => {
    const gateway = createHarness();
    gateway.script(messagesStream);
    const config = { 'x-svc-config': '{"provider":"@claude","cache":{"mode":"simple"}}' };
    const claude = { ...body, model: 'claude-sonnet-4-5', max_tokens: 5, stream: true };
    const first = await gateway.send({ headers: config, body: claude });
    const second = await gateway.send({ headers: config, body: claude });
    expect(first.text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(second.header('x-svc-cache-status')).toBe('HIT');
    expect(second.text).toBe(first.text);
    expect(gateway.records[0]?.replyBytes).toBe(Buffer.byteLength(first.text));
  });

  it.each([
    ['another body', {}, { ...body, temperature: 1 }],
    ['another provider', { 'x-svc-config': '{"provider":"@two","cache":{"mode":"simple"}}' }, body],
    ['other metadata', { 'x-svc-metadata': '{"team":"b"}' }, body],
    ['a namespace', { 'x-svc-cache-namespace': 'n' }, body],
  ])('distinguishes %s', async (_name, headers, other) => {
    const gateway = createHarness();
    await gateway.send({ headers: cached, body });
    const reply = await gateway.send({ headers: { ...cached, ...headers }, body: other });
    expect(reply.header('x-svc-cache-status')).toBe('MISS');
    expect(gateway.calls).toHaveLength(2);
  });

  it('distinguishes metadata that a condition reads, in one namespace too', async () => {
    const gateway = createHarness();
    const conditions = [{ query: { $or: [{ 'metadata.tier': 'paid' }] }, then: 'two' }];
    const targets = ['one', 'two'].map((name) => ({ name, provider: `@${name}` }));
    const config = { strategy: { mode: 'conditional', conditions, default: 'one' }, targets, cache: { mode: 'simple' } };
    const send = (metadata: object) =>
      gateway.send({
        headers: {
          'x-svc-config': JSON.stringify(config),
          'x-svc-cache-namespace': 'n',
          'x-svc-metadata': JSON.stringify(metadata),
        },
        body,
      });
    const seen = [];
    for (const metadata of [{ tier: 'free' }, { tier: 'paid' }, { tier: 'paid', user: 'u' }]) {
      const reply = await send(metadata);
      seen.push([reply.header('x-svc-cache-status'), reply.header('x-svc-last-used-option-index')]);
    }
    expect(seen).toEqual([
      ['MISS', 'config.targets[0]'],
      ['MISS', 'config.targets[1]'],
      ['HIT', 'config.targets[1]'],
    ]);
  });

  it('distinguishes callers with their own provider keys', async () => {
    const gateway = createHarness();
    const own = { 'x-svc-config': '{"provider":"openai","cache":{"mode":"simple"}}' };
    await gateway.send({ headers: { ...own, authorization: 'Bearer sk-alice' }, body });
    const bob = await gateway.send({ headers: { ...own, authorization: 'Bearer sk-bob' }, body });
    expect(bob.header('x-svc-cache-status')).toBe('MISS');
  });

  it('calls the provider on a forced refresh, and stores the new reply', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, chatReply('old')), replyWith(200, chatReply('new')));
    await gateway.send({ headers: cached, body });
    const refreshed = await gateway.send({ headers: { ...cached, 'x-svc-cache-force-refresh': 'true' }, body });
    expect(refreshed.header('x-svc-cache-status')).toBe('REFRESH');
    expect((await gateway.send({ headers: cached, body })).text).toContain('new');
  });

  it.each([
    ['an error status', replyWith(500, { error: { message: 'x' } }), false],
    ['a cut stream', chatStream(['a', 'b'], { cutAfter: 1, error: new GatewayError('upstream_reset') }), true],
    ['a stream without its end', chatStream(['a', 'b'], { cutAfter: 1 }), true],
  ])('simple cache: never stores %s', async (_name, script, stream) => {
    const gateway = createHarness();
    gateway.script(script);
    await gateway.send({ headers: cached, body: { ...body, stream } });
    await gateway.send({ headers: cached, body: { ...body, stream } });
    expect(gateway.calls).toHaveLength(2);
  });

  it('ignores the body of a pass-through call of any size', async () => {
    const gateway = createHarness();
    await gateway.send({ path: '/v1/files', headers: cached, body: new Uint8Array(2 * 1024 * 1024) });
    expect(gateway.calls[0]?.body).not.toBeInstanceOf(Uint8Array);
  });
});

/** A whole reply of the Messages API, whose end the translator turns into more than one event. */
const messagesStream: Script = (_call, handler) => {
  const events = [
    { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];
  handler.onHead(200, ['content-type', 'text/event-stream']);
  for (const event of events) handler.onData(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
  handler.onEnd();
};

describe('the cache of single targets', () => {
  const config = JSON.stringify({
    strategy: { mode: 'fallback' },
    cache: 'simple',
    targets: [{ provider: '@one', cache: 'off' }, { provider: '@two' }],
  });
  const send = (gateway: ReturnType<typeof createHarness>) => gateway.send({ headers: { 'x-svc-config': config }, body });

  it('is used once its target is chosen, and replies of other targets are not used', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, chatReply('one')), replyWith(500, {}), replyWith(200, chatReply('two')), replyWith(500, {}));
    const replies = [await send(gateway), await send(gateway), await send(gateway)];
    expect(replies.map((reply) => reply.header('x-svc-cache-status'))).toEqual(['DISABLED', 'MISS', 'HIT']);
    expect(replies[2]?.text).toBe(replies[1]?.text);
    expect(replies[2]?.header('x-svc-last-used-option-index')).toBe('config.targets[1]');
    expect(gateway.calls).toHaveLength(4);
  });

  it('does not store the reply of a later target for one that failed', async () => {
    const gateway = createHarness();
    const targets = [{ provider: '@one', cache: 'simple' }, { provider: '@two' }];
    const headers = { 'x-svc-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets }) };
    gateway.script(replyWith(500, {}), replyWith(200, chatReply('two')), replyWith(200, chatReply('one')));
    expect((await gateway.send({ headers, body })).text).toContain('two');
    const next = await gateway.send({ headers, body });
    expect([next.header('x-svc-cache-status'), next.text]).toEqual(['MISS', expect.stringContaining('one')]);
  });
});
