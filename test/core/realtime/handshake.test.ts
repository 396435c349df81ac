import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openSession } from '../../support/clients/session-client.ts';
import { refuseWith } from '../../support/fakes/fake-realtime.ts';
import { type RealtimeGateway, realtimePath, shareRealtimeGateway } from '../../support/product/realtime-gateway.ts';
import { within } from '../../support/until.ts';

let realtime: RealtimeGateway;
let { open, logOf, at, gateway, provider, refusal } = {} as RealtimeGateway;
beforeAll(async () => {
  realtime = await shareRealtimeGateway();
  ({ open, logOf, at, gateway, provider, refusal } = realtime);
});
afterAll(() => realtime?.close());

describe('the session handshake', () => {
  it('sends the stored credential, the model and the client’s headers, and none of the gateway’s own', async () => {
    const { client, session } = await open(`${realtimePath}&intent=conversation`, {
      'openai-beta': 'realtime=v1',
      'x-svc-metadata': '{"team":"voice"}',
      'user-agent': 'mine/1',
      cookie: 'a=b',
      origin: 'https://app.example',
      authorization: 'Bearer sk-of-the-client',
    });
    const { path, headers } = session.handshake;
    expect(path).toBe('/v1/realtime?model=gpt-realtime&intent=conversation');
    expect(headers).toMatchObject({ authorization: 'Bearer sk-stored', 'openai-beta': 'realtime=v1', 'user-agent': 'mine/1' });
    expect(Object.keys(headers).filter((name) => name.startsWith('x-svc-') || name === 'cookie' || name === 'origin')).toEqual(
      [],
    );
    expect(headers['sec-websocket-extensions']).toBeUndefined();
    expect(client.headers).toMatchObject({
      'x-svc-provider': 'openai',
      'x-svc-last-used-option-index': 'config',
      'x-svc-retry-attempt-count': '0',
      'x-svc-trace-id': expect.any(String),
    });
    client.socket.terminate();
  });

  it('accepts the gateway’s key from a subprotocol, as browsers send it, and keeps it', async () => {
    const protocols = [
      'realtime',
      `openai-insecure-api-key.${gateway.workspaceKey}`,
      'openai-beta.realtime-v1',
      'openai-project.p',
    ];
    const client = await openSession(at(realtimePath), {}, protocols);
    const session = await provider.nextSession();
    expect(client.socket.protocol).toBe('realtime');
    expect(session.handshake.protocols).toEqual(['realtime', 'openai-beta.realtime-v1']);
    expect(session.handshake.headers.authorization).toBe('Bearer sk-stored');
    expect(JSON.stringify(session.handshake)).not.toContain(gateway.workspaceKey);
    client.socket.terminate();
  });

  it.each(['key', 'api-key'])(
    'accepts the gateway’s key from %s in the address, as SDKs of Google and Azure send it',
    async (name) => {
      const client = await openSession(at(`${realtimePath}&${name}=${gateway.workspaceKey}`), {});
      const session = await provider.nextSession();
      expect(session.handshake.path).toBe('/v1/realtime?model=gpt-realtime');
      expect(JSON.stringify(session.handshake)).not.toContain(gateway.workspaceKey);
      client.socket.terminate();
    },
  );

  it.each<[string, string, string[]]>([
    ['in the address', '&key=', ['realtime']],
    ['in a subprotocol', '&x=', ['realtime', 'openai-insecure-api-key.']],
  ])('uses the key of a header instead of another one %s', async (_where, parameter, protocols) => {
    const other = `svc_ws_${'a'.repeat(12)}_${'b'.repeat(46)}`;
    const offered = protocols.map((each) => (each.endsWith('.') ? each + other : each));
    const headers = { authorization: `Bearer ${gateway.workspaceKey}` };
    const client = await openSession(at(realtimePath + parameter + other), headers, offered);
    const session = await provider.nextSession();
    expect(JSON.stringify(session.handshake)).not.toContain(other);
    client.socket.terminate();
  });

  it('reads the model from `deployment`, as clients of Azure send it', async () => {
    const { client, session } = await open('/realtime?api-version=2025-04-01-preview&deployment=%40oai%2Fgpt-realtime');
    expect(session.handshake.path).toBe('/v1/realtime?api-version=2025-04-01-preview&model=gpt-realtime');
    client.socket.terminate();
  });

  it.each(['/openai/realtime?api-version=2025-04-01-preview&deployment=', '/openai/v1/realtime?model='])(
    'is possible at %s, with the key in `api-key`, as Azure’s SDKs send it',
    async (path) => {
      const address = at(`${path}%40oai%2Fgpt-realtime`).replace('/v1/openai/', '/openai/');
      const client = await openSession(address, { 'api-key': gateway.workspaceKey });
      const session = await provider.nextSession();
      expect(session.handshake.path).toMatch(/^\/v1\/realtime\?.*model=gpt-realtime$/);
      expect(JSON.stringify(session.handshake)).not.toContain(gateway.workspaceKey);
      client.socket.terminate();
    },
  );

  it.each([
    '/responses?model=gpt-5',
    '/live/sessions?model=gpt-5',
    '/proxy/Responses?model=gpt-5',
    '/proxy/ws/BidiGenerateContent?model=gpt-5',
  ])('is rejected for %s if models are restricted, because providers read the model from messages', async (path) => {
    const slug = await gateway.admin.createUpstream('few', `${provider.origin}/v1`);
    const models = { allow_all_models: false, models: [{ slug: 'gpt-5', enabled: true }] };
    await gateway.admin.put(`/integrations/${gateway.admin.integrationOf('few')}/models`, models);
    const headers = { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-provider': slug };
    const reply = await refusal(path, headers);
    expect([reply.status, reply.json.error.param]).toEqual([400, 'model']);
    const { admin } = gateway;
    // Other files that share the product have providers of this organisation too.
    const gone = await admin.delete(`/providers/${slug.slice(1)}?workspace_id=${gateway.workspaceId}`);
    const alsoGone = await admin.delete(`/integrations/${admin.integrationOf('few')}`);
    expect([gone.status, alsoGone.status]).toEqual([200, 200]);
  });

  it('accepts the provider’s key from a subprotocol in addition to the gateway’s key', async () => {
    const headers = { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-provider': 'openai', 'x-svc-custom-host': provider.origin };
    const client = await openSession(at('/realtime?model=m'), headers, [
      'realtime',
      'openai-insecure-api-key.sk-own',
      'openai-project.p',
    ]);
    const session = await provider.nextSession();
    expect(session.handshake.headers.authorization).toBe('Bearer sk-own');
    expect(session.handshake.protocols).toEqual(['realtime', 'openai-project.p']);
    client.socket.terminate();
  });

  it('uses the model of the target’s config', async () => {
    const config = JSON.stringify({ provider: '@oai', override_params: { model: 'gpt-realtime-mini' } });
    const { client, session } = await open('/realtime?model=gpt-realtime', { 'x-svc-config': config });
    expect(session.handshake.path).toBe('/v1/realtime?model=gpt-realtime-mini');
    client.socket.close(1000);
    expect((await logOf(client)).metrics.ai_model).toBe('gpt-realtime-mini');
  });

  it.each([
    ['no key', {}, 401, '03'],
    ['an unknown key', { 'x-svc-api-key': `svc_ws_${'a'.repeat(12)}_${'b'.repeat(46)}` }, 401, '03'],
  ])('is rejected with %s', async (_case, headers, status, code) => {
    const before = provider.handshakes.length;
    const { status: got, json, headers: replied } = await refusal(realtimePath, headers);
    expect(got).toBe(status);
    expect(json.error.code).toBe(code);
    expect(replied['x-svc-trace-id']).toBeDefined();
    expect(provider.handshakes.length).toBe(before);
  });

  it.each(['key', 'api-key'])('names a rejected key of the address (%s) as such', async (name) => {
    const { status, json } = await refusal(`${realtimePath}&${name}=wrong`, {});
    expect([status, json.error.message]).toEqual([401, expect.stringContaining('keys of this gateway begin with svc_')]);
  });

  it('names the missing provider of a session at the path of a route with POST', async () => {
    const { status, json } = await refusal('/responses', { 'x-svc-api-key': gateway.workspaceKey });
    expect([status, json.error.name]).toEqual([400, 'missing_provider']);
    expect(json.error.message).toMatch(/messages of a session cannot choose its provider$/);
  });

  it('is rejected for a key without the scope', async () => {
    const { key } = await gateway.admin.createKey({ scopes: ['logs.view'] });
    expect((await refusal(realtimePath, { 'x-svc-api-key': key })).status).toBe(403);
  });

  it.each([
    ['a provider without realtime', { 'x-svc-provider': 'anthropic' }, 400, 'unsupported_operation'],
    [
      'an address inside the network',
      { 'x-svc-provider': 'openai', 'x-svc-custom-host': 'http://10.0.0.1' },
      400,
      'invalid_custom_host',
    ],
    [
      'a name that resolves to this machine',
      { 'x-svc-provider': 'openai', 'x-svc-custom-host': 'http://localhost:9' },
      400,
      'invalid_custom_host',
    ],
    ['a provider nobody knows', { 'x-svc-provider': '@nobody' }, 400, 'invalid_provider'],
    ['no provider at all', {}, 400, 'missing_provider'],
  ])('is rejected for %s', async (_case, headers, status, code) => {
    const reply = await refusal('/realtime?model=m', {
      'x-svc-api-key': gateway.workspaceKey,
      authorization: 'Bearer sk-own',
      ...headers,
    });
    expect([reply.status, reply.json.error.code]).toEqual([status, code]);
  });

  it('is rejected with 426 for /v1/responses if the provider has chat completions only, so that Codex sends a POST at once', async () => {
    const before = provider.handshakes.length;
    const headers = { 'x-svc-api-key': gateway.workspaceKey, authorization: 'Bearer sk-own', 'x-svc-provider': 'anthropic' };
    const { status, json } = await refusal('/responses', headers);
    expect([status, json.error.code, json.error.message]).toEqual([
      426,
      'unsupported_operation',
      expect.stringMatching(/sessions of \/v1\/responses are not supported by anthropic.*Send POST/),
    ]);
    const { client, session } = await open('/responses', {
      'x-svc-config': JSON.stringify({
        strategy: { mode: 'fallback' },
        targets: [{ provider: 'anthropic' }, { provider: '@oai' }],
      }),
    });
    expect(session.handshake.path).toBe('/v1/responses');
    client.socket.terminate();
    expect(provider.handshakes.length).toBe(before + 1);
  });

  it.each([
    [401, { error: { message: 'Incorrect API key', type: 'invalid_request_error' } }, {}],
    [429, { error: { message: 'Slow down' } }, { 'retry-after': '7' }],
  ])('returns the provider’s status %i', async (status, body, headers) => {
    provider.replies = [refuseWith(status, body, headers as Record<string, string>)];
    const reply = await refusal(realtimePath, { 'x-svc-api-key': gateway.workspaceKey });
    expect(reply.status).toBe(status);
    expect(reply.json).toEqual(body);
    expect(reply.headers).toMatchObject({ ...headers, 'x-svc-provider': 'openai' });
    const log = await logOf(reply);
    expect(log).toMatchObject({ outcome: 'failed', session: null, response: { status } });
  });

  it.each<[string, (socket: Duplex) => void, string]>([
    ['cuts the connection', (socket) => socket.destroy(), 'upstream_reset'],
    ['replies 200', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'), 'upstream_invalid'],
    [
      'replies 101 without proving that it understood',
      (socket) =>
        socket.end('HTTP/1.1 101 Yes\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: bm8=\r\n\r\n'),
      'upstream_invalid',
    ],
    ['replies garbage', (socket) => socket.end('no http\r\n\r\n'), 'upstream_invalid'],
  ])('returns 502 if the provider %s', async (_case, response, code) => {
    provider.replies = [response];
    const reply = await refusal(realtimePath, { 'x-svc-api-key': gateway.workspaceKey });
    expect([reply.status, reply.json.error.code]).toEqual([502, code]);
  });

  it('continues with the next target until one replies 101', async () => {
    const config = JSON.stringify({
      strategy: { mode: 'fallback' },
      targets: [
        { provider: '@oai', override_params: { model: 'first' } },
        { provider: '@oai', override_params: { model: 'second' } },
        { provider: '@oai', override_params: { model: 'third' } },
      ],
    });
    provider.replies = [refuseWith(429, { error: { message: 'Slow down' } }), (socket) => socket.destroy()];
    const { client, session } = await open('/realtime?model=m', { 'x-svc-config': config });
    expect(session.handshake.path).toBe('/v1/realtime?model=third');
    expect(client.headers['x-svc-last-used-option-index']).toBe('config.targets[2]');
    client.socket.close(1000);
    const log = await logOf(client);
    expect(log.attempts.map((attempt: { status: number }) => attempt.status)).toEqual([429, 502, 101]);
    expect(log.outcome).toBe('success');
  });

  it('retries the same target if its config allows it', async () => {
    const config = JSON.stringify({ provider: '@oai', retry: { attempts: 1, on_status_codes: [503] } });
    provider.replies = [refuseWith(503, {})];
    const { client } = await open('/realtime?model=m', { 'x-svc-config': config });
    expect(client.headers['x-svc-retry-attempt-count']).toBe('1');
    client.socket.terminate();
  });

  it('ends at the provider if the client disconnects before the reply', async () => {
    let replied: (socket: Duplex) => void = () => {};
    const stalled = new Promise<Duplex>((resolve) => {
      replied = resolve;
    });
    provider.replies = [replied];
    const socket = new WebSocket(at(realtimePath), { headers: { 'x-svc-api-key': gateway.workspaceKey } });
    socket.on('error', () => {});
    const atProvider = await stalled;
    const ended = new Promise((resolve) => atProvider.on('end', resolve));
    atProvider.resume();
    socket.terminate();
    await within(ended, 'the end of the provider’s connection');
  });

  it('requires an upgrade with a supported version', async () => {
    const plain = await fetch(`${gateway.baseUrl}/realtime?model=@oai/m`, { headers: { 'x-svc-api-key': gateway.workspaceKey } });
    expect(plain.status).toBe(426);
    expect(plain.headers.get('sec-websocket-version')).toBe('13');
    const old = new WebSocket(at(realtimePath), { protocolVersion: 8 });
    const status = await new Promise((resolve, reject) => {
      old.on('error', reject);
      old.on('unexpected-response', (_request, response) => resolve(response.statusCode));
    });
    expect(status).toBe(426);
  });
});
