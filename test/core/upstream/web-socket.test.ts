import { hash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { UpstreamCall, UpstreamHandler } from '../../../core/contract/provider/upstream.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import type { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { createTransport } from '../../../core/upstream/transport.ts';
import { type FakeRealtime, type FakeSession, refuseWith, startFakeRealtime } from '../../support/fakes/fake-realtime.ts';
import { newGate } from '../../support/gate.ts';
import { until, within } from '../../support/until.ts';

let provider: FakeRealtime;
beforeAll(async () => {
  provider = await startFakeRealtime();
});
afterAll(() => provider.close());

const timeouts = { connectMs: 5000, firstByteMs: 5000, idleMs: 0, totalMs: 0 };
const call = (more: Partial<UpstreamCall> = {}): UpstreamCall => ({
  tenant: 'a',
  origin: provider.origin,
  path: '/v1/realtime',
  method: 'GET',
  headers: [],
  body: null,
  timeouts,
  webSocket: { protocols: [] },
  ...more,
});

/** Sends the call, and resolves with its outcome. */
function send(given: UpstreamCall, trusted = ['127.0.0.1']) {
  const transport = createTransport({ trusted: parseTrustedHosts(trusted) });
  const outcome = newGate<{
    error?: GatewayError;
    status?: number;
    text?: string;
    protocol?: string | null;
    socket?: { terminate(): void };
  }>();
  let status = 0;
  let text = '';
  const handler: UpstreamHandler = {
    onHead: (code) => {
      status = code;
    },
    onData: (chunk) => {
      text += Buffer.from(chunk).toString();
      return true;
    },
    onEnd: () => outcome.open({ status, text }),
    onError: (error) => outcome.open({ error }),
    onWebSocket: (_headers, socket, protocol) => {
      socket.listen({ onMessage() {}, onDrain() {}, onPong() {}, onClose() {} });
      outcome.open({ socket, protocol });
    },
  };
  const exchange = transport.send(given, handler);
  return { exchange, outcome: within(outcome.opened, 'an outcome'), transport };
}

it('upstream WebSocket: path and headers are sent unchanged, with repeated headers', async () => {
  const names = ['constructor', '3', '__proto__', '4'];
  const headers = ['x-a', '1', 'x-a', '2', 'connection', 'close', 'sec-websocket-key', 'mine', ...names];
  const { outcome, transport } = send(call({ path: "/v1//x/../%2e'?a=b c".replace(' ', '%20'), headers }));
  const { socket } = await outcome;
  const handshake = provider.handshakes.at(-1);
  expect(handshake?.path).toBe("/v1//x/../%2e'?a=b%20c");
  expect(handshake?.headers['x-a']).toBe('1, 2');
  expect(handshake?.headers.constructor).toBe('3');
  expect(handshake?.headers['sec-websocket-key']).not.toBe('mine');
  socket?.terminate();
  await within(transport.close(), 'the end of the transport');
});

it('upstream WebSocket: the provider’s subprotocol is reported', async () => {
  const chosen = await send(call({ webSocket: { protocols: ['realtime', 'beta'] } })).outcome;
  expect(chosen.protocol).toBe('realtime');
  chosen.socket?.terminate();
});

/** Opens a session by hand, without choosing a subprotocol, and then sends these bytes. */
const openWith =
  (bytes: Uint8Array): NonNullable<FakeRealtime['replies'][0]> =>
  (socket, request) => {
    const accept = hash('sha1', `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, 'base64');
    const head = `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}`;
    socket.write(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), bytes]));
  };

it('upstream WebSocket: a provider may choose none of the subprotocols', async () => {
  provider.replies = [openWith(Buffer.alloc(0))];
  const { protocol, socket, error } = await send(call({ webSocket: { protocols: ['realtime', 'beta'] } })).outcome;
  expect([protocol, error]).toEqual([null, undefined]);
  socket?.terminate();
});

it('upstream WebSocket: an invalid frame ends the session, although the provider keeps its connection', async () => {
  provider.replies = [openWith(Buffer.from([0x83, 0x00]))];
  const closed = newGate<unknown[]>();
  const transport = createTransport({ trusted: parseTrustedHosts(['127.0.0.1']) });
  transport.send(call(), {
    onHead: () => {},
    onData: () => true,
    onEnd: () => {},
    onError: closed.fail,
    onWebSocket: (_headers, socket) => {
      socket.listen({ onMessage() {}, onDrain() {}, onPong() {}, onClose: (...how: unknown[]) => closed.open(how) });
      socket.resume();
    },
  });
  // ws would wait 30 s for the end of the connection.
  const reason = 'Invalid WebSocket frame: invalid opcode 3';
  expect(await within(closed.opened, 'the close', 25_000)).toEqual([1006, reason, true]);
  await within(transport.close(), 'the end of the transport');
});

it.each([
  ['a private address', 'http://10.1.2.3', []],
  ['this machine, untrusted', 'self', []],
  ['a metadata service', 'http://169.254.169.254', []],
  ['no origin', 'http://127.0.0.1/path', ['127.0.0.1']],
])('upstream WebSocket: a request with %s is rejected before any connection', async (_case, origin, trusted) => {
  const before = provider.handshakes.length;
  const { error } = await send(call({ origin: origin === 'self' ? provider.origin : origin }), trusted as string[]).outcome;
  expect(error?.code).toBe('invalid_custom_host');
  expect(provider.handshakes.length).toBe(before);
});

it('upstream WebSocket: a status other than 101 is returned like a plain reply', async () => {
  provider.replies = [refuseWith(403, { why: 'no' })];
  expect(await send(call()).outcome).toEqual({ status: 403, text: '{"why":"no"}' });
});

it('upstream WebSocket: the error of a handshake with 101 names the rule that the provider broke', async () => {
  const head = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: x\r\n\r\n';
  provider.replies = [(socket) => socket.end(head)];
  expect((await send(call()).outcome).error).toMatchObject({
    code: 'upstream_invalid',
    message: 'The provider violated the WebSocket handshake: Invalid Sec-WebSocket-Accept header',
  });
});

it('upstream WebSocket: a closed port is upstream_connect', async () => {
  const { error } = await send(call({ origin: 'http://127.0.0.1:1024' })).outcome;
  expect(error?.code).toBe('upstream_connect');
});

it('upstream WebSocket: a missing reply is request_timeout, and the connection ends', async () => {
  const asked = newGate<Duplex>();
  provider.replies = [(socket) => asked.open(socket)];
  const { outcome } = send(call({ timeouts: { ...timeouts, firstByteMs: 100 } }));
  const atProvider = await asked.opened;
  const ended = new Promise((resolve) => atProvider.once('end', resolve));
  atProvider.resume();
  expect((await outcome).error?.code).toBe('request_timeout');
  await within(ended, 'the end of the connection');
});

it('upstream WebSocket: an aborted handshake closes its connection without a report', async () => {
  const asked = newGate<Duplex>();
  provider.replies = [(socket) => asked.open(socket)];
  const { exchange, outcome, transport } = send(call());
  let told = false;
  void outcome.then(
    () => {
      told = true;
    },
    () => undefined,
  );
  const atProvider = await asked.opened;
  const ended = new Promise((resolve) => atProvider.once('end', resolve));
  atProvider.resume();
  exchange.abort();
  exchange.abort();
  await within(ended, 'the end of the connection');
  await within(transport.close(), 'the end of the transport');
  expect(told).toBe(false);
});

it('upstream WebSocket: a transport that closes waits for open sockets', async () => {
  const { outcome, transport } = send(call());
  const { socket } = await outcome;
  let closed = false;
  const closing = transport.close().then(() => {
    closed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(closed).toBe(false);
  socket?.terminate();
  await within(closing, 'the end of the transport');
});

it('upstream WebSocket: control frames between the parts of a message end the connection, and others do not', async () => {
  const transport = createTransport({ trusted: parseTrustedHosts(['127.0.0.1']), messageBytesMax: 1024 * 1024 });
  const closed = newGate<unknown[]>();
  const messages: number[] = [];
  const opened = newGate<FakeSession>();
  const ready = newGate<void>();
  provider.onSession = (session) => opened.open(session);
  transport.send(call(), {
    onHead: () => {},
    onData: () => true,
    onEnd: () => {},
    onError: ready.fail,
    onWebSocket: (_headers, socket) => {
      const onClose = (...how: unknown[]) => closed.open(how);
      socket.listen({ onMessage: (data) => messages.push(data.length), onDrain() {}, onPong() {}, onClose });
      socket.resume();
      ready.open();
    },
  });
  const { socket } = await opened.opened;
  // Sending takes seconds on a busy machine. Before the transport has read the 101, that would be time of the handshake.
  await ready.opened;
  const sendPongs = () => {
    for (let i = 0; i < 12_000; i++) socket.pong(Buffer.alloc(125));
  };
  for (let i = 0; i < 3; i++) {
    sendPongs();
    socket.send('x');
  }
  await until(() => messages.length === 3);
  socket.send('a', { fin: false });
  sendPongs();
  sendPongs();
  expect(await within(closed.opened, 'the close')).toEqual([
    1006,
    'Too many control frames: 2097152 bytes without a whole message',
    true,
  ]);
  await transport.close();
});
