import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors.ts';
import { InnerSink } from '../../../core/pipeline/inner-request.ts';
import { fakeRequest } from '../../../core/test-kit/fake-exchange.ts';
import { answer, chatReply, chatStream, createHarness, failWith } from '../../support/pipeline-harness.ts';

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
    gateway.script(answer(200, chatReply('hello'), forged));
    const reply = await gateway.send({ headers: { 'x-svc-api-key': undefined, 'x-other-api-key': gateway.key } });
    expect(reply.headers.filter((_, i) => i % 2 === 0 && reply.headers[i] === 'x-other-cache-status')).toHaveLength(1);
    expect(reply.header('x-other-cache-status')).toBe('DISABLED');
    expect(reply.header('x-svc-provider')).toBeUndefined();
    expect(reply.header('x-kept')).toBe('yes');
  });

  it('has a record with the times of its parts, and the model and the first and last byte of each attempt', async () => {
    const gateway = createHarness();
    gateway.script(answer(503, {}), answer(200, chatReply('hello')));
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
    gateway.script(answer(500, { error: { message: 'down' } }), answer(200, chatReply('two')));
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
    gateway.script(answer(500, { error: { message: 'one' } }), answer(503, { error: { message: 'two', type: 'server_error' } }));
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
    gateway.script(answer(500, { error: { message: 'one' } }));
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
    gateway.script(failWith(new GatewayError(code)), answer(200, chatReply('two')));
    const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-f' }, body: { model: 'gpt-5', messages: [] } });
    expect(reply.status).toBe(200);
  });

  it('repeat attempts as configured, and count them', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-r', { provider: '@one', retry: { attempts: 2 } });
    gateway.script(answer(503, {}), answer(503, {}), answer(200, chatReply('third')));
    const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-r' }, body: { model: 'gpt-5', messages: [] } });
    expect(reply.status).toBe(200);
    expect(reply.header('x-svc-retry-attempt-count')).toBe('2');
    gateway.script(answer(503, {}));
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
    gateway.script(answer(500, {}));
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

describe('invalid input', () => {
  const chat = { model: '@one/gpt-5', messages: [] };
  it.each([
    ['a malformed key', { headers: { 'x-svc-api-key': 'nonsense' } }, 401, 'invalid_api_key'],
    [
      'an unknown key',
      { headers: { 'x-svc-api-key': 'svc_ws_000000000000_0000000000000000000000000000000000000000' } },
      401,
      'invalid_api_key',
    ],
    ['no key', { headers: { 'x-svc-api-key': 'Bearer' } }, 401, 'invalid_api_key'],
    ['a config that is no JSON', { headers: { 'x-svc-config': '{nope' }, body: chat }, 400, 'invalid_config'],
    ['an unknown config slug', { headers: { 'x-svc-config': 'pc-none' }, body: chat }, 400, 'invalid_config'],
    ['an unknown provider slug', { body: { model: '@nobody/gpt', messages: [] } }, 400, 'invalid_provider'],
    ['an unknown provider type', { headers: { 'x-svc-provider': 'nobody' }, body: chat }, 400, 'invalid_provider'],
    ['neither config nor provider', { body: { model: 'gpt', messages: [] } }, 400, 'missing_provider'],
    [
      'a custom host of its own with a stored credential',
      { headers: { 'x-svc-custom-host': 'https://elsewhere.example' }, body: chat },
      400,
      'invalid_custom_host',
    ],
    [
      'a custom host that may not be called',
      { headers: { 'x-svc-custom-host': 'http://10.0.0.1' }, body: chat },
      400,
      'invalid_custom_host',
    ],
    ['a timeout that is no number', { headers: { 'x-svc-request-timeout': 'soon' }, body: chat }, 400, 'bad_request'],
    ['metadata that is no object', { headers: { 'x-svc-metadata': '[1]' }, body: chat }, 400, 'bad_request'],
    ['another content type', { headers: { 'content-type': 'text/plain' }, body: 'x' }, 400, 'bad_request'],
    ['an unknown path', { path: '/nowhere' }, 404, 'not_found'],
    ['a method that cannot pass', { method: 'TRACE', path: '/v1/x' }, 405, 'method_not_allowed'],
  ])('%s is rejected and recorded', async (_name, request, status, code) => {
    const gateway = createHarness();
    const reply = await gateway.send(request as never);
    expect(reply.status).toBe(status);
    expect(reply.json).toMatchObject({ error: { code } });
    expect(gateway.calls).toHaveLength(0);
    expect(gateway.records).toHaveLength(1);
    expect(gateway.records[0]).toMatchObject({ outcome: 'refused', status, errorCode: code });
  });

  it('gets the position of a JSON error', async () => {
    const gateway = createHarness();
    const reply = await gateway.send({ body: '{"model": "@one/gpt-5",\n "messages": [}' });
    expect(reply.status).toBe(400);
    expect(reply.text).toMatch(/position 38 \(line 2, column 15\)/);
  });

  it('gets the path of every error in a config', async () => {
    const gateway = createHarness();
    const config = JSON.stringify({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@one' }, { provider: '@two', retry: { attempts: 9 }, colour: 1 }],
    });
    const reply = await gateway.send({ headers: { 'x-svc-config': config } });
    expect(reply.text).toContain('targets[1].retry.attempts');
    expect(reply.text).toContain('targets[1].colour');
  });

  it('gets 401 for an expired key and 403 for one without the scope', async () => {
    const expired = createHarness({ key: { expiresAt: '2020-01-01T00:00:00Z' } });
    expect((await expired.send({})).status).toBe(401);
    const narrow = createHarness({ key: { scopes: ['logs.view'] } });
    expect((await narrow.send({})).status).toBe(403);
  });

  it('cannot replace the default config of a locked key', async () => {
    const gateway = createHarness({ key: { defaults: { configSlug: 'pc-own', metadata: {}, allowConfigOverride: false } } });
    gateway.addConfig('pc-own', { provider: '@one' });
    const reply = await gateway.send({ headers: { 'x-svc-config': '{"provider":"@two"}' } });
    expect(reply.json).toMatchObject({ error: { code: 'config_override_blocked' } });
  });

  it('gets 503 and not 401 if a key cannot be checked', async () => {
    const gateway = createHarness();
    const missing = gateway.documents as Map<string, unknown>;
    missing.get = ((id: string) => {
      if (id.startsWith('api-key')) return Promise.reject(new GatewayError('unavailable'));
      return Map.prototype.get.call(missing, id);
    }) as never;
    const reply = await gateway.send({});
    expect(reply.status).toBe(503);
  });
});

describe('a provider without token counts', () => {
  const { usage: _usage, ...uncounted } = chatReply('four words were said');
  const body = { model: '@one/gpt-5', messages: [{ role: 'user', content: 'one two three' }] };

  it('has plain replies estimated and marked', async () => {
    const gateway = createHarness();
    gateway.script(answer(200, uncounted));
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

describe('JSON limits', () => {
  const nested = (levels: number) =>
    `{"model":"@one/m","x":${'['.repeat(levels)}${']'.repeat(levels)},"pad":"${'a'.repeat(9000)}"}`;
  const keys = (count: number) =>
    JSON.stringify({ model: '@one/m', x: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1])) });

  it.each([
    ['63 levels', nested(62), 200],
    ['66 levels', nested(65), 400],
    ['100,000 levels', nested(100_000), 400],
    ['49,000 keys', keys(49_000), 200],
    ['51,000 keys', keys(51_000), 400],
  ])('apply to a body of %s', async (_name, body, status) => {
    const gateway = createHarness();
    const reply = await gateway.send({ body });
    expect(reply.status).toBe(status);
    if (status === 400) expect(reply.text).toMatch(/nested deeper than 64 levels|more than 50000 keys/);
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
