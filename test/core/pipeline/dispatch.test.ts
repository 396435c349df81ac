import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineCorePlugin } from '../../../core/contract/plugin/core-plugin.ts';
import type { UpstreamCall } from '../../../core/contract/provider/upstream.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { RequestBody } from '../../../core/contract/values/http/http.ts';
import { chatReply, createHarness, type FakeSink, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';

const twoTargets = { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] };
const chat = { model: 'gpt-5', messages: [] };

const holdsReplies = defineCorePlugin({
  name: 'holds-replies',
  stage: 'output-guardrails',
  reads: { response: 'body' },
  config: v.optional(v.unknown()),
  onConfig: () => ({ onAttemptResponse: () => undefined }),
});

/** Reads the whole body of the call before it replies. */
function readThen(script: Script, sizes: number[]): Script {
  return (call, handler) => {
    let size = 0;
    (call.body as RequestBody).pipe(
      {
        onData: (chunk) => {
          size += chunk.length;
          return true;
        },
        onEnd: () => {
          sizes.push(size);
          script(call, handler);
        },
        onError: (error) => handler.onError(error as GatewayError),
      },
      Number.MAX_SAFE_INTEGER,
    );
  };
}

describe('a body too large to buffer', () => {
  const upload = { path: '/v1/uploads/u/parts', body: new Uint8Array(2 * 1024 * 1024), headers: { 'x-svc-config': 'pc-two' } };

  it('is sent once: the reply of the provider that received it is final', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-two', twoTargets);
    const sizes: number[] = [];
    gateway.script(readThen(replyWith(503, 'not now', ['content-type', 'text/plain']), sizes));
    const reply = await gateway.send(upload);
    expect(reply.status).toBe(503);
    expect(reply.text).toBe('not now');
    expect(reply.header('x-svc-last-used-option-index')).toBe('config.targets[0]');
    expect(sizes).toEqual([upload.body.length]);
    expect(gateway.calls).toHaveLength(1);
  });

  it('is sent once, also if a plugin holds the whole reply', async () => {
    const gateway = createHarness({ plugins: [holdsReplies] });
    gateway.addConfig('pc-two', twoTargets);
    const sizes: number[] = [];
    gateway.script(readThen(replyWith(503, 'not now', ['content-type', 'text/plain']), sizes), replyWith(200, 'from two'));
    const reply = await gateway.send(upload);
    expect([reply.status, reply.text, sizes, gateway.calls.length]).toEqual([503, 'not now', [upload.body.length], 1]);
  });

  it('is sent once, also with retries configured', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-two', { provider: '@one', retry: { attempts: 3 } });
    const sizes: number[] = [];
    gateway.script(readThen((_call, handler) => handler.onError(new GatewayError('upstream_reset')), sizes));
    expect((await gateway.send(upload)).status).toBe(502);
    expect(sizes).toHaveLength(1);
  });

  it('goes to the next target if no provider has begun to read it', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-two', twoTargets);
    const sizes: number[] = [];
    const unreached: Script = (_call, handler) => handler.onError(new GatewayError('upstream_connect'));
    gateway.script(unreached, readThen(replyWith(200, 'ok'), sizes));
    expect((await gateway.send(upload)).text).toBe('ok');
    expect(sizes).toEqual([upload.body.length]);
  });
});

describe('a target whose look-up fails', () => {
  it('counts as a failed attempt, and the fallback succeeds', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-two', twoTargets);
    away(gateway.documents, 'one');
    const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-two' }, body: chat });
    expect(reply.status).toBe(200);
    expect(gateway.records[0]?.attempts).toMatchObject([
      { targetPath: 'config.targets[0]', providerSlug: 'one', status: 503, errorCode: 'unavailable' },
      { targetPath: 'config.targets[1]', providerSlug: 'two', status: 200 },
    ]);
  });

  it('is 503 if there is no other target', async () => {
    const gateway = createHarness();
    away(gateway.documents, 'one');
    const reply = await gateway.send({ headers: { 'x-svc-provider': '@one' }, body: chat });
    expect(reply.status).toBe(503);
    expect(reply.json).toMatchObject({ error: { code: 'unavailable' } });
    expect(gateway.records).toHaveLength(1);
  });
});

