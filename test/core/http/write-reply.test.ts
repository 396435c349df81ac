import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HeaderList, InboundRequest, ReplySink } from '../../../core/contract/values/http/http.ts';
import { openRawClient, type RawClient, sha256 } from '../../support/clients/raw-client.ts';
import { type Edge, startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';
import { newGate } from '../../support/gate.ts';
import { until } from '../../support/until.ts';

const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
const sizes = [0, 1, 2, 1_000, 13_700, 13_999, 14_000, 14_001, 15_000, 16_384, 65_536, 1_000_000, 10_485_760];

describe.each(uwsBinaries)('written replies on %s', (binary) => {
  let edge: Edge;
  let response: (request: InboundRequest, sink: ReplySink) => void;
  beforeAll(async () => {
    edge = await startEdge(binary, (request, sink) => response(request, sink));
  });
  afterAll(() => edge.close());

  async function exchange(bytes: string, how: typeof response, options: { toHead?: boolean } = {}) {
    response = how;
    const client = await openRawClient(edge.port);
    client.send(bytes);
    const reply = await client.reply(options);
    return { client, reply };
  }

  it.each(sizes)('sends %i bytes at once, by length', async (size) => {
    const body = randomBytes(size);
    const { client, reply } = await exchange(get('/v1/x'), (_request, sink) => sink.send(200, ['x-a', 'b'], body));
    expect(reply.headers).toMatchObject({ 'content-length': String(size), 'x-a': 'b' });
    expect(sha256(reply.body)).toBe(sha256(body));
    await serves(client);
  });

  it.each(sizes)('streams %i bytes in chunks', async (size) => {
    const body = randomBytes(size);
    const { client, reply } = await exchange(get('/v1/x'), (_request, sink) => {
      sink.start(200, []);
      stream(sink, body, 7_919);
    });
    expect(sha256(reply.body)).toBe(sha256(body));
    await serves(client);
  });

  it.each(sizes)('streams %i bytes with a known length', async (size) => {
    const body = randomBytes(size);
    const { client, reply } = await exchange(get('/v1/x'), (_request, sink) => {
      sink.start(200, [], body.length);
      stream(sink, body, 40_000);
    });
    expect(reply.headers['content-length']).toBe(String(size));
    expect(sha256(reply.body)).toBe(sha256(body));
    await serves(client);
  });

  it.each(['by length', 'in chunks'])('tolerates a reader that stops in the middle of 10 MB, %s', async (framing) => {
    const body = randomBytes(10_485_760);
    const stalled = newGate();
    response = (_request, sink) => {
      sink.start(200, [], framing === 'by length' ? body.length : undefined);
      stream(sink, body, 100_000, () => stalled.open());
    };
    const client = await openRawClient(edge.port);
    client.socket.pause();
    client.send(get('/v1/x'));
    await stalled.opened;
    for (let part = 1; part <= 4; part++) {
      client.socket.resume();
      await client.receive(part * 2_000_000);
      client.socket.pause();
    }
    client.socket.resume();
    expect(sha256((await client.reply()).body)).toBe(sha256(body));
    await serves(client);
  });

  it('writes the chunks of one callback together, and before the connection is cut', async () => {
    const sinks: ReplySink[] = [];
    response = (_request, given) => {
      given.start(200, []);
      sinks.push(given);
    };
    const client = await openRawClient(edge.port);
    for (const cut of [false, true]) {
      client.send(get('/v1/x'));
      const sink = await until(() => sinks.pop());
      await new Promise<void>((resolve) => {
        setTimeout(() => {
          for (const text of ['one', 'two', 'three']) expect(sink.write(Buffer.from(text))).toBe(true);
          if (cut) sink.destroy();
          else sink.end();
          resolve();
        });
      });
      if (cut) break;
      expect((await client.reply()).body.toString()).toBe('onetwothree');
    }
    expect((await client.closed()).toString()).toMatch(/\r\n\r\nb\r\nonetwothree(?:\r\n)?$/);
  });

  it('delivers each chunk of a stream without waiting for the next', async () => {
    let sink: ReplySink | undefined;
    response = (_request, given) => {
      sink = given;
      given.start(200, ['content-type', 'text/event-stream']);
      given.write(Buffer.from('data: 1\n\n'));
    };
    const client = await openRawClient(edge.port);
    client.send(get('/v1/x'));
    for (let event = 1; event <= 20; event++) {
      const expected = `data: ${event}\n\n`;
      let received = client.received;
      while (!received.includes(expected)) received = await client.receive(received.length + 1);
      sink?.write(Buffer.from(`data: ${event + 1}\n\n`));
    }
    sink?.end();
    expect((await client.reply()).body.toString()).toMatch(/^data: 1\n\n.*data: 21\n\n$/s);
    client.destroy();
  });

  it('puts the head and a small first chunk into one segment', async () => {
    response = (_request, sink) => {
      sink.start(200, []);
      sink.write(Buffer.from('first'));
    };
    const client = await openRawClient(edge.port);
    const first = new Promise<Buffer>((resolve) => client.socket.once('data', resolve));
    client.send(get('/v1/x'));
    expect((await first).toString('latin1')).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n5\r\nfirst$/s);
    client.destroy();
  });

  it('asks the caller to wait if the reader is slow, and calls back when the queue is empty', async () => {
    const replies: boolean[] = [];
    const drained = newGate();
    response = (_request, sink) => {
      sink.start(200, []);
      sink.onDrain(() => drained.open());
      // In the turn of the request, a caller that ignores back-pressure is stopped at 64 KiB.
      for (let i = 0; i < 20; i++) replies.push(sink.write(Buffer.alloc(8_192, 'a')));
      void drained.opened.then(() => sink.end());
    };
    const client = await openRawClient(edge.port);
    client.send(get('/v1/x'));
    expect((await client.reply()).body.length).toBe(20 * 8_192);
    expect(replies).toEqual([...Array(7).fill(true), ...Array(13).fill(false)]);
    client.destroy();
  });

  it.each([
    ['send', (_: InboundRequest, sink: ReplySink) => sink.send(200, ['x-a', 'b'], 'hello')],
    ['a stream of known length', (_: InboundRequest, sink: ReplySink) => startStream(sink, ['x-a', 'b'], 5)],
  ])('replies to HEAD with the headers of GET and no body: %s', async (_name, how) => {
    const { client, reply } = await exchange('HEAD /v1/x HTTP/1.1\r\nHost: a\r\n\r\n', how, { toHead: true });
    expect(reply.headers).toMatchObject({ 'content-length': '5', 'x-a': 'b' });
    await serves(client);
  });

  it('replies to HEAD of a stream of unknown length without a length', async () => {
    const { client, reply } = await exchange(
      'HEAD /v1/x HTTP/1.1\r\nHost: a\r\n\r\n',
      (_request, sink) => startStream(sink, []),
      {
        toHead: true,
      },
    );
    expect(reply.headers).not.toHaveProperty('content-length');
    await serves(client);
  });

  it.each([204, 304])('sends no body with %i', async (status) => {
    const { client, reply } = await exchange(get('/v1/x'), (_request, sink) => sink.send(status, ['x-a', 'b'], 'ignored'));
    expect(reply.status).toBe(status);
    expect(reply.headers['x-a']).toBe('b');
    expect(reply.headers).not.toHaveProperty('content-length');
    await serves(client);
  });

  it.each([
    [200, 'OK'],
    [246, 'Hooks failed'],
    [446, 'Hooks failed'],
    [429, 'Too Many Requests'],
    [599, 'Unknown'],
  ])('writes status %i as "%s"', async (status, text) => {
    const { client, reply } = await exchange(get('/v1/x'), (_request, sink) => sink.send(status, [], ''));
    expect([reply.status, reply.statusText]).toEqual([status, text]);
    client.destroy();
  });

  it('writes each framing header once and drops headers that a provider may not set', async () => {
    const given: HeaderList = ['content-length', '999', 'transfer-encoding', 'chunked', 'connection', 'close', 'date', 'never'];
    given.push(
      'x-injected',
      'a\r\nset-cookie: b',
      'bad name',
      'a',
      'set-cookie',
      'a',
      'set-cookie',
      'b',
      'x-high',
      'caf\xe9',
      'x-wide',
      '\u010a',
    );
    const { client, reply } = await exchange(get('/v1/x'), (_request, sink) => sink.send(200, given, 'hello'));
    expect(reply.headers).toMatchObject({
      'content-length': '5',
      'set-cookie': 'a, b',
      'x-high': 'caf\xe9',
      'x-wide': '\xc4\x8a',
    });
    for (const name of ['connection', 'transfer-encoding', 'x-injected', 'bad name'])
      expect(reply.headers).not.toHaveProperty(name);
    expect(reply.headers.date).not.toContain('never');
    await serves(client);
  });

  it('makes a cut reply look cut, by length and in chunks', async () => {
    for (const length of [undefined, 1_000]) {
      const sinks: ReplySink[] = [];
      response = (_request, sink) => {
        sinks.push(sink);
        sink.start(200, [], length);
        sink.write(Buffer.from('part'));
      };
      const client = await openRawClient(edge.port);
      client.send(get('/v1/x'));
      const start = await client.receive(1);
      expect(start.toString('latin1')).toContain('200 OK');
      sinks[0]?.destroy();
      const received = (await client.closed()).toString('latin1');
      expect(received).toMatch(/part$/);
      expect(sinks[0]).toMatchObject({ finished: true, aborted: false });
    }
  });

  it('cuts a reply whose length differs from the announced one', async () => {
    for (const bytes of [9, 11]) {
      response = (_request, sink) => {
        sink.start(200, [], 10);
        sink.write(Buffer.alloc(bytes, 'a'));
        sink.end();
      };
      const client = await openRawClient(edge.port);
      client.send(get('/v1/x'));
      await expect(client.reply()).rejects.toThrow('closed before');
    }
  });

  it('does nothing after the reply is complete', async () => {
    const { client, reply } = await exchange(get('/v1/x'), (_request, sink) => {
      sink.send(200, [], 'one');
      sink.send(500, [], 'two');
      sink.start(500, []);
      sink.write(Buffer.from('three'));
      sink.end();
      setImmediate(() => {
        sink.destroy();
        sink.send(500, [], 'four');
      });
    });
    expect([reply.status, reply.body.toString()]).toEqual([200, 'one']);
    await serves(client);
  });

  it('writes heads that are longer than one cork', async () => {
    const headers: HeaderList = [];
    for (let i = 0; i < 30; i++) headers.push(`x-${i}`, String(i).repeat(500));
    for (const body of ['', 'hello', 'a'.repeat(50_000)]) {
      const { client, reply } = await exchange(get('/v1/x'), (_request, sink) => sink.send(200, headers, body));
      for (let i = 0; i < headers.length; i += 2) expect(reply.headers[headers[i] as string]).toBe(headers[i + 1]);
      expect(reply.body.toString()).toBe(body);
      await serves(client);
    }
  });

  it('reports a client that disconnects before, during and after the reply', async () => {
    const aborted = newGate<ReplySink>();
    response = (_request, sink) => sink.onAbort(() => aborted.open(sink));
    const before = await openRawClient(edge.port);
    before.send(get('/v1/x'));
    await untilOpen(edge, 1);
    before.destroy();
    const sink = await aborted.opened;
    expect(sink).toMatchObject({ aborted: true, finished: true });
    const late = newGate();
    sink.onAbort(() => late.open());
    await late.opened;
    sink.send(200, [], 'nobody');
    sink.destroy();

    const cut = newGate();
    response = (_request, given) => {
      given.onAbort(() => cut.open());
      given.start(200, []);
      given.write(Buffer.from('part'));
    };
    const during = await openRawClient(edge.port);
    during.send(get('/v1/x'));
    await during.receive(1);
    during.destroy();
    await cut.opened;

    let told = false;
    const { client } = await exchange(get('/v1/x'), (_request, given) => {
      given.onAbort(() => {
        told = true;
      });
      given.send(200, [], 'all');
    });
    client.destroy();
    await untilOpen(edge, 0);
    expect(told).toBe(false);
    expect(edge.server.openRequests).toBe(0);
  });

  it('serves many requests on one connection in order', async () => {
    response = (request, sink) => sink.send(200, [], request.path);
    const client = await openRawClient(edge.port);
    for (let i = 0; i < 50; i++) {
      client.send(get(`/v1/${i}`));
      expect((await client.reply()).body.toString()).toBe(`/v1/${i}`);
    }
    client.destroy();
  });

  it('closes the connection if a pipelined request arrives before the reply to the last one', async () => {
    response = (request, sink) => sink.send(200, [], request.path);
    const client = await openRawClient(edge.port);
    client.send(get('/v1/1') + get('/v1/2') + get('/v1/3'));
    expect((await client.closed()).toString('latin1')).not.toContain('/v1/2');
    await untilOpen(edge, 0);
  });

  it('cuts the reply of a callback that throws, and serves the next', async () => {
    edge.failed.length = 0;
    response = (_request, sink) => {
      sink.onDrain(() => {
        throw new Error('drain callback');
      });
      sink.start(200, []);
      for (let i = 0; i < 20; i++) sink.write(Buffer.alloc(8_192));
    };
    const client = await openRawClient(edge.port);
    client.send(get('/v1/x'));
    await client.closed();
    expect(edge.failed).toEqual([new Error('drain callback')]);
    await serves(await openRawClient(edge.port));
  });

  /** The connection still works, so the previous reply had its declared length. */
  async function serves(client: RawClient): Promise<void> {
    response = (_request, sink) => sink.send(200, [], 'next');
    client.send(get('/v1/next'));
    expect((await client.reply()).body.toString()).toBe('next');
    expect(client.received.length).toBe(0);
    client.destroy();
  }
});

/** Writes the body in parts and respects back-pressure. `waits` is called at each wait. */
function stream(sink: ReplySink, body: Buffer, partBytes: number, waits: () => void = () => {}): void {
  let at = 0;
  const more = (): void => {
    while (at < body.length) {
      const part = body.subarray(at, at + partBytes);
      at += part.length;
      if (!sink.write(part) && at < body.length) return waits();
    }
    sink.end();
  };
  sink.onDrain(more);
  more();
}

function startStream(sink: ReplySink, headers: HeaderList, contentLength?: number): void {
  sink.start(200, headers, contentLength);
  sink.write(Buffer.from('hello'));
  sink.end();
}

async function untilOpen(edge: Edge, requests: number): Promise<void> {
  await until(() => edge.server.openRequests === requests);
}
