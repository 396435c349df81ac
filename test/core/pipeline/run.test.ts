import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { InnerSink } from '../../../core/pipeline/inner-request.ts';
import { fakeRequest } from '../../../core/test-kit/fake-exchange.ts';
import { chatReply, chatStream, createHarness, failWith, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

describe('a plain call', () => {
  it('reaches the provider of the model slug with its stored credential, and its reply is unchanged', async () => {
    const gateway = createHarness();
    const reply = await gateway.send({});
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual(chatReply('hello'));
    const call = gateway.calls[0];
    expect(call?.origin).toBe('https://api.openai.com');
    expect(call?.path).toBe('/v1/chat/completions');
    expect(call?.headers).toContain('Bearer sk-stored');
    expect(JSON.parse(Buffer.from(call?.body as Uint8Array).toString())).toMatchObject({ model: 'gpt-5' });
  });

  it('sends the client’s own bytes if nothing was changed', async () => {
    const gateway = createHarness();
    const body = '{ "model":"gpt-5",  "messages":[{"role":"user","content":"hi"}], "new_field": 1.0 }';
    await gateway.send({ body, headers: { 'x-svc-provider': '@one' } });
    expect(Buffer.from(gateway.calls[0]?.body as Uint8Array).toString()).toBe(body);
  });

  it('has trace, target and provider on the reply, under the header prefix of the client', async () => {
    const gateway = createHarness();
    const headers = { 'x-svc-api-key': undefined, 'x-other-api-key': gateway.key, 'x-other-trace-id': 'trace-7' };
    const reply = await gateway.send({ headers });
    expect(reply.header('x-other-trace-id')).toBe('trace-7');
    expect(reply.header('x-other-last-used-option-index')).toBe('config');
    expect(reply.header('x-other-provider')).toBe('openai');
    expect(reply.headers.filter((name) => name.startsWith('x-svc-'))).toEqual([]);
    expect(gateway.records[0]?.traceId).toBe('trace-7');
  });

  it('names a header in an error with the prefix of the client', async () => {
    const gateway = createHarness();
    const headers = { 'x-svc-api-key': undefined, 'x-other-api-key': gateway.key, 'x-other-request-timeout': 'soon' };
    const reply = await gateway.send({ headers });
    expect(reply.json.error).toMatchObject({
      param: 'x-other-request-timeout',
      message: expect.stringMatching(/^x-other-request-timeout: /),
    });
  });

  it('does not pass a header of the provider that has the prefix of the client', async () => {
    const gateway = createHarness();
    const forged = [
      'content-type',
      'application/json',
      'x-other-cache-status',
      'HIT',
      'x-svc-provider',
      'forged',
      'x-kept',
      'yes',
    ];
    gateway.script(replyWith(200, chatReply('hello'), forged));
    const reply = await gateway.send({ headers: { 'x-svc-api-key': undefined, 'x-other-api-key': gateway.key } });
    expect(reply.headers.filter((_, i) => i % 2 === 0 && reply.headers[i] === 'x-other-cache-status')).toHaveLength(1);
    expect(reply.header('x-other-cache-status')).toBe('DISABLED');
    expect(reply.header('x-svc-provider')).toBeUndefined();
    expect(reply.header('x-kept')).toBe('yes');
  });

  it('has a record with the times of its parts, and the model and the first and last byte of each attempt', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(503, {}), replyWith(200, chatReply('hello')));
    const targets = [
      { provider: '@one', override_params: { model: 'm-1' } },
      { provider: '@two', override_params: { model: 'm-2' } },
    ];
    await gateway.send({ headers: { 'x-svc-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets }) } });
    const { attempts, times, strategy } = gateway.records[0] ?? {};
    expect(strategy).toBe('fallback');
    expect(attempts?.map(({ model }) => model)).toEqual(['m-1', 'm-2']);
    for (const { upstreamFirstByteMs: first, upstreamLastByteMs: last } of attempts ?? []) {
      expect(first).toBeGreaterThan(0);
      expect(last).toBeGreaterThanOrEqual(first as number);
    }
    expect(times).toEqual({
      ...{ parse: expect.any(Number), replyParse: expect.any(Number), upstream: expect.any(Number), own: expect.any(Number) },
    });
  });

  it('has a record without first and last byte of an attempt that got no response', async () => {
    const gateway = createHarness();
    gateway.script(failWith(new GatewayError('upstream_connect')));
    await gateway.send({});
    expect(gateway.records[0]?.attempts).toMatchObject([{ upstreamFirstByteMs: null, upstreamLastByteMs: null }]);
  });

  it('leaves one record with tokens, target and attempts', async () => {
    const gateway = createHarness();
    await gateway.send({});
    expect(gateway.records).toHaveLength(1);
    expect(gateway.records[0]).toMatchObject({
      endpoint: 'chatComplete',
      status: 200,
      outcome: 'success',
      provider: 'openai',
      providerSlug: 'one',
      model: 'gpt-5',
      inputTokens: 3,
      outputTokens: 2,
      targetPath: 'config',
      attempts: [{ provider: 'openai', status: 200, errorCode: null }],
    });
  });

  it('never sends the gateway key or its headers upstream', async () => {
    const gateway = createHarness();
    await gateway.send({
      path: '/v1/anything?x=1',
      headers: {
        'x-svc-api-key': '',
        authorization: `Bearer ${gateway.key}`,
        'x-svc-provider': '@one',
        'x-keep': 'yes',
        'x-svc-metadata': '{}',
      },
    });
    // An empty x-svc-api-key is an invalid key, not a missing one.
    expect(gateway.calls).toHaveLength(0);
    await gateway.send({
      path: '/v1/anything?x=1',
      headers: { 'x-api-key': gateway.key, 'x-svc-provider': '@one', 'x-keep': 'yes' },
    });
    const sent = gateway.calls[0]?.headers.join('\n') ?? '';
    expect(sent).toContain('x-keep');
    expect(sent).not.toContain('x-svc-');
    expect(sent).not.toContain(gateway.key);
  });
});

describe('a streamed call through the pipeline', () => {
  it('forwards the events, reads the tokens, and removes the usage event that the client did not request', async () => {
    const gateway = createHarness();
    gateway.script(chatStream(['a', 'b']));
    const reply = await gateway.send({ body: { model: '@one/gpt-5', messages: [], stream: true } });
    expect(reply.text).toContain('"content":"a"');
    expect(reply.text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(reply.text).not.toContain('"usage":{');
    expect(gateway.records[0]).toMatchObject({ outcome: 'success', stream: true, inputTokens: 3, outputTokens: 2 });
  });

  it('ends a stream that the provider cut with an error event, and records it as cut', async () => {
    const gateway = createHarness();
    gateway.script(chatStream(['a', 'b'], { cutAfter: 1, error: new GatewayError('upstream_reset') }));
    const reply = await gateway.send({ body: { model: '@one/gpt-5', messages: [], stream: true } });
    const events = reply.text.trim().split('\n\n');
    expect(JSON.parse((events.at(-1) as string).slice('data: '.length))).toMatchObject({ error: { code: 'upstream_reset' } });
    expect(reply.text).not.toContain('[DONE]');
    expect(gateway.records[0]).toMatchObject({ outcome: 'cut', errorCode: 'upstream_reset' });
  });

  it('is incomplete without the terminal event', async () => {
    const gateway = createHarness();
    gateway.script(chatStream(['a', 'b'], { cutAfter: 1, error: null }));
    const reply = await gateway.send({ body: { model: '@one/gpt-5', messages: [], stream: true } });
    expect(reply.text).toContain('stream_incomplete');
    expect(gateway.records[0]).toMatchObject({ outcome: 'cut', errorCode: 'stream_incomplete' });
  });

  it('continues with the next target if the stream is cut before its first byte', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-two', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    gateway.script(chatStream(['a'], { cutAfter: 0, error: new GatewayError('upstream_reset') }), chatStream(['from two']));
    const reply = await gateway.send({
      headers: { 'x-svc-config': 'pc-two' },
      body: { model: 'gpt-5', messages: [], stream: true },
    });
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('from two');
    expect(reply.header('x-svc-last-used-option-index')).toBe('config.targets[1]');
  });

  it('aborts the call to the provider when the client disconnects, and records it as aborted', async () => {
    const gateway = createHarness();
    gateway.script((_call, handler) => {
      handler.onHead(200, ['content-type', 'text/event-stream']);
      handler.onData(Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'));
    });
    const reply = await gateway.send({
      body: { model: '@one/gpt-5', messages: [], stream: true },
      prepare: (sink) => sink.onFirstWrite(() => sink.leave()),
    });
    expect(reply.aborted).toBe(true);
    expect(gateway.aborted).toHaveLength(1);
    expect(gateway.records).toHaveLength(1);
    expect(gateway.records[0]).toMatchObject({ outcome: 'aborted', status: 499, errorCode: 'client_closed' });
    expect(gateway.records[0]?.attempts).toMatchObject([{ providerSlug: 'one', status: 499, errorCode: 'client_closed' }]);
  });

  it('records the error with which the gateway ends a request that is a part of another one', async () => {
    const gateway = createHarness();
    const late = new GatewayError('request_timeout', { message: 'The model and its tools took too long' });
    const reply = await new Promise((resolve) => {
      const sink = new InnerSink({ done: resolve });
      gateway.script(() => sink.leave(late));
      gateway.handle(fakeRequest({ body: { model: '@one/gpt-5', messages: [] } }, gateway.key), sink);
    });
    expect([reply, gateway.aborted.length]).toMatchObject([{ status: 0 }, 1]);
    expect(gateway.records).toMatchObject([
      { outcome: 'failed', status: 408, errorCode: 'request_timeout', errorMessage: late.message },
    ]);
  });
});

describe('fallback and retry', () => {
  it('uses the next target after an error and names the one that replied', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-f', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    gateway.script(replyWith(500, { error: { message: 'down' } }), replyWith(200, chatReply('two')));
    const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-f' }, body: { model: 'gpt-5', messages: [] } });
    expect(reply.status).toBe(200);
    expect(reply.header('x-svc-last-used-option-index')).toBe('config.targets[1]');
    expect(gateway.records[0]?.attempts).toMatchObject([
      { providerSlug: 'one', status: 500 },
      { providerSlug: 'two', status: 200 },
    ]);
  });

  it('return the last error if no target is left', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-f', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    gateway.script(
      replyWith(500, { error: { message: 'one' } }),
      replyWith(503, { error: { message: 'two', type: 'server_error' } }),
    );
    const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-f' }, body: { model: 'gpt-5', messages: [] } });
    expect(reply.status).toBe(503);
    expect(reply.json).toMatchObject({ error: { message: 'openai error: two', type: 'server_error' }, provider: 'openai' });
    expect(gateway.records[0]).toMatchObject({ outcome: 'failed', status: 503 });
  });

  it('stop at a status that is not in on_status_codes', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-f', {
      strategy: { mode: 'fallback', on_status_codes: [429] },
      targets: [{ provider: '@one' }, { provider: '@two' }],
    });
    gateway.script(replyWith(500, { error: { message: 'one' } }));
    const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-f' }, body: { model: 'gpt-5', messages: [] } });
    expect(reply.status).toBe(500);
    expect(gateway.calls).toHaveLength(1);
  });

  it.each([
    ['upstream_connect', 502],
    ['upstream_reset', 502],
    ['request_timeout', 408],
  ] as const)('turns %s into %i, and a fallback continues', async (code, status) => {
    const gateway = createHarness();
    gateway.script(failWith(new GatewayError(code)));
    const alone = await gateway.send({});
    expect(alone.status).toBe(status);
    gateway.addConfig('pc-f', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    gateway.script(failWith(new GatewayError(code)), replyWith(200, chatReply('two')));
    const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-f' }, body: { model: 'gpt-5', messages: [] } });
    expect(reply.status).toBe(200);
  });

  it('repeat attempts as configured, and count them', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-r', { provider: '@one', retry: { attempts: 2 } });
    gateway.script(replyWith(503, {}), replyWith(503, {}), replyWith(200, chatReply('third')));
    const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-r' }, body: { model: 'gpt-5', messages: [] } });
    expect(reply.status).toBe(200);
    expect(reply.header('x-svc-retry-attempt-count')).toBe('2');
    gateway.script(replyWith(503, {}));
    const failed = await gateway.send({ headers: { 'x-svc-config': 'pc-r' }, body: { model: 'gpt-5', messages: [] } });
    expect(failed.status).toBe(503);
    expect(failed.header('x-svc-retry-attempt-count')).toBe('-1');
  });

  it('visit nested fallbacks in document order', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-n', {
      strategy: { mode: 'fallback' },
      targets: [
        { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] },
        { provider: '@claude' },
      ],
    });
    gateway.script(replyWith(500, {}));
    await gateway.send({
      headers: { 'x-svc-config': 'pc-n' },
      body: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    });
    expect(gateway.records[0]?.attempts.map((attempt) => attempt.targetPath)).toEqual([
      'config.targets[0].targets[0]',
      'config.targets[0].targets[1]',
      'config.targets[1]',
    ]);
  });
});

