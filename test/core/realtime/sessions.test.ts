import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type FakeRealtime, refuseWith, startFakeRealtime } from '../../support/fake-realtime.ts';
import { openSession, RefusedHandshake, type SessionClient } from '../../support/session-client.ts';
import { type RunningGateway, startGateway } from '../../support/start-gateway.ts';
import { until, within } from '../../support/until.ts';

let provider: FakeRealtime;
let gateway: RunningGateway;
const messageBytesMax = 1024 * 1024;

beforeAll(async () => {
  provider = await startFakeRealtime();
  gateway = await startGateway({ env: { REALTIME_MESSAGE_MAX: String(messageBytesMax) } });
  await gateway.admin.createUpstream('oai', `${provider.origin}/v1`, { key: 'sk-stored' });
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
});

const at = (path: string): string => `ws://127.0.0.1:${gateway.port}/v1${path}`;
const realtimePath = '/realtime?model=@oai/gpt-realtime';

/** A session as both ends of it. */
async function open(path = realtimePath, headers: Record<string, string> = {}, protocols: string[] = []) {
  const client = await openSession(at(path), { 'x-svc-api-key': gateway.workspaceKey, ...headers }, protocols);
  return { client, session: await provider.nextSession() };
}

/** The refusal of a handshake; fails when it was not refused. */
async function refusal(path: string, headers: Record<string, string>, protocols: string[] = []): Promise<RefusedHandshake> {
  const outcome = await openSession(at(path), headers, protocols).catch((error: unknown) => error);
  if (outcome instanceof RefusedHandshake) return outcome;
  throw new Error('the handshake was not refused', { cause: outcome });
}

/** The log of a session, once the control plane has it; there must be one and no more. */
async function logOf(client: Pick<SessionClient, 'headers'>) {
  const traceId = encodeURIComponent(String(client.headers['x-svc-trace-id']));
  const list = await until(async () => {
    const reply = await gateway.admin.get(`/logs?trace_id=${traceId}`);
    return reply.body.total > 0 && reply.body;
  });
  expect(list.total).toBe(1);
  return list.data[0];
}

