import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UpstreamTransport } from '../../../core/contract/provider/upstream.ts';
import { until } from '../../support/until.ts';
import { localTransport, noTimeouts, send } from './outgoing-call.ts';
import { type RawUpstream, replies, startRawUpstream } from './raw-upstream.ts';
import { bodyOf, repeat } from './request-body.ts';

let transport: UpstreamTransport;
let upstream: RawUpstream;

beforeEach(async () => {
  transport = localTransport();
  upstream = await startRawUpstream();
});

afterEach(async () => {
  await upstream.close();
  await transport.close();
});

describe('an aborted exchange', () => {
  it('closes the socket of a waiting request, and calls the handler no more', async () => {
    const sent = send(transport, { origin: upstream.origin });
    const connection = await upstream.nextConnection();
    await connection.receives('\r\n\r\n');
    sent.exchange.abort();
    sent.exchange.abort();
    await connection.closed;
    expect(sent.events).toEqual([]);
  });

  it('closes the socket in the middle of a reply, also from within the handler', async () => {
    const takes = (_chunk: Uint8Array, exchange: { abort(): void }) => {
      exchange.abort();
      return true;
    };
    const sent = send(transport, { origin: upstream.origin }, { takes });
    const connection = await upstream.nextConnection();
    await connection.receives('\r\n\r\n');
    connection.socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n');
    await connection.closed;
    expect(sent.events).toEqual(['head', 'data']);
  });

  it('ends at the head if the handler aborts there', async () => {
    const events: string[] = [];
    const exchange = transport.send(
      { tenant: 't', origin: upstream.origin, path: '/', method: 'GET', headers: [], body: null, timeouts: noTimeouts },
      {
        onHead: () => {
          events.push('head');
          exchange.abort();
        },
        onData: () => events.push('data') > 0,
        onEnd: () => void events.push('end'),
        onError: () => void events.push('error'),
      },
    );
    const connection = await upstream.nextConnection();
    await connection.receives('\r\n\r\n');
    connection.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc');
    await connection.closed;
    expect(events).toEqual(['head']);
  });

  it('closes the socket of a paused reply', async () => {
    const sent = send(transport, { origin: upstream.origin }, { takes: () => false });
    const connection = await upstream.nextConnection();
    await connection.receives('\r\n\r\n');
    connection.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nabc');
    await sent.firstChunk;
    sent.exchange.abort();
    sent.exchange.resume();
    await connection.closed;
    expect(sent.events).toEqual(['head', 'data']);
  });

  it('stops an upload and discards the rest of the body', async () => {
    const body = bodyOf(repeat(Buffer.alloc(64 * 1024), 10_000), -1);
    const sent = send(transport, { origin: upstream.origin, method: 'POST', body });
    const connection = await upstream.nextConnection();
    await connection.receives('\r\n\r\n');
    sent.exchange.abort();
    await connection.closed;
    expect(body.discarded).toBe(true);
    expect(body.sent).toBeLessThan(10_000 * 64 * 1024);
    expect(sent.events).toEqual([]);
  });

  it('stops an unfinished connection', async () => {
    let reply: () => void = () => {};
    const local = localTransport({
      resolve: (_name, callback) => {
        reply = () => callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
      trusted: [{ name: 'slow.example', below: false, range: null, port: null }],
    });
    const sent = send(local, { origin: `http://slow.example:${upstream.port}` });
    sent.exchange.abort();
    reply();
    // The transport closes, which shows that nothing is under way. No connection was opened.
    await local.close();
    await turn();
    expect([sent.events, upstream.connections.length]).toEqual([[], 0]);
  });

  it('sends nothing if the abort is in the same turn, on a kept-alive socket', async () => {
    const ok = await startRawUpstream(replies('HTTP/1.1 204 No Content\r\n\r\n'));
    await send(transport, { origin: ok.origin, path: '/first' }).body;
    const sent = send(transport, { origin: ok.origin, path: '/second' });
    sent.exchange.abort();
    const connection = await ok.nextConnection();
    await connection.closed;
    expect(connection.received).not.toContain('/second');
    expect(sent.events).toEqual([]);
    await ok.close();
  });

  it('does not report a rejection that was pending', async () => {
    const sent = [
      send(transport, { origin: upstream.origin, path: 'no-slash' }),
      send(transport, { origin: upstream.origin, headers: ['bad name', ''] }),
      send(transport, { origin: 'http://10.0.0.1' }),
    ];
    for (const { exchange } of sent) exchange.abort();
    await send(transport, { origin: 'http://10.0.0.1' }).error;
    expect(sent.map(({ events }) => events)).toEqual([[], [], []]);
  });

  it('does not affect its neighbours', async () => {
    const calls = [1, 2, 3].map((n) => send(transport, { origin: upstream.origin, path: `/${n}` }));
    const connections = [await upstream.nextConnection(), await upstream.nextConnection(), await upstream.nextConnection()];
    await Promise.all(connections.map((connection) => connection.receives('\r\n\r\n')));
    calls[1]?.exchange.abort();
    const gone = connections.find(({ received }) => received.startsWith('GET /2'));
    await gone?.closed;
    for (const connection of connections)
      if (connection !== gone) connection.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    expect((await calls[0]?.body)?.toString()).toBe('ok');
    expect((await calls[2]?.body)?.toString()).toBe('ok');
  });

  it('releases its memory: a thousand aborted calls leave nothing open', async () => {
    const calls = Array.from({ length: 1000 }, () =>
      send(transport, { origin: upstream.origin, timeouts: { ...noTimeouts, totalMs: 60_000 } }),
    );
    await until(() => upstream.connections.length === 1000);
    for (const { exchange } of calls) exchange.abort();
    await Promise.all(upstream.connections.map(({ closed }) => closed));
    await transport.close();
    expect(calls.every(({ events }) => events.length === 0)).toBe(true);
  });
});
