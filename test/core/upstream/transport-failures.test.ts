import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UpstreamTransport } from '../../../core/contract/provider/upstream.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { localTransport, noTimeouts, send } from './outgoing-call.ts';
import { rawUpstreamOfTest, replies } from './raw-upstream.ts';
import { bodyOf, repeat } from './request-body.ts';

let transport: UpstreamTransport;

beforeEach(() => {
  transport = localTransport();
});

afterEach(() => transport.close());

/** Replies to the first request with these bytes, then calls `then` with the socket. */
async function afterReply(reply: string, then: 'end' | 'reset' | 'nothing') {
  return rawUpstreamOfTest(async ({ socket, receives }) => {
    await receives('\r\n\r\n');
    if (reply !== '') socket.write(Buffer.from(reply, 'latin1'));
    if (then === 'end') socket.end();
    // A reset discards unsent bytes, so it waits until the response is sent.
    if (then === 'reset') socket.write('', () => setImmediate(() => socket.resetAndDestroy()));
  });
}

describe('a provider that cannot be reached', () => {
  it('is upstream_connect if it refuses the connection', async () => {
    const sent = send(transport, { origin: `http://127.0.0.1:${await freePort()}` });
    expect(sent.events).toEqual([]);
    expect(await sent.error).toMatchObject({
      code: 'upstream_connect',
      status: 502,
      detail: expect.stringContaining('ECONNREFUSED'),
    });
    expect(sent.events).toEqual(['error']);
  });

  it('is upstream_connect if its name is unknown', async () => {
    const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    const local = localTransport({ resolve: (_name, callback) => setImmediate(() => callback(unknown, [])) });
    expect(await send(local, { origin: 'http://nowhere.example' }).error).toMatchObject({ code: 'upstream_connect' });
    await local.close();
  });

  it.each(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM'])(
    'is overloaded, and no failure of the provider, if this machine opens no socket (%s)',
    async (code) => {
      const refused = Object.assign(new Error(`connect ${code}`), { code });
      const local = localTransport({ resolve: (_name, callback) => setImmediate(() => callback(refused, [])) });
      expect(await send(local, { origin: 'http://provider.example' }).error).toMatchObject({
        ...{ code: 'overloaded', status: 503, source: 'gateway', retryAfterMs: 1_000 },
        detail: `${code}: connect ${code}`,
      });
      await local.close();
    },
  );

  it('leaves a streamed body unread, so that another target can get it', async () => {
    const body = bodyOf([Buffer.from('x')], 1);
    const sent = send(transport, { origin: `http://127.0.0.1:${await freePort()}`, method: 'POST', body });
    await sent.error;
    expect(body.piped).toBe(false);
  });

  it('is upstream_connect if name servers do not reply in time', async () => {
    const local = localTransport({ resolve: () => {} });
    const timeouts = { ...noTimeouts, connectMs: 60, firstByteMs: 60_000 };
    const sent = send(local, { origin: 'http://slow.example', timeouts });
    expect(await sent.error).toMatchObject({
      code: 'upstream_connect',
      message: 'The provider could not be reached within 60ms',
      detail: 'no reply of the name servers within 60 ms',
    });
    await local.close();
  });

  it.each(['localhost', '127.0.0.1'])('is upstream_connect if the connection to %s takes too long', async (host) => {
    const silent = await rawUpstreamOfTest(async () => {});
    const timeouts = { ...noTimeouts, connectMs: 300, firstByteMs: 60_000 };
    // The server does not reply to the TLS handshake.
    const local = localTransport({ trusted: parseTrustedHosts([host, '127.0.0.1']) });
    const sent = send(local, { origin: silent.origin.replace('http://127.0.0.1', `https://${host}`), timeouts });
    expect(await sent.error).toMatchObject({ code: 'upstream_connect', detail: 'no connection within 300 ms' });
    await local.close();
  });
});

