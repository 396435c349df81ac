import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { internalTenant, type UpstreamTransport } from '../../../core/contract/provider/upstream.ts';
import { localTransport, send } from './outgoing-call.ts';
import { rawUpstreamOfTest, replies, startRawUpstream } from './raw-upstream.ts';
import { bodyOf, repeat } from './request-body.ts';

/** Resolves after some turns of the event loop, in which a closed connection is noticed. */
async function afterTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

let server: Server;
let origin: string;
let transport: UpstreamTransport;
let onRequest: (request: IncomingMessage) => void = () => {};

beforeAll(async () => {
  // Replies with the digest and framing of the request, or on /echo with its body.
  server = createServer((request, response) => {
    onRequest(request);
    if (request.url === '/echo') {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      request.pipe(response);
      return;
    }
    const hash = createHash('sha256');
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
    request.on('end', () => {
      response.end(JSON.stringify({ bytes, sha256: hash.digest('hex'), headers: request.headers, method: request.method }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  transport = localTransport();
});

afterAll(async () => {
  await transport.close();
  server.close();
  await once(server, 'close');
});

describe('transported bytes', () => {
  const sizes = [0, 1, 2, 1023, 16_384, 65_536, 65_537, 1_000_003, 20 * 1024 * 1024];

  it.each(sizes)('reach the provider unchanged: %i bytes at once', async (size) => {
    const body = randomBytes(size);
    const reply = JSON.parse((await send(transport, { origin, method: 'POST', body }).body).toString());
    expect(reply).toMatchObject({ bytes: size, sha256: sha256(body), headers: { 'content-length': String(size) } });
  });

  it.each(sizes.slice(1))('reach the provider unchanged: %i bytes streamed, with and without a known length', async (size) => {
    const whole = randomBytes(size);
    const pieces = () => {
      const list: Uint8Array[] = [];
      for (let at = 0; at < size; at += 37_123) list.push(whole.subarray(at, at + 37_123));
      return list;
    };
    const known = JSON.parse((await send(transport, { origin, method: 'POST', body: bodyOf(pieces(), size) }).body).toString());
    expect(known).toMatchObject({ sha256: sha256(whole), headers: { 'content-length': String(size) } });
    expect(known.headers).not.toHaveProperty('transfer-encoding');
    const chunked = JSON.parse((await send(transport, { origin, method: 'PUT', body: bodyOf(pieces(), -1) }).body).toString());
    expect(chunked).toMatchObject({ sha256: sha256(whole), headers: { 'transfer-encoding': 'chunked' } });
    expect(chunked.headers).not.toHaveProperty('content-length');
  });

  it.each(sizes)('return unchanged to a reader that stops at every chunk: %i bytes', async (size) => {
    const body = randomBytes(size);
    const sent = send(
      transport,
      { origin, path: '/echo', method: 'POST', body },
      {
        takes: (_chunk, exchange) => {
          setImmediate(() => exchange.resume());
          return false;
        },
      },
    );
    expect(sha256(await sent.body)).toBe(sha256(body));
    expect(sent.events.at(-1)).toBe('end');
  });

  const framings: readonly [name: string, head: (size: number) => string, frame: (body: Buffer) => Buffer][] = [
    ['the end of the connection', () => 'connection: close', (body) => body],
    ['a length', (size) => `connection: close\r\ncontent-length: ${size}`, (body) => body],
    [
      'chunks',
      () => 'connection: close\r\ntransfer-encoding: chunked',
      (body) => Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]),
    ],
  ];
  const closing = framings.flatMap(([name, head, frame]) =>
    [1, 1000, 65_536, 300_000].map((size) => [name, size, head, frame] as const),
  );

  it.each(closing)(
    'return to a reader that has stopped when the provider closes: framed by %s, %i bytes',
    async (_, size, head, frame) => {
      const body = randomBytes(size);
      const upstream = await rawUpstreamOfTest(async ({ socket, receives }) => {
        await receives('\r\n\r\n');
        socket.write(`HTTP/1.1 200 OK\r\n${head(size)}\r\n\r\n`);
        socket.end(frame(body));
      });
      const sent = send(
        transport,
        { origin: upstream.origin },
        {
          takes: (_chunk, exchange) => {
            void afterTurns(10).then(() => exchange.resume());
            return false;
          },
        },
      );
      expect(sha256(await sent.body)).toBe(sha256(body));
      expect(sent.events.at(-1)).toBe('end');
    },
  );

  it('are incomplete for a reader that has stopped when the provider closes too early', async () => {
    const upstream = await rawUpstreamOfTest(async ({ socket, receives }) => {
      await receives('\r\n\r\n');
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 10\r\n\r\nfirst');
    });
    const sent = send(transport, { origin: upstream.origin }, { takes: () => false });
    expect((await sent.error).code).toBe('upstream_reset');
  });

  it('return completely to a reader that resumes from within its own and from within another exchange', async () => {
    const body = randomBytes(3_000_000);
    let other: ReturnType<typeof send> | null = null;
    const takes = (_chunk: Uint8Array, exchange: { resume(): void }) => {
      exchange.resume();
      other?.exchange.resume();
      return false;
    };
    other = send(transport, { origin, path: '/echo', method: 'POST', body }, { takes: () => false });
    const own = send(transport, { origin, path: '/echo', method: 'POST', body }, { takes });
    expect(sha256(await own.body)).toBe(sha256(body));
    const waiting = other;
    const kick = setInterval(() => waiting.exchange.resume(), 1);
    expect(sha256(await waiting.body)).toBe(sha256(body));
    clearInterval(kick);
  });

  it('stay compressed if the provider compressed them', async () => {
    const packed = gzipSync('a text '.repeat(100));
    const upstream = await startRawUpstream(
      replies(
        Buffer.concat([
          Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`),
          packed,
        ]),
      ),
    );
    const sent = send(transport, { origin: upstream.origin });
    expect(await sent.head).toEqual({
      status: 200,
      headers: ['content-encoding', 'gzip', 'content-length', String(packed.length)],
    });
    expect(await sent.body).toEqual(packed);
    await upstream.close();
  });

  it('arrive chunk by chunk, as the provider sends them', async () => {
    const upstream = await startRawUpstream();
    const sent = send(transport, { origin: upstream.origin });
    const { socket } = await upstream.nextConnection();
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n');
    expect(Buffer.from(await sent.firstChunk).toString()).toBe('first');
    expect(sent.events).toEqual(['head', 'data']);
    socket.write('6\r\nsecond\r\n0\r\nx-trailer: ignored\r\n\r\n');
    expect((await sent.body).toString()).toBe('firstsecond');
    expect(sent.events).toEqual(['head', 'data', 'data', 'end']);
    await upstream.close();
  });
});

describe('transport memory', () => {
  it('stays flat while 100 MB are uploaded to a provider that reads slowly', async () => {
    const chunk = randomBytes(64 * 1024);
    const count = 1600;
    const expected = createHash('sha256');
    for (let i = 0; i < count; i++) expected.update(chunk);
    const body = bodyOf(repeat(chunk, count), -1);
    let aheadMax = 0;
    let arrived = 0;
    onRequest = (request) => {
      // Reads slowly, with one pause per megabyte.
      let sincePause = 0;
      request.on('data', (piece: Buffer) => {
        arrived += piece.length;
        aheadMax = Math.max(aheadMax, body.sent - arrived);
        sincePause += piece.length;
        if (sincePause < 1_000_000) return;
        sincePause = 0;
        request.pause();
        setImmediate(() => request.resume());
      });
    };
    globalThis.gc?.();
    const before = process.memoryUsage();
    let rssMax = 0;
    const watch = setInterval(() => {
      rssMax = Math.max(rssMax, process.memoryUsage().rss);
    }, 5);
    const reply = JSON.parse((await send(transport, { origin, method: 'POST', body }).body).toString());
    clearInterval(watch);
    onRequest = () => {};
    expect(reply).toMatchObject({ bytes: count * chunk.length, sha256: expected.digest('hex') });
    // Bytes in transit lie in the two socket buffers and one stream buffer, not in the heap of the process.
    expect(aheadMax).toBeLessThan(16 * 1024 * 1024);
    expect(rssMax - before.rss).toBeLessThan(60 * 1024 * 1024);
  });

  it('stays flat while a reader does not read a reply of 100 MB', async () => {
    let written = 0;
    const upstream = await startRawUpstream(({ socket }) => {
      const chunk = Buffer.alloc(1_000_000, 'x');
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n');
      const more = () => {
        while (written < 100) {
          written++;
          if (!socket.write(chunk)) return;
        }
      };
      socket.on('drain', more);
      more();
    });
    let taken = 0;
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const sent = send(
      transport,
      { origin: upstream.origin },
      {
        takes: (chunk) => {
          taken += chunk.length;
          return false;
        },
      },
    );
    await sent.firstChunk;
    // The provider can only fill the socket buffers, so once it waits it stays waiting.
    const { socket } = await upstream.nextConnection();
    let last = -1;
    const settle = setInterval(() => {
      if (last === socket.bytesWritten) release();
      last = socket.bytesWritten;
    }, 100);
    await released;
    clearInterval(settle);
    expect(taken).toBeLessThan(1_000_000);
    expect(written).toBeLessThan(30);
    sent.exchange.abort();
    await upstream.close();
  });
});

describe('the request line and headers', () => {
  const targets = [
    '/',
    '//',
    '//evil.example/x',
    '/a//b///c',
    '/a/./b/../c',
    '/%2e%2e/%2E%2e/etc',
    '/a%2fb%5Cc',
    '/a;b=c;d/e;',
    '/%u0041/\\u0041',
    '/caf%C3%A9',
    '/a?',
    '/a??b=?c',
    '/a?x=%20+%2B&x=&&=',
    '/a?u=http://127.0.0.1/?',
    '/a:b@c',
    "/!$&'()*+,;=:@-._~",
    '/v1/projects/p/models/m:streamGenerateContent?alt=sse',
    '/{a}|[b]^`"<c>',
  ];

  it.each(targets)('are sent with an unchanged target: %s', async (path) => {
    const upstream = await startRawUpstream(replies('HTTP/1.1 204 No Content\r\n\r\n'));
    await send(transport, { origin: upstream.origin, path }).body;
    expect((await upstream.nextConnection()).received.split('\r\n')[0]).toBe(`GET ${path} HTTP/1.1`);
    await upstream.close();
  });

  it('are sent in order and byte for byte, with only host, connection and length added', async () => {
    const upstream = await startRawUpstream(replies('HTTP/1.1 204 No Content\r\n\r\n', 'hi'));
    const headers = [
      'x-b',
      '2',
      'x-a',
      'ü\xff\t"=',
      'x-b',
      '3',
      'authorization',
      'Bearer k',
      'te',
      'trailers',
      'connection',
      'x-gone',
      'x-gone',
      '1',
    ];
    await send(transport, { origin: upstream.origin, method: 'POST', path: '/p', headers, body: Buffer.from('hi') }).body;
    expect((await upstream.nextConnection()).received).toBe(
      `POST /p HTTP/1.1\r\nhost: 127.0.0.1:${upstream.port}\r\nconnection: keep-alive\r\nx-b: 2\r\nx-a: ü\xff\t"=\r\nx-b: 3\r\nauthorization: Bearer k\r\ncontent-length: 2\r\n\r\nhi`,
    );
    await upstream.close();
  });

  it('return in lower case as latin1 text with repeated headers, without hop-by-hop headers and 1xx replies', async () => {
    const upstream = await startRawUpstream(
      replies(
        'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 299 Odd\r\nX-Name: \xfc\xff\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n' +
          'Keep-Alive: timeout=9\r\nConnection: keep-alive, X-Secret\r\nX-Secret: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ),
    );
    const sent = send(transport, { origin: upstream.origin });
    expect(await sent.head).toEqual({ status: 299, headers: ['x-name', '\xfc\xff', 'set-cookie', 'a=1', 'set-cookie', 'b=2'] });
    await sent.body;
    expect(sent.events).toEqual(['head', 'end']);
    await upstream.close();
  });

  it('name the gateway in cdn-loop after other networks, except those to the control plane', async () => {
    const marking = localTransport({ internalOrigins: [origin], loopMark: 'svc-gateway-1' });
    const sent = async (tenant: string) => {
      const { body } = send(marking, { origin, tenant, headers: ['cdn-loop', 'a; b=1'] });
      return JSON.parse((await body).toString()).headers['cdn-loop'];
    };
    expect([await sent('tenant-a'), await sent(internalTenant)]).toEqual(['a; b=1, svc-gateway-1', 'a; b=1']);
    await marking.close();
  });

  it('do not follow redirects', async () => {
    const upstream = await startRawUpstream(
      replies('HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n'),
    );
    const sent = send(transport, { origin: upstream.origin });
    expect(await sent.head).toEqual({ status: 302, headers: ['location', 'http://169.254.169.254/', 'content-length', '0'] });
    await sent.body;
    expect(upstream.connections).toHaveLength(1);
    await upstream.close();
  });

  it('carry any method, and a reply to HEAD has no body whatever its length says', async () => {
    for (const method of ['DELETE', 'PATCH', 'OPTIONS', 'PUT']) {
      expect(JSON.parse((await send(transport, { origin, method }).body).toString())).toMatchObject({ method, bytes: 0 });
    }
    const upstream = await startRawUpstream(replies('HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n'));
    const sent = send(transport, { origin: upstream.origin, method: 'HEAD' });
    expect((await sent.head).headers).toEqual(['content-length', '1234']);
    expect(await sent.body).toHaveLength(0);
    await upstream.close();
  });

  it('are rejected as an internal error if they cannot be written', async () => {
    for (const call of [
      { path: 'no-slash' },
      { path: '/a b' },
      { path: '/a\r\nx: y' },
      { headers: ['x', 'a\r\nb: c'] },
      { headers: ['a b', 'c'] },
    ]) {
      const sent = send(transport, { origin, ...call });
      expect(sent.events).toEqual([]);
      expect(await sent.error).toMatchObject({ code: 'internal', status: 500, message: 'Something went wrong' });
    }
  });
});
