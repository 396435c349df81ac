import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UpstreamTransport } from '../../../core/contract/provider/upstream.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import { createConnector } from '../../../core/upstream/connector.ts';
import { Pool } from '../../../core/upstream/pool.ts';
import { until } from '../../support/until.ts';
import { localTransport, send } from './outgoing-call.ts';
import { type RawConnection, rawUpstreamOfTest, replies } from './raw-upstream.ts';
import { bodyOf } from './request-body.ts';

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

let transport: UpstreamTransport;

beforeEach(() => {
  transport = localTransport();
});

afterEach(() => transport.close());

describe('pooled connections', () => {
  it('are kept and reused, one request at a time', async () => {
    const upstream = await rawUpstreamOfTest(replies(ok));
    for (let i = 0; i < 20; i++) expect((await send(transport, { origin: upstream.origin }).body).toString()).toBe('ok');
    expect(upstream.connections).toHaveLength(1);
  });

  it('are as many as concurrent calls: no call waits for another', async () => {
    const upstream = await rawUpstreamOfTest();
    const calls = Array.from({ length: 600 }, () => send(transport, { origin: upstream.origin }));
    await until(() => upstream.connections.length === 600);
    for (const { socket } of upstream.connections) socket.write(ok);
    for (const { body } of calls) expect((await body).toString()).toBe('ok');
    // Afterwards the same connections serve again.
    const again = Array.from({ length: 50 }, () => send(transport, { origin: upstream.origin }));
    await until(() => upstream.connections.filter(({ received }) => received.split('\r\n\r\n').length === 3).length === 50);
    expect(upstream.connections).toHaveLength(600);
    for (const { exchange } of again) exchange.abort();
  });

  it('are never shared between tenants, nor between origins', async () => {
    const upstream = await rawUpstreamOfTest(replies(ok));
    const other = await rawUpstreamOfTest(replies(ok));
    for (let i = 0; i < 3; i++) {
      for (const tenant of ['tenant-a', 'tenant-b']) {
        await send(transport, { tenant, origin: upstream.origin, path: `/${tenant}` }).body;
        await send(transport, { tenant, origin: other.origin, path: `/${tenant}` }).body;
      }
    }
    for (const { connections } of [upstream, other]) {
      // A process that used the port before may still connect to it.
      expect(connections.filter(({ received }) => received.includes('/tenant-'))).toHaveLength(2);
      expect(connections.filter(({ received }) => received.includes('/tenant-a'))).toHaveLength(1);
      expect(connections.filter(({ received }) => received.includes('/tenant-b'))).toHaveLength(1);
    }
  });

  it('are not reused after a reply that closes them', async () => {
    const upstream = await rawUpstreamOfTest(replies(ok.replace('content-length', 'connection: close\r\ncontent-length')));
    for (let i = 0; i < 3; i++) expect((await send(transport, { origin: upstream.origin }).body).toString()).toBe('ok');
    expect(upstream.connections).toHaveLength(3);
  });

  it('are replaced if the provider closed them while they were idle', async () => {
    const upstream = await rawUpstreamOfTest(replies(ok));
    for (let i = 0; i < 5; i++) {
      expect((await send(transport, { origin: upstream.origin, method: 'POST', body: Buffer.from('x') }).body).toString()).toBe(
        'ok',
      );
      upstream.connections.at(-1)?.socket.end();
      await upstream.connections.at(-1)?.closed;
    }
  });

  it('close after the idle time', async () => {
    const local = localTransport({ keepAliveMs: 50 });
    const upstream = await rawUpstreamOfTest(replies(ok));
    await send(local, { origin: upstream.origin }).body;
    await (await upstream.nextConnection()).closed;
    await local.close();
  });
});