describe('a provider that closes', () => {
  it.each(['end', 'reset'] as const)('before its reply is upstream_reset (%s)', async (then) => {
    const { origin } = await afterReply('', then);
    const sent = send(transport, { origin, method: 'POST', body: Buffer.from('{}\r\n\r\n') });
    expect(await sent.error).toMatchObject({
      code: 'upstream_reset',
      status: 502,
      message: 'The provider closed the connection before it replied',
    });
    expect(sent.events).toEqual(['error']);
  });

  it.each(['end', 'reset'] as const)('within the head is upstream_reset (%s)', async (then) => {
    const { origin } = await afterReply('HTTP/1.1 200 OK\r\ncontent-le', then);
    const sent = send(transport, { origin });
    expect(await sent.error).toMatchObject({ code: 'upstream_reset' });
    expect(sent.events).toEqual(['error']);
  });

  const cuts = [
    ['a body with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345'],
    ['a body with a length on a closing connection', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 10\r\n\r\n12345'],
    ['a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n12345'],
    ['the chunks, between two', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\n'],
    [
      'the chunks of a closing connection',
      'HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\n',
    ],
    ['the chunks of an HTTP/1.0 reply', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n'],
  ] as const;
  it.each(cuts.flatMap(([what, reply]) => (['end', 'reset'] as const).map((then) => [what, then, reply] as const)))(
    'within %s never looks complete (%s)',
    async (_what, then, reply) => {
      const { origin } = await afterReply(reply, then);
      const sent = send(transport, { origin });
      const error = await sent.error;
      expect([error.code, error.message]).toEqual([
        'upstream_reset',
        'The provider closed the connection before its reply was complete',
      ]);
      expect(sent.events.filter((event) => event !== 'data')).toEqual(['head', 'error']);
    },
  );

  it('by reset cuts a reply without a length, and by a plain end completes it', async () => {
    const reply = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nuntil the end';
    const upstream = await rawUpstreamOfTest(replies(reply));
    const cut = send(transport, { origin: upstream.origin });
    await cut.firstChunk;
    (await upstream.nextConnection()).socket.resetAndDestroy();
    expect(await cut.error).toMatchObject({ code: 'upstream_reset' });
    const whole = send(transport, { origin: (await afterReply(reply, 'end')).origin });
    expect((await whole.body).toString()).toBe('until the end');
  });
});

describe('a provider that sends garbage', () => {
  const garbage = [
    'SSH-2.0-OpenSSH_9.2\r\n',
    'HTTP/1.1 abc OK\r\n\r\n',
    'HTTP/9.9 200 OK\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n12345',
    'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n',
    'HTTP/1.1 200 OK\r\nx: a\x00b\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    `HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(70_000)}\r\n\r\n`,
    `HTTP/1.1 200 OK\r\n${'x-many: 0123456789\r\n'.repeat(5000)}\r\n`,
    'HTTP/1.1 099 Status\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n',
  ];
  it.each(garbage.map((reply) => [JSON.stringify(reply.slice(0, 60)), reply] as const))(
    'is upstream_invalid: %s',
    async (_shown, reply) => {
      const { origin } = await afterReply(reply, 'nothing');
      const sent = send(transport, { origin });
      expect(await sent.error).toMatchObject({ code: 'upstream_invalid', status: 502 });
      expect(sent.events).toEqual(['error']);
    },
  );

  it('in the middle of a chunked body is an error, not an end', async () => {
    const { origin } = await afterReply('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\nzz\r\n', 'nothing');
    const sent = send(transport, { origin });
    expect(await sent.error).toMatchObject({ code: 'upstream_invalid' });
    expect(sent.events.filter((event) => event !== 'data')).toEqual(['head', 'error']);
  });

  it('after its reply cannot reach the next request', async () => {
    const upstream = await rawUpstreamOfTest(
      replies('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'),
    );
    for (let i = 0; i < 5; i++) {
      const sent = send(transport, { origin: upstream.origin });
      await Promise.allSettled([sent.body]);
      expect(Buffer.concat(sent.chunks).toString()).not.toContain('evil');
    }
  });
});

describe('a provider that stalls', () => {
  const timeouts = { connectMs: 5000, firstByteMs: 250, idleMs: 60_000, totalMs: 60_000 };

  it.each([
    ['before its reply', ''],
    ['within its head', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['after an interim reply', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('%s is request_timeout with the usual message, and its connection closes', async (_when, reply) => {
    const upstream = await afterReply(reply, 'nothing');
    const sent = send(transport, { origin: upstream.origin, timeouts });
    const error = await sent.error;
    expect([error.code, error.status, error.message]).toEqual([
      'request_timeout',
      408,
      'Request exceeded the timeout sent in the request: 250ms',
    ]);
    await (await upstream.nextConnection()).closed;
    expect(sent.events).toEqual(['error']);
  });

  it('after its head is request_timeout if the first bytes of the body are awaited', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
    const stalled = await afterReply(head, 'nothing');
    const sent = send(transport, { origin: stalled.origin, timeouts: { ...timeouts, awaitsBody: true } });
    expect(await sent.error).toMatchObject({
      code: 'request_timeout',
      message: 'Request exceeded the timeout sent in the request: 250ms',
    });
    expect(sent.events).toEqual(['head', 'error']);
    const begun = await afterReply(`${head}1\r\nx\r\n`, 'nothing');
    const other = send(transport, { origin: begun.origin, timeouts: { ...timeouts, awaitsBody: true, idleMs: 600 } });
    expect(await other.error).toMatchObject({ message: 'The provider sent nothing for 600ms' });
  });

  it('during the connect is request_timeout if that timeout is not longer than the connect timeout', async () => {
    const local = localTransport({ resolve: () => {} });
    const sent = send(local, { origin: 'http://slow.example', timeouts: { ...timeouts, connectMs: 250 } });
    expect(await sent.error).toMatchObject({ code: 'request_timeout' });
    await local.close();
  });

  it('within its reply is request_timeout after the idle time, counted from the last chunk', async () => {
    // Sends bytes for twice the idle time, then stalls.
    const drips = 20;
    const upstream = await rawUpstreamOfTest(async ({ socket, receives }) => {
      await receives('\r\n\r\n');
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n');
      let dripped = 0;
      const drip = setInterval(() => {
        if (++dripped === drips) clearInterval(drip);
        socket.write('x');
      }, 30);
    });
    const sent = send(transport, { origin: upstream.origin, timeouts: { ...timeouts, firstByteMs: 5000, idleMs: 300 } });
    expect(await sent.error).toMatchObject({ code: 'request_timeout', message: 'The provider sent nothing for 300ms' });
    expect(Buffer.concat(sent.chunks)).toHaveLength(drips);
    await (await upstream.nextConnection()).closed;
  });

  it('only because of a paused reader is not at fault', async () => {
    const upstream = await rawUpstreamOfTest(replies('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n12345'));
    const idleMs = 50;
    const sent = send(transport, { origin: upstream.origin, timeouts: { ...timeouts, idleMs } }, { takes: () => false });
    await sent.firstChunk;
    const other = send(transport, {
      origin: (await rawUpstreamOfTest()).origin,
      timeouts: { ...noTimeouts, firstByteMs: 5 * idleMs },
    });
    // When the other call times out, five idle times have passed here.
    await other.error;
    expect(sent.events).toEqual(['head', 'data']);
    sent.exchange.resume();
    expect((await sent.body).toString()).toBe('12345');
  });

  it('forever by dripping is request_timeout after the total time', async () => {
    const upstream = await rawUpstreamOfTest(async ({ socket, receives, closed }) => {
      await receives('\r\n\r\n');
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const drip = setInterval(() => socket.write('1\r\nx\r\n'), 10);
      void closed.then(() => clearInterval(drip));
    });
    const sent = send(transport, {
      origin: upstream.origin,
      timeouts: { connectMs: 5000, firstByteMs: 5000, idleMs: 5000, totalMs: 150 },
    });
    expect(await sent.error).toMatchObject({
      code: 'request_timeout',
      message: 'Request exceeded the timeout sent in the request: 150ms',
    });
    await (await upstream.nextConnection()).closed;
  });
});

describe('a provider that replies early', () => {
  const early = 'HTTP/1.1 413 Payload Too Large\r\ncontent-length: 9\r\n\r\ntoo large';

  it('gets its reply through, and the upload stops', async () => {
    const upstream = await rawUpstreamOfTest(async ({ socket, receives }) => {
      await receives('\r\n\r\n');
      socket.write(early);
    });
    // A body that never ends: only a stopped upload lets this test end.
    const body = bodyOf(repeat(Buffer.alloc(1000), 5), -1, 'stay-open');
    const sent = send(transport, { origin: upstream.origin, method: 'POST', body });
    expect((await sent.head).status).toBe(413);
    expect((await sent.body).toString()).toBe('too large');
    await (await upstream.nextConnection()).closed;
    expect(body.discarded).toBe(true);
  });

  it('gets its reply through even if it closes at once', async () => {
    const upstream = await rawUpstreamOfTest(async ({ socket, receives }) => {
      await receives('\r\n\r\n');
      socket.pause();
      socket.end(early.replace('content-length', 'connection: close\r\ncontent-length'));
    });
    const body = bodyOf(repeat(Buffer.alloc(64 * 1024), 1000), 64_000 * 1024);
    const sent = send(transport, { origin: upstream.origin, method: 'POST', body });
    expect((await sent.head).status).toBe(413);
    expect((await sent.body).toString()).toBe('too large');
    expect(body.discarded).toBe(true);
  });

  it('gets the whole body if it continues reading', async () => {
    const upstream = await rawUpstreamOfTest(async ({ socket, receives }) => {
      await receives('\r\n\r\n');
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n');
      await receives('the last byte');
      socket.write('0\r\n\r\n');
    });
    const body = bodyOf([Buffer.from('a first byte,'), Buffer.from('the last byte')], 26);
    const sent = send(transport, { origin: upstream.origin, method: 'POST', body });
    expect((await sent.body).toString()).toBe('hi');
  });
});

describe('a streamed request body', () => {
  it('with an error aborts the request to the provider and reports its own error', async () => {
    for (const code of ['client_closed', 'body_too_large'] as const) {
      const upstream = await rawUpstreamOfTest();
      const body = bodyOf([Buffer.from('some')], -1, 'stay-open');
      const sent = send(transport, { origin: upstream.origin, method: 'POST', body });
      const connection = await upstream.nextConnection();
      await connection.receives('some');
      body.fail(new GatewayError(code));
      expect((await sent.error).code).toBe(code);
      await connection.closed;
      expect(connection.received).not.toContain('\r\n0\r\n');
      expect(sent.events).toEqual(['error']);
    }
  });

  it('with a declared length above the limit is rejected without a connection', async () => {
    const upstream = await rawUpstreamOfTest();
    const body = bodyOf([], 101);
    const sent = send(transport, { origin: upstream.origin, method: 'POST', body, bodyBytesMax: 100 });
    expect(await sent.error).toMatchObject({ code: 'body_too_large', status: 413 });
    expect([upstream.connections.length, body.piped]).toEqual([0, false]);
  });

  it('is sent as no body if its length is 0', async () => {
    const upstream = await rawUpstreamOfTest(replies('HTTP/1.1 204 No Content\r\n\r\n'));
    const body = bodyOf([], 0);
    await send(transport, { origin: upstream.origin, method: 'POST', body }).body;
    expect((await upstream.nextConnection()).received).toContain('content-length: 0\r\n');
    expect(body.piped).toBe(false);
  });
});

describe('a handler that throws', () => {
  it('ends its own exchange only', async () => {
    const upstream = await rawUpstreamOfTest(replies('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    const errors: unknown[] = [];
    const local = localTransport({ onHandlerError: (error) => errors.push(error) });
    const call = {
      tenant: 't',
      origin: upstream.origin,
      path: '/',
      method: 'GET',
      headers: [],
      body: null,
      timeouts: noTimeouts,
    };
    const thrown = new Error('thrown by the handler');
    const throwing = () => {
      throw thrown;
    };
    const quiet = { onHead: () => {}, onData: () => true, onEnd: () => {}, onError: () => {} };
    for (const name of ['onHead', 'onData'] as const) {
      const error = await new Promise((resolve) => {
        local.send(call, { ...quiet, [name]: throwing, onError: resolve });
      });
      expect(error).toMatchObject({ code: 'internal', cause: thrown });
    }
    expect(errors).toEqual([]);
    local.send(call, { ...quiet, onEnd: throwing });
    local.send({ ...call, path: 'bad' }, { ...quiet, onError: throwing });
    local.send({ ...call, headers: ['bad name', ''] }, { ...quiet, onError: throwing });
    expect((await send(local, { origin: upstream.origin }).body).toString()).toBe('ok');
    await local.close();
    expect(errors).toEqual([thrown, thrown, thrown]);
  });
});
