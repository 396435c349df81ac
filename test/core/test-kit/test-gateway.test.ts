import { GatewayError, type Plugin, rewriteText } from 'svc-gateway/plugin';
import {
  chatReply,
  chatStream,
  createTestGateway,
  messagesReply,
  messagesStream,
  providerFailure,
  providerReply,
  providerStream,
  responsesReply,
  responsesStream,
  type TestGateway,
} from 'svc-gateway/test-kit';
import { afterAll, describe, expect, it } from 'vitest';

const pluginOf = (onConfig: Plugin['onConfig'], more: Partial<Plugin> = {}): Plugin => ({
  apiVersion: 1,
  name: 'tested',
  stage: 'limits',
  onConfig,
  ...more,
});

const started: TestGateway[] = [];
function start(...plugins: Plugin[]): TestGateway {
  const gateway = createTestGateway({ plugins });
  started.push(gateway);
  return gateway;
}
afterAll(() => Promise.all(started.map((gateway) => gateway.close())));

describe('test kit', () => {
  it.each([
    ['/v1/chat/completions', providerReply(200, chatReply('one')), chatStream(['t', 'wo'])],
    ['/v1/messages', providerReply(200, messagesReply('one')), messagesStream(['t', 'wo'])],
    ['/v1/responses', providerReply(200, responsesReply('one')), responsesStream(['t', 'wo'])],
  ])('%s: returns the text of plain replies and streams, and their records', async (path, plain, streamed) => {
    const gateway = start();
    gateway.provider(plain, streamed);
    const first = await gateway.send({ path, text: 'question' });
    const second = await gateway.send({ path, stream: true });
    expect([first.status, first.content, first.record.stream]).toEqual([200, 'one', false]);
    expect([second.status, second.content, second.record.stream]).toEqual([200, 'two', true]);
    expect(gateway.providerCalls[0]?.body).toContain('question');
    expect(gateway.records).toHaveLength(2);
  });

  it('runs plugins behind the guards of production', async () => {
    const gateway = start(
      pluginOf(() => ({
        onRequest() {
          throw new TypeError('a mistake');
        },
      })),
    );
    const { status, json, record } = await gateway.send();
    expect([status, json.message]).toEqual([500, 'Something went wrong in the plugin tested']);
    expect(record.errorCode).toBe('internal');
    expect(JSON.stringify(gateway.logs)).toContain('plugin tested, onRequest: a mistake');
  });

  it.each([
    ['a BigInt', () => 1n, 'Do not know how to serialize a BigInt'],
    ['a cycle', (params: Record<string, unknown>) => params, 'Converting circular structure to JSON'],
  ])(
    '%s that a plugin writes into a body is a 500 that names the plugin, with the reason in the log',
    async (_, value, reason) => {
      const gateway = start(
        pluginOf(() => ({
          onRequest(ctx) {
            if (ctx.params === null) return;
            ctx.params.odd = value(ctx.params);
            ctx.bodyChanged = true;
          },
        })),
      );
      const { status, json } = await gateway.send();
      expect([status, json.message]).toEqual([500, 'Something went wrong in the plugin tested']);
      expect(gateway.logs[0]?.fields.reason).toContain(`plugin tested, onRequest: ctx.params: not JSON: ${reason}`);
    },
  );

  it('returns the record of the request itself, or an error with the reason why there is none', async () => {
    let now = Date.now;
    const gateway = createTestGateway({ plugins: [], now: () => now() });
    started.push(gateway);
    const headers = { 'x-svc-trace-id': 'same' };
    const [first, second] = [await gateway.send({ headers, text: 'a' }), await gateway.send({ headers, metadata: { n: '2' } })];
    expect([first.record.metadata, second.record.metadata]).toEqual([{}, { n: '2' }]);
    now = () => Number.NaN;
    const broken = await gateway.send({ headers });
    expect(() => broken.record).toThrow(/^the request has no record; .*onEnd of a plugin failed: /);
  });

  it('throws what stops the start of a gateway', () => {
    const check = { id: 'one', about: 'A check.', sides: ['input'] as const, check: () => true };
    const extension = { apiVersion: 1, name: 'tested', checks: [check] } as const;
    expect(() => createTestGateway({ plugins: [extension, extension] })).toThrow('there are two plugins tested; rename one');
    expect(() => start({ ...pluginOf(() => null), apiVersion: 2 as never })).toThrow('supports apiVersion 1');
    expect(() => start(pluginOf(() => ({ onReqest: () => {} }) as never, { example: {} }))).toThrow('did you mean onRequest?');
  });

  it('sends configs and metadata, and shows verdicts, retries and fallback', async () => {
    const gateway = start(
      pluginOf(() => ({ onAttemptResponse: (ctx) => ({ action: 'pass', reason: ctx.metadata.team as string }) }), {
        reads: { response: 'body' },
      }),
    );
    gateway.provider(providerReply(503, { error: { message: 'busy' } }), providerReply(200, messagesReply('from the second')));
    const targets = [{ provider: '@openai' }, { provider: '@anthropic', override_params: { model: 'claude' } }];
    const config = gateway.saveConfig('pc-fallback', { strategy: { mode: 'fallback' }, targets });
    const { status, content, record } = await gateway.send({
      config,
      metadata: { team: 'red' },
      body: { model: 'gpt-5', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    });
    expect([status, content]).toEqual([200, 'from the second']);
    expect(record).toMatchObject({
      configSlug: 'pc-fallback',
      attempts: [{ status: 503 }, { status: 200 }],
      verdicts: [{ plugin: 'tested', action: 'pass', reason: 'red' }],
    });
  });

  it('refuses headers as a list, which a call of a plugin takes', async () => {
    const headers = ['x-team', 'search'] as unknown as Record<string, string>;
    await expect(start().send({ headers })).rejects.toThrow('send: headers: expected an object of names and values');
  });

  it('refuses a failure of the provider that is no error', () => {
    expect(() => providerFailure('upstream_connect' as never)).toThrow('providerFailure: expected a GatewayError');
  });

  it('sets time, chance and the caller', async () => {
    const plugin = pluginOf((_config, _scope, { clock, random }) => ({
      onRequest(ctx) {
        ctx.replyHeaders.push(
          'x-seen',
          `${new Date(clock.now()).getUTCHours()} ${random()} ${ctx.identity?.userId} ${ctx.metadata.team}`,
        );
      },
    }));
    const defaults = { configSlug: null, metadata: { team: 'red' }, allowConfigOverride: true };
    let hour = 22;
    const now = (): number => Date.UTC(2026, 0, 1, hour);
    const gateway = createTestGateway({ plugins: [plugin], now, random: () => 0.25, key: { userId: 'ann', defaults } });
    started.push(gateway);
    expect((await gateway.send()).header('x-seen')).toBe('22 0.25 ann red');
    hour = 7;
    const { header, record } = await gateway.send();
    expect(header('x-seen')).toBe('7 0.25 ann red');
    expect(record.createdAt).toBe('2026-01-01T07:00:00.000Z');
  });

  it.each([
    ['output-guardrails', 'HELLO'],
    ['input-guardrails', 'hello'],
  ] as const)('replies from the cache: the text of a plugin of the stage %s is %s', async (stage, cached) => {
    const upper = { next: (piece: string) => piece.toUpperCase(), end: () => '' };
    const gateway = start(
      pluginOf((_config, _scope, services) => rewriteText(services, () => upper), { stage, reads: { response: 'chunks' } }),
    );
    const config = { cache: { mode: 'simple' } };
    const first = await gateway.send({ config });
    const second = await gateway.send({ config });
    expect([first.content, second.content, second.header('x-svc-cache-status')]).toEqual(['HELLO', cached, 'HIT']);
  });

  it('shows a connection that fails as the gateway reports it', async () => {
    const gateway = start();
    gateway.provider(providerFailure(new GatewayError('upstream_connect')));
    expect((await gateway.send()).status).toBe(502);
  });

  it('delivers chunks of the provider as they are split', async () => {
    const seen: string[] = [];
    const gateway = start(
      pluginOf(
        () => ({
          onChunk(_ctx, chunk) {
            seen.push(Buffer.from(chunk).toString());
            return chunk;
          },
        }),
        { reads: { response: 'chunks' } },
      ),
    );
    gateway.provider(providerStream(['data: {"choices":[{"index":0,"del', 'ta":{"content":"a"}}]}\n\n', 'data: [DONE]\n\n']));
    const { content } = await gateway.send({ stream: true });
    expect(content).toBe('a');
    expect(seen.join('')).toContain('[DONE]');
  });
});

describe('test kit: services', () => {
  const asking = pluginOf((_config, _scope, services) => ({
    async onRequest(ctx) {
      const url = ctx.metadata.url as string;
      const { status, body } = await services.fetch({ url, headers: ['X-Team', 'red'], body: { user: ctx.metadata.user } });
      ctx.replyHeaders.push('x-result', `${status} ${Buffer.from(body)}`);
    },
  }));

  it('replies to calls of plugins', async () => {
    const gateway = start(asking);
    gateway.service('https://policy.example', ({ method, url, headers, body }) => ({
      status: 201,
      body: `${method} ${url} ${headers[headers.indexOf('x-team') + 1]} ${body}`,
    }));
    const reply = await gateway.send({ metadata: { url: 'https://policy.example/ask?now', user: 'ann' } });
    expect(reply.header('X-Result')).toBe('201 POST https://policy.example/ask?now red {"user":"ann"}');
    expect(gateway.providerCalls).toHaveLength(1);
  });

  it.each([
    ['https://unreachable.example/a', 'services.fetch https://unreachable.example: the service could not be reached'],
    ['http://10.0.0.1/a', 'services.fetch http://10.0.0.1: Invalid custom host: '],
    ['nowhere', 'services.fetch of an invalid URL: Invalid custom host: '],
    ['file:///etc/passwd', 'services.fetch of an invalid URL: Invalid custom host: '],
  ])('a call to %s fails the request of a plugin that does not catch its error', async (url, reason) => {
    const gateway = start(asking);
    const { status, json } = await gateway.send({ metadata: { url } });
    expect([status, json.message]).toEqual([500, 'Something went wrong in the plugin tested']);
    expect(gateway.logs[0]?.fields.reason).toContain(`plugin tested, onRequest: ${reason}`);
  });

  it('ends a call after its time, before that of the hook', async () => {
    const gateway = start(
      pluginOf((_config, _scope, services) => ({
        async onRequest(ctx) {
          const failed = services.fetch({ url: 'https://policy.example', timeoutMs: Number(ctx.metadata.ms) });
          ctx.replyHeaders.push('x-result', await failed.then(() => 'decided', String));
        },
      })),
    );
    gateway.service('https://policy.example', () => new Promise(() => {}));
    const replies = [await gateway.send({ metadata: { ms: '20' } }), await gateway.send({ metadata: { ms: '0' } })];
    expect(replies.map((reply) => [reply.status, reply.header('x-result')])).toEqual([
      [200, 'Error: services.fetch https://policy.example: the service did not reply in time'],
      [200, 'Error: services.fetch: timeoutMs: expected a whole number from 1 to 600000'],
    ]);
  });

  it('names the argument of a call that is malformed', async () => {
    const gateway = start(
      pluginOf((_config, _scope, services) => ({
        async onRequest() {
          await services.fetch({ url: 'https://policy.example', headers: { a: 'b' } as never });
        },
      })),
    );
    await gateway.send();
    expect(gateway.logs[0]?.fields.reason).toContain('services.fetch: headers: got object, expected a flat list');
  });
});