describe('a kept-alive connection that closes during a request', () => {
  /** Replies to the first request of each connection. The test decides about the second. */
  async function closesOnSecond(then: (connection: RawConnection) => void) {
    return rawUpstreamOfTest(async (connection) => {
      await connection.receives('\r\n\r\n');
      connection.socket.write(ok);
      await connection.receives('\r\n\r\n', 2);
      then(connection);
    });
  }
  const post = { method: 'POST', path: '/x', body: Buffer.from('a body\r\n\r\n') };
  const end = ({ socket }: RawConnection) => void socket.end();
  const reset = ({ socket }: RawConnection) => void socket.resetAndDestroy();

  it.each([
    ['end, GET', { method: 'GET' }, end],
    ['reset, GET', { method: 'GET' }, reset],
  ] as const)('is replaced once, unnoticed (%s)', async (_how, call, then) => {
    const upstream = await closesOnSecond(then);
    await send(transport, { origin: upstream.origin, ...call }).body;
    const second = send(transport, { origin: upstream.origin, ...call });
    expect((await second.body).toString()).toBe('ok');
    expect(second.events).toEqual(['head', 'data', 'end']);
    expect(upstream.connections).toHaveLength(2);
  });

  it.each([
    ['end', end],
    ['reset', reset],
  ] as const)('is replaced for a POST with its whole body at hand (%s)', async (_how, then) => {
    const upstream = await rawUpstreamOfTest(async (connection) => {
      await connection.receives('a body\r\n\r\n');
      connection.socket.write(ok);
      await connection.receives('a body\r\n\r\n', 2);
      then(connection);
    });
    await send(transport, { origin: upstream.origin, ...post }).body;
    expect((await send(transport, { origin: upstream.origin, ...post }).body).toString()).toBe('ok');
    expect(upstream.connections[1]?.received).toContain('a body');
  });

  it('is replaced once: a provider that hangs up again is upstream_reset', async () => {
    let first = true;
    const upstream = await rawUpstreamOfTest(async ({ socket, receives }) => {
      await receives('\r\n\r\n');
      if (first) {
        first = false;
        socket.write(ok);
        await receives('\r\n\r\n', 2);
      }
      socket.end();
    });
    await send(transport, { origin: upstream.origin }).body;
    expect(await send(transport, { origin: upstream.origin }).error).toMatchObject({ code: 'upstream_reset' });
    expect(upstream.connections).toHaveLength(2);
  });

  it('is not replaced after a byte of the reply', async () => {
    const upstream = await closesOnSecond(({ socket }) => void socket.end('HT'));
    await send(transport, { origin: upstream.origin }).body;
    expect(await send(transport, { origin: upstream.origin }).error).toMatchObject({ code: 'upstream_reset' });
    expect(upstream.connections).toHaveLength(1);
  });

  it('is not replaced for a streamed body', async () => {
    const upstream = await closesOnSecond(end);
    await send(transport, { origin: upstream.origin }).body;
    const sent = send(transport, { origin: upstream.origin, method: 'PUT', body: bodyOf([Buffer.from('x\r\n\r\n')], 5) });
    expect(await sent.error).toMatchObject({ code: 'upstream_reset' });
    expect(upstream.connections).toHaveLength(1);
  });

  it('is not replaced if it was new, because the provider has seen the request', async () => {
    const upstream = await rawUpstreamOfTest(async ({ socket, receives }) => {
      await receives('\r\n\r\n');
      socket.end();
    });
    expect(await send(transport, { origin: upstream.origin }).error).toMatchObject({ code: 'upstream_reset' });
    expect(upstream.connections).toHaveLength(1);
  });

  it('is not replaced for a POST that the provider had time to process, but is for a GET', async () => {
    const working: RawConnection[] = [];
    const upstream = await closesOnSecond((connection) => void working.push(connection));
    await Promise.all([send(transport, { origin: upstream.origin }).body, send(transport, { origin: upstream.origin }).body]);
    const sent = [send(transport, { origin: upstream.origin, ...post }), send(transport, { origin: upstream.origin })];
    await until(() => working.length === 2);
    const clock = send(transport, {
      origin: (await rawUpstreamOfTest()).origin,
      timeouts: { connectMs: 0, firstByteMs: 1100, idleMs: 0, totalMs: 0 },
    });
    await clock.error;
    for (const { socket } of working) socket.end();
    expect(await sent[0]?.error).toMatchObject({ code: 'upstream_reset' });
    expect((await sent[1]?.body)?.toString()).toBe('ok');
    expect(upstream.connections).toHaveLength(3);
  });
});

describe('pools', () => {
  it('drop idle connections that have closed, so that a burst leaves nothing behind', async () => {
    const upstream = await rawUpstreamOfTest(replies(ok));
    const trusted = parseTrustedHosts(['127.0.0.1']);
    const connect = createConnector({ hostname: '127.0.0.1', port: upstream.port, internal: false }, { trusted });
    const url = new URL(upstream.origin);
    const pool = new Pool({ url, connect, keepAliveMs: 60_000, headerBytesMax: 1000, onHandlerError: () => {} });
    const request = { path: '/', method: 'GET' };
    await Promise.all(
      Array.from({ length: 30 }, () => {
        const connection = pool.acquire(false);
        return new Promise<void>((resolve) => {
          connection.dispatch(request, {
            onRequestStart: () => {},
            onResponseStart: () => {},
            onResponseData: () => {},
            onResponseEnd: () => {
              pool.release(connection, true);
              resolve();
            },
            onResponseError: () => {},
          });
        });
      }),
    );
    expect(pool.idle).toBe(30);
    for (const { socket } of upstream.connections) socket.end();
    await until(() => pool.idle === 0);
    await pool.retire();
  });

  it('above the limit close the least recently used one, without affecting its running exchanges', async () => {
    const local = localTransport({ poolsMax: 2 });
    const upstream = await rawUpstreamOfTest(async ({ socket, receives }) => {
      await receives('\r\n\r\n');
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nha');
    });
    const long = send(local, { tenant: 't1', origin: upstream.origin });
    await long.firstChunk;
    const quick = await rawUpstreamOfTest(replies(ok));
    await send(local, { tenant: 't2', origin: quick.origin }).body;
    await send(local, { tenant: 't3', origin: quick.origin }).body;
    // t1's pool is removed. Its stream continues, and its connection closes when the stream ends.
    const connection = await upstream.nextConnection();
    expect(connection.isClosed).toBe(false);
    connection.socket.write('lf');
    expect((await long.body).toString()).toBe('half');
    await connection.closed;
    // t2 is now the oldest. Its idle connection closes when a fourth pool is created.
    await send(local, { tenant: 't4', origin: quick.origin }).body;
    await (await quick.nextConnection()).closed;
    expect((await quick.nextConnection()).isClosed).toBe(false);
    await local.close();
  });
});

describe('pool shutdown', () => {
  it('lets running exchanges end, rejects new ones as draining, then closes every socket', async () => {
    const upstream = await rawUpstreamOfTest();
    const running = send(transport, { origin: upstream.origin });
    const connection = await upstream.nextConnection();
    await connection.receives('\r\n\r\n');
    let isClosed = false;
    const closing = transport.close().then(() => {
      isClosed = true;
    });
    expect(await send(transport, { origin: upstream.origin }).error).toMatchObject({ code: 'draining', status: 503 });
    expect([isClosed, connection.isClosed]).toEqual([false, false]);
    connection.socket.write(ok);
    expect((await running.body).toString()).toBe('ok');
    await closing;
    await connection.closed;
    await transport.close();
  });
});
