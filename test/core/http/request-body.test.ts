import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { GatewayError, toGatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { BodyControl, InboundRequest, ReplySink } from '../../../core/contract/values/http/http.ts';
import type { UwsRequestBody } from '../../../core/http/request-body.ts';
import { errorReply } from '../../../core/http/write-error.ts';
import { openRawClient, type RawClient, sha256 } from '../../support/clients/raw-client.ts';
import { type Edge, startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';
import { newGate } from '../../support/gate.ts';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';
import { until } from '../../support/until.ts';

const withLength = (length: number): string => `POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
const chunkedHead = 'POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const sizes = [1, 100, 65_536, 300_000, 5_000_000];
const manyBytes = 1e9;

describe.each(uwsBinaries)('request bodies on %s', (binary) => {
  let edge: Edge;
  let response: (request: InboundRequest, sink: ReplySink) => void;
  let clients: RawClient[] = [];
  beforeAll(async () => {
    edge = await startEdge(binary, (request, sink) => response(request, sink));
  });
  afterAll(() => edge.close());
  beforeEach(() => {
    edge.handled.length = 0;
    edge.failed.length = 0;
  });
  afterEach(() => {
    for (const client of clients) client.destroy();
    clients = [];
  });

  async function open(): Promise<RawClient> {
    const client = await openRawClient(edge.port);
    clients.push(client);
    return client;
  }

  /** Replies with the digest of the body, or with the error. */
  function digest(maxBytes = manyBytes, ready: Promise<unknown> = Promise.resolve()): void {
    response = (request, sink) => {
      ready
        .then(() => request.body.bytes(maxBytes))
        .then((bytes) => sink.send(200, [], sha256(bytes)))
        .catch((error) => {
          const reply = errorReply(toGatewayError(error));
          sink.send(reply.status, reply.headers, reply.body);
        });
    };
  }

  it('rejects a body whose chunks a reader rejects, before the rest has arrived', async () => {
    response = (request, sink) => {
      const refuse = (): void => {
        throw new GatewayError('body_too_large', { message: 'too many values' });
      };
      request.body.bytes(manyBytes, undefined, refuse).catch((error) => {
        const reply = errorReply(toGatewayError(error));
        sink.send(reply.status, reply.headers, reply.body);
      });
    };
    const client = await open();
    client.send(withLength(1_000_000));
    client.send(patternBytes(1000));
    const { status, body } = await client.reply();
    expect([status, body.toString()]).toEqual([413, expect.stringContaining('too many values')]);
  });

  it.each(sizes)('collects %i bytes of known length and keeps the connection', async (size) => {
    digest();
    const body = patternBytes(size);
    const client = await open();
    for (let round = 0; round < 3; round++) {
      client.send(withLength(size));
      client.send(body);
      const reply = await client.reply();
      expect(reply.body.toString()).toBe(sha256(body));
      expect(reply.headers).not.toHaveProperty('connection');
    }
    expect(edge.handled[0]?.body.length).toBe(size);
  });

  it.each(sizes)('collects %i bytes in chunks and closes the connection', async (size) => {
    digest();
    const body = patternBytes(size);
    const client = await open();
    client.send(chunkedHead);
    sendChunks(client, body, 50_000);
    const reply = await client.reply();
    expect(reply.body.toString()).toBe(sha256(body));
    expect(reply.headers.connection).toBe('close');
    expect((await client.closed()).length).toBe(0);
    expect(edge.handled[0]?.body.length).toBe(-1);
  });

  it.each([100, 200_000, 5_000_000])('holds %i bytes for a late reader', async (size) => {
    const ready = newGate();
    digest(manyBytes, ready.opened);
    const body = patternBytes(size);
    const client = await open();
    client.send(withLength(size));
    client.send(body);
    await until(() => edge.handled.length === 1 && received(edge) >= Math.min(size, 256 * 1024));
    ready.open();
    expect((await client.reply()).body.toString()).toBe(sha256(body));
  });

  it('makes the client wait without a reader', async () => {
    const size = 50_000_000;
    const ready = newGate();
    // If an assertion below fails, this request must not stay open for the next test.
    onTestFinished(() => ready.open());
    digest(manyBytes, ready.opened);
    const body = patternBytes(size);
    const client = await open();
    client.send(withLength(size));
    client.send(body);
    await until(() => edge.handled.length === 1 && received(edge) > 256 * 1024);
    // The addon reads until the socket is empty, so what the kernel had received arrives too: usually 1 MB, at most 32 MiB (tcp_rmem).
    let before = 0;
    while (before !== received(edge)) {
      before = received(edge);
      for (let turn = 0; turn < 50; turn++) await nextTurn();
    }
    expect(before).toBeLessThan(40_000_000);
    ready.open();
    expect((await client.reply()).body.toString()).toBe(sha256(body));
  });

  it('returns 413 to an announced body over the limit without waiting for a byte of it', async () => {
    digest(1024 * 1024);
    const client = await open();
    client.send(withLength(1024 * 1024 + 1));
    const reply = await client.reply();
    expect(reply.status).toBe(413);
    expect(JSON.parse(reply.body.toString())).toMatchObject({
      status: 'failure',
      message: 'Payload size exceeds the limit of 1MB',
      error: { code: 'body_too_large' },
    });
    expect(reply.headers.connection).toBe('close');
  });

  it('returns 413 during an upload of unknown length', async () => {
    digest(100_000);
    const client = await open();
    client.send(chunkedHead);
    let written = 0;
    const part = patternBytes(64_000);
    const upload = (): void => {
      while (!client.isClosed && written < 100_000_000) {
        written += part.length;
        client.send(`${part.length.toString(16)}\r\n`);
        client.socket.write(part);
        if (!client.socket.write('\r\n')) return;
      }
    };
    client.socket.on('drain', upload);
    upload();
    expect((await client.reply()).status).toBe(413);
    client.socket.off('drain', upload);
    // The rest is not read, except for bytes that were under way when the reply was sent.
    expect(received(edge)).toBeLessThan(3_000_000);
  });

  it('accepts a body of exactly the limit', async () => {
    digest(1_000);
    const client = await open();
    client.send(withLength(1_000));
    client.send(patternBytes(1_000));
    expect((await client.reply()).status).toBe(200);
  });

  it('sends 100 Continue to a client that waits for it', async () => {
    digest();
    const client = await open();
    client.send('POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n');
    expect((await client.receive(25)).toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.send('abc');
    const all = await client.receive(100);
    expect(all.toString()).toContain(sha256(Buffer.from('abc')));
  });

  it('streams 20 MB to a consumer that pauses, in order, in chunks that stay valid', async () => {
    const body = patternBytes(20_000_000);
    const chunks: Uint8Array[] = [];
    let pauses = 0;
    response = (request, sink) => {
      let control: BodyControl;
      let bytes = 0;
      control = request.body.pipe(
        {
          onData(chunk) {
            chunks.push(chunk);
            bytes += chunk.length;
            if (bytes < 300_000) return true;
            bytes = 0;
            pauses++;
            setImmediate(() => control.resume());
            return false;
          },
          onEnd: () => sink.send(200, [], 'done'),
          onError: (error) => sink.send(500, [], error.message),
        },
        manyBytes,
      );
    };
    const client = await open();
    client.send(withLength(body.length));
    client.send(body);
    expect((await client.reply()).body.toString()).toBe('done');
    expect(sha256(Buffer.concat(chunks))).toBe(sha256(body));
    expect(pauses).toBeGreaterThan(10);
  });

  it('stops reading while a consumer pauses', async () => {
    const body = patternBytes(50_000_000);
    const first = newGate<BodyControl>();
    const done = newGate();
    let bytes = 0;
    response = (request) => {
      let waited = false;
      const control = request.body.pipe(
        {
          onData(chunk) {
            bytes += chunk.length;
            if (waited) return true;
            waited = true;
            first.open(control);
            return false;
          },
          onEnd: () => done.open(),
          onError: done.fail,
        },
        manyBytes,
      );
    };
    const client = await open();
    client.send(withLength(body.length));
    client.send(body);
    const control = await first.opened;
    const before = bytes;
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    expect(bytes).toBe(before);
    expect(received(edge)).toBeLessThan(2_000_000);
    control.resume();
    await done.opened;
    expect(bytes).toBe(body.length);
  });

  it.each([withLength(2_000), chunkedHead])('reports a body over the limit to its reader', async (head) => {
    const failed = newGate<Error>();
    response = (request) => {
      request.body.pipe(
        { onData: () => true, onEnd: () => failed.fail(new Error('ended')), onError: (e) => failed.open(e) },
        1_000,
      );
    };
    const client = await open();
    client.send(head);
    sendChunks(client, patternBytes(2_000), 2_000);
    expect(await failed.opened).toMatchObject({ code: 'body_too_large', status: 413 });
  });

  it('reports an empty body to its reader', async () => {
    const events: string[] = [];
    response = (request, sink) => {
      const consumer = { onData: () => true, onEnd: () => sink.send(200, [], 'ended'), onError: () => events.push('error') };
      request.body.pipe(consumer, 10);
      events.push('attached');
    };
    const client = await open();
    for (const head of ['GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n', withLength(0)]) {
      client.send(head);
      expect((await client.reply()).body.toString()).toBe('ended');
    }
    client.send(chunkedHead);
    client.send('0\r\n\r\n');
    expect((await client.reply()).body.toString()).toBe('ended');
    expect(events).toEqual(['attached', 'attached', 'attached']);
  });

  it('reports a disconnected client to the reader', async () => {
    const readers: ((request: InboundRequest) => Promise<unknown>)[] = [
      (request) => request.body.bytes(manyBytes),
      (request) =>
        new Promise((resolve, reject) => {
          request.body.pipe({ onData: () => true, onEnd: () => resolve(null), onError: reject }, manyBytes);
        }),
    ];
    for (const read of readers) {
      const outcome = newGate<unknown>();
      response = (request) => void read(request).then(outcome.fail as never, outcome.open);
      const client = await open();
      client.send(withLength(1_000));
      client.send('some');
      await until(() => edge.handled.length > 0 && received(edge) === 4);
      client.destroy();
      expect(await outcome.opened).toMatchObject({ code: 'client_closed', status: 499 });
      edge.handled.length = 0;
    }
    await until(() => edge.server.openRequests === 0);
  });

  it('discards a body and keeps the connection', async () => {
    const body = patternBytes(2_000_000);
    response = (request, sink) => {
      if (request.method === 'GET') return sink.send(200, [], 'next');
      const control = request.body.pipe({ onData: () => false, onEnd: () => {}, onError: () => {} }, manyBytes);
      control.discard();
      void until(() => received(edge) === body.length).then(() => sink.send(200, [], 'thrown away'));
    };
    const client = await open();
    client.send(withLength(body.length));
    client.send(body);
    expect((await client.reply()).body.toString()).toBe('thrown away');
    client.send('GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await client.reply()).body.toString()).toBe('next');
  });

  it('cuts the exchange of a reader that throws, and serves the next', async () => {
    response = (request, sink) => {
      if (request.method === 'GET') return sink.send(200, [], 'next');
      const onData = (): boolean => {
        throw new Error('consumer');
      };
      request.body.pipe({ onData, onEnd: () => {}, onError: () => {} }, manyBytes);
    };
    const client = await open();
    client.send(withLength(10));
    await until(() => edge.handled.length === 1);
    await nextTurn();
    client.send('0123456789');
    await client.closed();
    expect(edge.failed).toEqual([new Error('consumer')]);
    const next = await open();
    next.send('GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await next.reply()).body.toString()).toBe('next');
  });

  it('releases exchanges of aborted uploads', async () => {
    const fresh = await startEdge(binary, (request) => void request.body.bytes(manyBytes).catch(() => {}));
    for (let round = 0; round < 100; round++) {
      const client = await openRawClient(fresh.port);
      client.send(withLength(1_000_000));
      client.send(patternBytes(round * 1_000));
      client.destroy();
      await once(client.socket, 'close');
    }
    await until(() => fresh.server.openRequests === 0 && fresh.server.connections === 0);
    expect(fresh.failed).toEqual([]);
    fresh.close();
  });
});

function sendChunks(client: RawClient, body: Buffer, partBytes: number): void {
  for (let at = 0; at < body.length; at += partBytes) {
    const part = body.subarray(at, at + partBytes);
    client.send(`${part.length.toString(16)}\r\n`);
    client.send(part);
    client.send('\r\n');
  }
  client.send('0\r\n\r\n');
}

/** Bytes of the first request's body that the edge has read. */
function received(edge: Edge): number {
  const [request] = edge.handled;
  return request === undefined ? 0 : (request.body as UwsRequestBody).receivedBytes;
}
