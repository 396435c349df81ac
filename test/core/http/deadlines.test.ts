import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FrameSocket } from '../../../core/contract/plugin/sessions/web-socket.ts';
import type { ReplySink } from '../../../core/contract/values/http/http.ts';
import { openRawClient, type RawClient } from '../../support/clients/raw-client.ts';
import { openSession } from '../../support/clients/session-client.ts';
import { type Edge, startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';
import { newGate } from '../../support/gate.ts';

const post = (path: string, header: string): string => `POST ${path} HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`;

/** The addon's own timeouts are 8 to 12 s and fixed, so all tests wait for them at the same time, on both builds. */
describe.concurrent.each(uwsBinaries)('deadlines on %s', (binary) => {
  let edge: Edge;
  const uploads: Promise<unknown>[] = [];
  beforeAll(async () => {
    edge = await startEdge(binary, (request, sink) => {
      if (request.body.length === 0) return sink.send(200, [], 'ok');
      if (request.path === '/v1/early') return sink.send(401, [], 'who are you');
      const body = request.body.bytes(1e9);
      uploads.push(body.catch((error) => error));
      body.then(
        () => {
          sink.start(200, []);
          setImmediate(() => {
            sink.write(Buffer.from('part'));
            setImmediate(() => sink.end());
          });
        },
        () => {},
      );
    });
  });
  afterAll(() => edge.close());

  it('close every connection whose client makes no progress', async () => {
    const holders: [what: string, bytes: string, drips: boolean][] = [
      ['says nothing', '', false],
      ['sends a head byte by byte', 'GET /v1/x HTTP/1.1\r\nX-A: ', true],
      ['sends half a head', 'GET /v1/x HTTP/1.1\r\nHost: a\r\n', false],
      ['announces a body and sends none', 'POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n', false],
      ['sends a body byte by byte', 'POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n', true],
      ['never ends a chunked body', 'POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', false],
      ['keeps an idle connection', 'GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n', false],
      [
        'goes on after a streamed reply',
        `${post('/v1/x', 'Transfer-Encoding: chunked')}0

`,
        false,
      ],
      ['goes on after a reply that did not wait for its upload', post('/v1/early', 'Content-Length: 100000'), false],
    ];
    const outcomes = await Promise.all(
      holders.map(async ([what, bytes, drips]) => {
        const client = await openRawClient(edge.port);
        client.send(bytes);
        const stop = drips ? drip(client) : () => {};
        if (what.startsWith('goes on')) {
          const reply = await client.reply();
          expect(reply.headers.connection).toBe('close');
          expect(reply.body.toString()).toBe(what.includes('upload') ? 'who are you' : 'part');
          client.send(Buffer.alloc(what.includes('upload') ? 100_000 : 0));
          client.send('GET /v1/never HTTP/1.1\r\nHost: a\r\n\r\n');
        }
        const received = (await client.closed()).toString('latin1');
        stop();
        return [what, received.slice(0, 15)];
      }),
    );
    expect(outcomes).toEqual(holders.map(([what]) => [what, what === 'keeps an idle connection' ? 'HTTP/1.1 200 OK' : '']));
    expect(edge.handled.map(({ path }) => path)).not.toContain('/v1/never');
    const failures = (await Promise.all(uploads)).filter((outcome) => outcome instanceof Error);
    // The chunked body that never ends gets its reply before the addon closes the connection.
    const codes = failures.map((error) => (error as { code?: string }).code).sort();
    expect(codes).toEqual(['bad_request', 'client_closed', 'client_closed']);
    expect(edge.server.openRequests).toBe(0);
  });

  it('cut an upload that exceeds its total time, however fast it is', async () => {
    const outcome = newGate<unknown>();
    const slow = await startEdge(binary, (request) => void request.body.bytes(1e9).then(outcome.fail as never, outcome.open), {
      bodyTimeoutMs: 50,
    });
    const client = await openRawClient(slow.port);
    client.send('POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 900000000\r\n\r\n');
    const stop = drip(client, Buffer.alloc(64_000));
    expect(await outcome.opened).toMatchObject({ code: 'client_closed' });
    await client.closed();
    stop();
    expect(slow.server.openRequests).toBe(0);
    slow.close();
  });

  it('do not apply to an open reply without traffic', async () => {
    const silent = await startEdge(binary, (_request, sink) => {
      sink.start(200, []);
      sink.write(Buffer.from('first'));
      // Ends when another connection, opened later, was closed for being idle: that is longer than any timeout of the addon.
      void openRawClient(silent.port).then(async (other) => {
        await other.closed();
        sink.write(Buffer.from('second'));
        sink.end();
      });
    });
    const client = await openRawClient(silent.port);
    client.send('GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await client.reply()).body.toString()).toBe('firstsecond');
    silent.close();
  });

  it('do not apply to a reply that takes longer than they do after large uploads', async () => {
    const waiting: ReplySink[] = [];
    const arrived = newGate<void>();
    const uploadCount = 12;
    const late = await startEdge(binary, (request, sink) => {
      const done = () => {
        waiting.push(sink);
        if (waiting.length === uploadCount) arrived.open();
      };
      if (request.path === '/v1/collected') return void request.body.bytes(1e9).then(done, arrived.fail);
      const onData = () => {
        setImmediate(() => control.resume());
        return false;
      };
      const control = request.body.pipe({ onData, onEnd: done, onError: arrived.fail }, 1e9);
    });
    const clients = await Promise.all(Array.from({ length: uploadCount }, () => openRawClient(late.port)));
    const bytes = Buffer.alloc(1_500_000);
    for (const [n, client] of clients.entries()) {
      client.send(post(n % 2 === 0 ? '/v1/collected' : '/v1/piped', `Content-Length: ${bytes.length}`));
      client.send(bytes);
    }
    await arrived.opened;
    // A connection that was opened later is closed for being idle: that is longer than any timeout of the addon.
    await (await openRawClient(late.port)).closed();
    for (const sink of waiting) sink.send(200, [], 'ok');
    const replies = await Promise.all(clients.map((client) => client.reply().catch((error: Error) => error.message)));
    expect(replies.map((reply) => (typeof reply === 'string' ? reply : reply.status))).toEqual(Array(uploadCount).fill(200));
    for (const client of clients) client.destroy();
    late.close();
  });

  it('do not apply to an open session without traffic, also after a pause', async () => {
    const accepted = newGate<FrameSocket>();
    const heard = newGate<string>();
    const silent = await startEdge(
      binary,
      (_request, sink) =>
        setImmediate(() => {
          const socket = sink.acceptWebSocket?.([], null);
          if (!socket) return sink.send(200, [], 'no upgrade');
          socket.listen({ onMessage: (data) => heard.open(data.toString()), onDrain() {}, onPong() {}, onClose() {} });
          socket.resume();
          accepted.open(socket);
        }),
      { messageBytesMax: 1000 },
    );
    const client = await openSession(`ws://127.0.0.1:${silent.port}/v1/realtime`, {});
    const socket = await accepted.opened;
    socket.pause();
    socket.resume();
    // A connection that was opened later is closed for being idle: that is longer than any timeout of the addon.
    const idle = await openRawClient(silent.port);
    expect(await Promise.race([client.closed, idle.closed().then(() => 'open')])).toBe('open');
    client.socket.send('still there');
    expect(await heard.opened).toBe('still there');
    client.socket.terminate();
    silent.close();
  });
});

/** Sends a few bytes again and again. */
function drip(client: RawClient, bytes: Uint8Array = Buffer.from('a')): () => void {
  const timer = setInterval(() => {
    if (!client.isClosed) client.send(bytes);
  }, 20);
  return () => clearInterval(timer);
}
