import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { FrameListener, FrameSocket } from '../../../core/contract/plugin/sessions/web-socket.ts';
import { openSession, RefusedHandshake } from '../../support/clients/session-client.ts';
import { startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';
import { newGate } from '../../support/gate.ts';
import { until, within } from '../../support/until.ts';

const pem = (name: string) => fileURLToPath(new URL(`../../support/tls/${name}.pem`, import.meta.url));

/** A listener that stores what it receives. */
function keeper() {
  const messages: string[] = [];
  const closed = newGate<{ code: number; reason: string; byRule: boolean }>();
  let drains = 0;
  const listener: FrameListener = {
    onMessage: (data, isBinary) => void messages.push(`${isBinary ? 'binary' : 'text'} ${data.length}`),
    onDrain: () => {
      drains++;
    },
    onPong: () => {},
    onClose: (code, reason, byRule) => closed.open({ code, reason, byRule }),
  };
  return { listener, messages, closed: closed.opened, drains: () => drains };
}

describe.each(uwsBinaries)('the WebSocket edge on %s', (binary) => {
  /** An edge that accepts after `delay` turns. Returns the socket of the next client. */
  async function accepting(more: Parameters<typeof startEdge>[2] = {}, headers: string[] = [], protocol: string | null = null) {
    const accepted = newGate<{ socket: FrameSocket; heard: ReturnType<typeof keeper> }>();
    const edge = await startEdge(
      binary,
      (_request, sink) => {
        // In a later turn, as after a response of the provider.
        setImmediate(() => {
          const socket = sink.acceptWebSocket?.(headers, protocol) ?? null;
          if (socket === null) return sink.send(200, [], 'no upgrade');
          const heard = keeper();
          socket.listen(heard.listener);
          socket.resume();
          accepted.open({ socket, heard });
        });
      },
      { messageBytesMax: 1_000_000, ...more },
    );
    return { edge, url: `ws://127.0.0.1:${edge.port}/v1/realtime`, accepted: accepted.opened };
  }

  it('passes offered subprotocols to the chain, and replies with the chosen one and its headers', async () => {
    const { edge, url } = await accepting(
      {},
      ['x-svc-trace-id', 'abc', 'sec-websocket-extensions', 'x', 'bad\nname', 'v'],
      'two',
    );
    const client = await openSession(url, {}, ['one', 'two']);
    expect(edge.handled[0]?.webSocketProtocols).toEqual(['one', 'two']);
    expect(client.socket.protocol).toBe('two');
    expect(client.headers).toMatchObject({ 'x-svc-trace-id': 'abc' });
    expect(client.headers['sec-websocket-extensions']).toBeUndefined();
    edge.close();
  });

  it('rejects a malformed subprotocol as an error of the request', async () => {
    const { edge } = await accepting();
    const handshake = [
      'GET /v1/realtime HTTP/1.1',
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Protocol: good, not good',
    ];
    const socket = connect(edge.port, '127.0.0.1');
    socket.end(`${handshake.join('\r\n')}\r\n\r\n`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect(edge.handled).toEqual([]);
    socket.destroy();
    edge.close();
  });

  it('drops malformed headers and opens the socket', async () => {
    const { edge, url } = await accepting({}, ['x-svc-a', 'kept', 'x-long', 'l'.repeat(30_000), 'x-short', 'kept']);
    const client = await openSession(url, {});
    expect(client.headers).toMatchObject({ 'x-svc-a': 'kept', 'x-short': 'kept' });
    expect(client.headers['x-long']).toBeUndefined();
    edge.close();
  });

  it('treats a request with a key but without an upgrade as an ordinary request', async () => {
    const { edge } = await accepting();
    const reply = await fetch(`http://127.0.0.1:${edge.port}/v1/x`, {
      headers: { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    });
    expect(await reply.text()).toBe('no upgrade');
    expect(edge.handled[0]?.webSocketProtocols ?? null).toBeNull();
    edge.close();
  });

  it('counts an open session as an open request until it ends', async () => {
    const { edge, url, accepted } = await accepting();
    const client = await openSession(url, {});
    await accepted;
    expect(edge.server.openRequests).toBe(1);
    const drained = edge.server.drain(5000);
    client.socket.close();
    expect(await drained).toBe(0);
    expect(edge.server.openRequests).toBe(0);
    edge.close();
  });

  it.each([
    ['invalid UTF-8', Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe])],
    ['a reserved bit', Buffer.from([0xc1, 0x81, 0, 0, 0, 0, 0x61])],
  ])('closes after %s, and reports a protocol violation', async (_case, bytes) => {
    const { edge, url, accepted } = await accepting();
    const client = await openSession(url, {});
    (client.socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(bytes);
    const { heard } = await accepted;
    expect(await within(heard.closed, 'the close')).toMatchObject({ code: 1006, byRule: true });
    edge.close();
  });

  it('ends the connection of a client that sends pings and reads no replies', async () => {
    const { edge, url, accepted } = await accepting();
    const client = await openSession(url, {});
    const { socket, heard } = await accepted;
    client.socket.pause();
    // The replies to pings wait behind these.
    while (socket.send(Buffer.alloc(500_000), true));
    for (let i = 0; i < 4000; i++) client.socket.ping(Buffer.alloc(125));
    expect(await within(heard.closed, 'the close')).toEqual({
      code: 1006,
      reason: 'The client does not read the replies to its pings',
      byRule: true,
    });
    edge.close();
  });

  it('reports no protocol violation if a client just ends its connection', async () => {
    const { edge, url, accepted } = await accepting();
    const client = await openSession(url, {});
    const { heard } = await accepted;
    client.socket.terminate();
    expect(await within(heard.closed, 'the close')).toEqual({ code: 1006, reason: '', byRule: false });
    edge.close();
  });

  it('accepts writes to a closed socket', async () => {
    const { edge, url, accepted } = await accepting();
    const client = await openSession(url, {});
    const { socket, heard } = await accepted;
    client.socket.terminate();
    await heard.closed;
    expect(socket.send(Buffer.from('x'), false)).toBe(true);
    socket.ping();
    socket.pause();
    socket.resume();
    socket.close(1000, '');
    socket.terminate();
    expect(socket.bufferedBytes).toBe(0);
    expect(edge.failed).toEqual([]);
    edge.close();
  });

  it('ends and reports the session of a listener that throws', async () => {
    const { edge, url, accepted } = await accepting();
    const client = await openSession(url, {});
    const { socket } = await accepted;
    socket.listen({
      onMessage() {
        throw new Error('mine');
      },
      onDrain() {},
      onPong() {},
      onClose() {},
    });
    client.socket.send('x');
    expect((await client.closed).code).toBe(1006);
    expect(String(edge.failed[0])).toContain('mine');
    edge.close();
  });

  it.each([
    ['plain', {}],
    ['TLS', { settings: { tlsCert: pem('cert'), tlsKey: pem('key') } }],
  ])('reads a paused socket only after resume, and still writes to it: %s', async (kind, more) => {
    const { edge, url, accepted } = await accepting(more);
    const client = await openSession(kind === 'TLS' ? url.replace('ws:', 'wss:') : url, {}, [], { rejectUnauthorized: false });
    const { socket, heard } = await accepted;
    socket.pause();
    const count = 400;
    for (let i = 0; i < count; i++) client.socket.send(Buffer.alloc(65_536));
    // More than the paused connection can hold, so only the timer can write the rest.
    client.socket.pause();
    while (socket.send(Buffer.alloc(500_000), true));
    const waiting = socket.bufferedBytes;
    client.socket.resume();
    await until(() => socket.bufferedBytes === 0 && heard.drains() === 1);
    expect(waiting).toBeGreaterThan(256 * 1024);
    expect(heard.messages.length).toBeLessThan(count);
    socket.resume();
    await until(() => heard.messages.length === count);
    client.socket.close(1000, 'bye');
    expect(await within(heard.closed, 'the close')).toMatchObject({ code: 1000, reason: 'bye' });
    edge.close();
  });

  it('replies with the status of the chain if it rejects the request', async () => {
    const edge = await startEdge(binary, (_request, sink) => setImmediate(() => sink.send(429, ['retry-after', '3'], '{"a":1}')));
    const refused = await openSession(`ws://127.0.0.1:${edge.port}/x`, {}).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RefusedHandshake);
    expect(refused).toMatchObject({ status: 429, body: '{"a":1}' });
    edge.close();
  });
});