describe('a client that disconnects during a look-up', () => {
  it('causes no call, and leaves one record', async () => {
    const gateway = createHarness();
    const document = gateway.documents.get(keyOf(gateway.documents, 'one'));
    let found = (_value: unknown): void => {};
    const looking = new Promise((resolve) => {
      found = resolve;
    });
    gateway.documents.set(keyOf(gateway.documents, 'one'), looking);
    let sink: FakeSink | null = null;
    const sent = gateway.send({
      headers: { 'x-svc-provider': '@one' },
      body: chat,
      prepare: (given) => {
        sink = given;
      },
    });
    // Aborted while the request waits for the look-up, which completes afterwards.
    setImmediate(() => {
      (sink as FakeSink | null)?.leave();
      found(document);
    });
    await sent;
    await new Promise((resolve) => setImmediate(resolve));
    expect(gateway.calls).toHaveLength(0);
    expect(gateway.records).toMatchObject([{ outcome: 'aborted', status: 499 }]);
  });
});

describe('a retry-after of a provider', () => {
  it('is not awaited if it is longer than a minute', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-wait', { provider: '@one', retry: { attempts: 5, use_retry_after_header: true } });
    gateway.script(
      replyWith(429, { error: { message: 'slow down' } }, ['content-type', 'application/json', 'retry-after', '61']),
    );
    const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-wait' }, body: chat });
    expect(reply.status).toBe(429);
    expect(reply.header('x-svc-retry-attempt-count')).toBe('-1');
    expect(gateway.calls).toHaveLength(1);
  });
});

describe('an endless error page', () => {
  it('is cut at a mebibyte and returned as an error', async () => {
    const gateway = createHarness();
    gateway.script((_call, handler) => {
      handler.onHead(500, ['content-type', 'text/html']);
      const page = Buffer.alloc(300_000, 'x');
      for (let i = 0; i < 4; i++) handler.onData(page);
    });
    const reply = await gateway.send({ body: { ...chat, model: '@one/gpt-5', stream: true } });
    expect(reply.status).toBe(500);
    expect(reply.json).toMatchObject({ provider: 'openai', error: { message: expect.stringContaining('Invalid response') } });
    expect(gateway.aborted).toHaveLength(1);
  });
});

describe('a copy of the gateway key in another header', () => {
  const sentTo = (call: UpstreamCall | undefined): string => call?.headers.join('\n') ?? '';

  it.each([
    ['x-api-key', (key: string) => key],
    ['api-key', (key: string) => key],
    ['authorization', (key: string) => `Bearer ${key}`],
    ['authorization', (key: string) => `bearer ${key}`],
    ['x-anything', (key: string) => key],
  ])('is never forwarded (%s)', async (name, toValue) => {
    const gateway = createHarness();
    const headers = { 'x-svc-provider': 'anthropic', 'x-svc-forward-headers': name, [name]: toValue(gateway.key) };
    await gateway.send({ path: '/v1/anything', headers });
    await gateway.send({ path: '/v1/messages', headers, body: { ...chat, max_tokens: 1 } });
    expect(gateway.calls).toHaveLength(2);
    for (const call of gateway.calls) expect(sentTo(call)).not.toContain('svc_');
  });

  it('does not replace the provider key', async () => {
    const gateway = createHarness();
    const headers = { 'x-svc-provider': 'openai', 'x-api-key': gateway.key, authorization: 'Bearer sk-own' };
    expect((await gateway.send({ headers, body: chat })).json).toEqual(chatReply('hello'));
    expect(sentTo(gateway.calls[0])).toContain('Bearer sk-own');
  });
});

function keyOf(documents: Map<string, unknown>, slug: string): string {
  return [...documents.keys()].find((key) => key.startsWith('provider ') && key.endsWith(`/${slug}`)) as string;
}

/** Fails the look-up of this provider, as while the control plane is away. */
function away(documents: Map<string, unknown>, slug: string): void {
  const failed = Promise.reject(new GatewayError('unavailable'));
  failed.catch(() => undefined);
  documents.set(keyOf(documents, slug), failed);
}