describe('the handshake', () => {
  it('brings the stored credential, the model and what the client said, and none of the gateway’s own headers', async () => {
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

  it('takes the gateway’s key from a subprotocol, as browsers send it, and keeps it', async () => {
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

  it('takes the provider’s key from a subprotocol beside the gateway’s key', async () => {
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

  it('sends the sessions of a target to the model its config names', async () => {
    const config = JSON.stringify({ provider: '@oai', override_params: { model: 'gpt-realtime-mini' } });
    const { client, session } = await open('/realtime?model=gpt-realtime', { 'x-svc-config': config });
    expect(session.handshake.path).toBe('/v1/realtime?model=gpt-realtime-mini');
    client.socket.close(1000);
    expect((await logOf(client)).metrics.ai_model).toBe('gpt-realtime-mini');
  });

  it.each([
    ['no key', {}, 401, '03'],
    ['an unknown key', { 'x-svc-api-key': `svc_ws_${'a'.repeat(12)}_${'b'.repeat(46)}` }, 401, '03'],
  ])('is refused with %s', async (_case, headers, status, code) => {
    const before = provider.handshakes.length;
    const { status: got, json, headers: replied } = await refusal(realtimePath, headers);
    expect(got).toBe(status);
    expect(json.error.code).toBe(code);
    expect(replied['x-svc-trace-id']).toBeDefined();
    expect(provider.handshakes.length).toBe(before);
  });

  it('is refused to a key without the scope', async () => {
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
  ])('is refused for %s', async (_case, headers, status, code) => {
    const reply = await refusal('/realtime?model=m', {
      'x-svc-api-key': gateway.workspaceKey,
      authorization: 'Bearer sk-own',
      ...headers,
    });
    expect([reply.status, reply.json.error.code]).toEqual([status, code]);
  });

  it.each([
    [401, { error: { message: 'Incorrect API key', type: 'invalid_request_error' } }, {}],
    [429, { error: { message: 'Slow down' } }, { 'retry-after': '7' }],
  ])('passes on a refusal of the provider: %i', async (status, body, headers) => {
    provider.answers = [refuseWith(status, body, headers as Record<string, string>)];
    const reply = await refusal(realtimePath, { 'x-svc-api-key': gateway.workspaceKey });
    expect(reply.status).toBe(status);
    expect(reply.json).toEqual(body);
    expect(reply.headers).toMatchObject({ ...headers, 'x-svc-provider': 'openai' });
    const log = await logOf(reply);
    expect(log).toMatchObject({ outcome: 'failed', session: null, response: { status } });
  });

  it.each<[string, (socket: Duplex) => void, string]>([
    ['cuts the connection', (socket) => socket.destroy(), 'upstream_reset'],
    ['answers 200', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'), 'upstream_invalid'],
    [
      'answers 101 without proving that it understood',
      (socket) =>
        socket.end('HTTP/1.1 101 Yes\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: bm8=\r\n\r\n'),
      'upstream_invalid',
    ],
    ['answers garbage', (socket) => socket.end('no http\r\n\r\n'), 'upstream_invalid'],
  ])('is a 502 when the provider %s', async (_case, answer, code) => {
    provider.answers = [answer];
    const reply = await refusal(realtimePath, { 'x-svc-api-key': gateway.workspaceKey });
    expect([reply.status, reply.json.error.code]).toEqual([502, code]);
  });

  it('falls over to the next target until one answers 101', async () => {
    const config = JSON.stringify({
      strategy: { mode: 'fallback' },
      targets: [
        { provider: '@oai', override_params: { model: 'first' } },
        { provider: '@oai', override_params: { model: 'second' } },
        { provider: '@oai', override_params: { model: 'third' } },
      ],
    });
    provider.answers = [refuseWith(429, { error: { message: 'Slow down' } }), (socket) => socket.destroy()];
    const { client, session } = await open('/realtime?model=m', { 'x-svc-config': config });
    expect(session.handshake.path).toBe('/v1/realtime?model=third');
    expect(client.headers['x-svc-last-used-option-index']).toBe('config.targets[2]');
    client.socket.close(1000);
    const log = await logOf(client);
    expect(log.attempts.map((attempt: { status: number }) => attempt.status)).toEqual([429, 502, 101]);
    expect(log.outcome).toBe('success');
  });

  it('tries the same target again when its config says so', async () => {
    const config = JSON.stringify({ provider: '@oai', retry: { attempts: 1, on_status_codes: [503] } });
    provider.answers = [refuseWith(503, {})];
    const { client } = await open('/realtime?model=m', { 'x-svc-config': config });
    expect(client.headers['x-svc-retry-attempt-count']).toBe('1');
    client.socket.terminate();
  });

  it('ends at the provider when the client leaves before it is answered', async () => {
    let answered: (socket: Duplex) => void = () => {};
    const stalled = new Promise<Duplex>((resolve) => {
      answered = resolve;
    });
    provider.answers = [answered];
    const socket = new WebSocket(at(realtimePath), { headers: { 'x-svc-api-key': gateway.workspaceKey } });
    socket.on('error', () => {});
    const atProvider = await stalled;
    const ended = new Promise((resolve) => atProvider.on('end', resolve));
    atProvider.resume();
    socket.terminate();
    await within(ended, 'the end of the provider’s connection');
  });

  it('needs an upgrade, of a version that is known', async () => {
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

describe('an open session', () => {
  it('passes text, binary and fragmented messages both ways, byte for byte', async () => {
    const { client, session } = await open();
    const sent = [
      '',
      '{"type":"ü€😀"}',
      Buffer.from([0, 1, 255, 254]),
      Buffer.alloc(0),
      'x'.repeat(300_000),
      Buffer.alloc(200_000, 7),
    ];
    for (const from of [client.socket, session.socket]) {
      for (const message of sent) from.send(message);
      for (const part of ['one ', 'message ', 'in parts']) from.send(part, { fin: part === 'in parts' });
    }
    const all = [...sent, 'one message in parts'];
    await until(() => session.messages.length === all.length && client.messages.length === all.length);
    expect(session.messages).toEqual(all);
    expect(client.messages).toEqual(all);
    client.socket.close(1000);
    const log = await logOf(client);
    const bytes = all.reduce((sum, message) => sum + Buffer.byteLength(message), 0);
    expect(log.session).toEqual({
      messages_from_client: all.length,
      messages_from_provider: all.length,
      bytes_from_client: bytes,
      bytes_from_provider: bytes,
      close_code: 1000,
      closed_by: 'client',
    });
    expect(log).toMatchObject({ outcome: 'success', response: { status: 101 }, error: null });
  });

  it('delivers what the provider sends together with its 101', async () => {
    provider.onSession = (session) => session.socket.send('{"type":"session.created"}');
    const { client } = await open();
    provider.onSession = () => {};
    await client.received(1);
    expect(client.messages).toEqual(['{"type":"session.created"}']);
    client.socket.terminate();
  });

  it('answers pings at both ends', async () => {
    const { client, session } = await open();
    for (const end of [client.socket, session.socket]) {
      const answered = new Promise<string>((resolve) => end.once('pong', (data) => resolve(String(data))));
      end.ping('are you there');
      expect(await within(answered, 'a pong')).toBe('are you there');
    }
    client.socket.terminate();
  });

  it('adds up the tokens of all its responses and transcriptions', async () => {
    const { client, session } = await open();
    const usage = {
      total_tokens: 150,
      input_tokens: 100,
      output_tokens: 50,
      input_token_details: {
        cached_tokens: 40,
        text_tokens: 30,
        audio_tokens: 70,
        cached_tokens_details: { text_tokens: 40, audio_tokens: 0 },
      },
      output_token_details: { text_tokens: 10, audio_tokens: 40 },
    };
    const transcribed = {
      type: 'tokens',
      total_tokens: 12,
      input_tokens: 10,
      output_tokens: 2,
      input_token_details: { audio_tokens: 10 },
    };
    const events = [
      { type: 'response.created', response: { usage: null } },
      { type: 'response.output_audio.delta', delta: 'A'.repeat(50_000) },
      { type: 'response.output_text.delta', delta: '{"usage":{"input_tokens":999}}' },
      { event_id: 'e1', response: { usage }, type: 'response.done' },
      { type: 'response.done', response: { usage } },
      { type: 'conversation.item.input_audio_transcription.completed', transcript: 'hi', usage: transcribed },
    ];
    for (const event of events) session.socket.send(JSON.stringify(event));
    session.socket.send('{"usage": not json');
    session.socket.send(Buffer.from(JSON.stringify({ type: 'response.done', response: { usage } })));
    await client.received(events.length + 2);
    client.socket.close(1000);
    const log = await logOf(client);
    expect(log.metrics).toMatchObject({
      req_units: 210,
      res_units: 102,
      ai_model: 'gpt-realtime',
      mode: 'realtime',
      stream_mode: 1,
    });
  });

  it.each([
    [1000, 'bye'],
    [1001, ''],
    [1008, 'not allowed'],
    [1011, 'ouch'],
    [4999, 'ü'.repeat(61)],
  ])('passes the close code %i of either side on to the other', async (code, reason) => {
    const fromClient = await open();
    fromClient.client.socket.close(code, reason);
    expect(await fromClient.session.closed).toEqual({ code, reason });
    const fromProvider = await open();
    fromProvider.session.socket.close(code, reason);
    expect(await fromProvider.client.closed).toEqual({ code, reason });
    const log = await logOf(fromProvider.client);
    expect(log.session).toMatchObject({ close_code: code, closed_by: 'provider' });
    expect(log.outcome).toBe(code <= 1001 ? 'success' : 'cut');
  });

  it('passes the code 3000 of the provider on; of a client, whose code the addon does not read, it is a close without a code', async () => {
    const fromProvider = await open();
    fromProvider.session.socket.close(3000, 'Unauthorised');
    expect(await fromProvider.client.closed).toEqual({ code: 3000, reason: 'Unauthorised' });
    const fromClient = await open();
    fromClient.client.socket.close(3000, 'Unauthorised');
    expect((await fromClient.session.closed).code).toBe(1005);
    expect((await logOf(fromClient.client)).session).toMatchObject({ close_code: 1005, closed_by: 'client' });
  });

  it('passes on a close without a code as one', async () => {
    const fromClient = await open();
    fromClient.client.socket.close();
    expect((await fromClient.session.closed).code).toBe(1005);
    const fromProvider = await open();
    fromProvider.session.socket.close();
    expect((await fromProvider.client.closed).code).toBe(1005);
    expect((await logOf(fromProvider.client)).outcome).toBe('success');
  });

  it('closes with 1014 and says so when the provider vanishes, keeping what had come', async () => {
    const { client, session } = await open();
    session.socket.send(JSON.stringify({ type: 'response.done', response: { usage: { input_tokens: 5, output_tokens: 6 } } }));
    await client.received(1);
    session.socket.terminate();
    expect(await client.closed).toEqual({ code: 1014, reason: 'The provider closed the connection without saying why' });
    const log = await logOf(client);
    expect(log).toMatchObject({
      outcome: 'cut',
      error: { code: 'upstream_reset' },
      session: { close_code: 1006, closed_by: 'provider' },
    });
    expect(log.metrics).toMatchObject({ req_units: 5, res_units: 6 });
  });

  it('closes at the provider at once when the client vanishes', async () => {
    const { client, session } = await open();
    client.socket.terminate();
    expect(await within(session.closed, 'the close at the provider')).toEqual({ code: 1001, reason: 'The client has gone' });
    const log = await logOf(client);
    expect(log).toMatchObject({
      outcome: 'aborted',
      error: { code: 'client_closed' },
      session: { close_code: 1006, closed_by: 'client' },
    });
  });

  it('closes with 1009 when the client sends a message beyond the limit, and takes one at the limit', async () => {
    const { client, session } = await open();
    client.socket.send(Buffer.alloc(messageBytesMax));
    client.socket.send(Buffer.alloc(messageBytesMax + 1));
    expect(await client.closed).toEqual({ code: 1009, reason: `A message must not be longer than ${messageBytesMax} bytes` });
    expect((await session.closed).code).toBe(1001);
    expect(session.messages.length).toBe(1);
    const log = await logOf(client);
    expect(log).toMatchObject({
      outcome: 'cut',
      error: { code: 'body_too_large' },
      session: { close_code: 1009, closed_by: 'gateway' },
    });
  });

  it('cuts a client that announces a message far beyond the limit without reading it', async () => {
    const { client, session } = await open();
    client.socket.send(Buffer.alloc(3 * messageBytesMax));
    expect((await client.closed).code).toBe(1006);
    expect((await session.closed).code).toBe(1001);
    expect(await logOf(client)).toMatchObject({ outcome: 'cut', error: { code: 'bad_request' } });
  });

  it('ends when the provider sends a message beyond the limit', async () => {
    const { client, session } = await open();
    session.socket.send(Buffer.alloc(messageBytesMax + 1));
    expect((await client.closed).code).toBe(1014);
    expect((await session.closed).code).toBe(1009);
    expect(await logOf(client)).toMatchObject({ outcome: 'cut', error: { code: 'upstream_invalid' } });
  });

  it('passes WebSockets of other paths through to providers that have them', async () => {
    const { client, session } = await open('/responses?x=%2F', { 'x-svc-provider': '@oai' });
    expect(session.handshake.path).toBe('/v1/responses?x=%2F');
    session.socket.send(
      JSON.stringify({ type: 'response.completed', response: { usage: { input_tokens: 3, output_tokens: 4 } } }),
    );
    await client.received(1);
    client.socket.close(1000);
    const log = await logOf(client);
    expect(log.metrics).toMatchObject({ mode: 'proxy', req_units: 3, res_units: 4 });
  });
});