describe('a provider without token counts', () => {
  const { usage: _usage, ...uncounted } = chatReply('four words were said');
  const body = { model: '@one/gpt-5', messages: [{ role: 'user', content: 'one two three' }] };

  it('has plain replies estimated and marked', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, uncounted));
    const reply = await gateway.send({ body });
    expect(reply.json).toEqual(uncounted);
    expect(gateway.records[0]).toMatchObject({ inputTokens: 3, outputTokens: 4, usageEstimated: true });
  });

  it('has streams estimated by their events', async () => {
    const gateway = createHarness();
    gateway.script((_call, handler) => {
      handler.onHead(200, ['content-type', 'text/event-stream']);
      for (const word of ['a', 'b', 'c']) {
        handler.onData(
          Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: word }, finish_reason: null }] })}\n\n`),
        );
      }
      handler.onData(Buffer.from('data: [DONE]\n\n'));
      handler.onEnd();
    });
    await gateway.send({ body: { ...body, stream: true } });
    expect(gateway.records[0]).toMatchObject({ outcome: 'success', inputTokens: 3, usageEstimated: true });
    expect(gateway.records[0]?.outputTokens).toBeGreaterThanOrEqual(3);
  });

  it('is not assumed for a reply with counts', async () => {
    const gateway = createHarness();
    await gateway.send({ body });
    expect(gateway.records[0]).toMatchObject({ usageEstimated: false });
  });
});

it('an expired provider is a 401 of its target, and a fallback continues', async () => {
  const gateway = createHarness();
  const id = [...gateway.documents.keys()].find((key) => key.endsWith('/one')) as string;
  gateway.documents.set(id, { ...(gateway.documents.get(id) as object), expiresAt: '2020-01-01T00:00:00Z' });
  const alone = await gateway.send({});
  expect([alone.status, (alone.json.error as { code: string }).code]).toEqual([401, 'provider_expired']);
  gateway.addConfig('pc-e', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
  const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-e' }, body: { model: 'gpt-5', messages: [] } });
  expect([reply.status, reply.header('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
});
