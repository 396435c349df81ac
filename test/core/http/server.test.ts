import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { ReplySink } from '../../../core/contract/values/http/http.ts';
import { openRawClient, type RawReply, sha256 } from '../../support/clients/raw-client.ts';
import { type Edge, type Handle, startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';
import { newGate } from '../../support/gate.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';
import { until } from '../../support/until.ts';

const pem = (name: string): string => fileURLToPath(new URL(`../../support/tls/${name}.pem`, import.meta.url));
const request = (line: string, headers = ''): string => `${line} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

describe.each(uwsBinaries)('http server on %s', (binary) => {
  const edges: Edge[] = [];
  afterEach(() => {
    for (const edge of edges.splice(0)) edge.close();
  });

  async function start(handle?: Handle, more?: Parameters<typeof startEdge>[2]): Promise<Edge> {
    const edge = await startEdge(binary, handle, more);
    edges.push(edge);
    return edge;
  }

  async function ask(edge: Edge, bytes: string, options: { toHead?: boolean } = {}): Promise<RawReply> {
    const client = await openRawClient(edge.port);
    client.send(bytes);
    const reply = await client.reply(options);
    client.destroy();
    return reply;
  }

  it('loads the selected addon', async () => {
    expect((await start()).server.uwsName).toBe(binary);
  });

  it('serves health without the chain', async () => {
    const edge = await start();
    for (const path of ['/health', '/v1/health']) {
      const reply = await ask(edge, request(`GET ${path}`));
      expect(reply.status).toBe(200);
      expect(JSON.parse(reply.body.toString())).toEqual({ status: 'success', message: 'Server is healthy', version: '1.2.3' });
    }
    expect((await ask(edge, request('HEAD /health'), { toHead: true })).headers['content-length']).toBe('68');
    expect((await ask(edge, request('GET /'))).body.toString()).toContain('gateway');
    expect(edge.handled).toEqual([]);
  });

  it('/ready lists the reasons of a 503', async () => {
    let reasons = [{ dependency: 'control-plane', message: 'It has not replied' }];
    const edge = await start(undefined, { builtIns: { version: '1', unready: () => reasons, metrics: null } });
    const not = await ask(edge, request('GET /ready'));
    expect([not.status, not.headers['retry-after']]).toEqual([503, '1']);
    expect(JSON.parse(not.body.toString())).toEqual({ status: 'failure', message: 'Not ready', reasons });
    reasons = [];
    expect((await ask(edge, request('GET /v1/ready'))).status).toBe(200);
  });

  it('serves metrics only to the bearer of METRICS_TOKEN, if it is set', async () => {
    const metricsToken = 'metrics-token-0123456789';
    const metrics = () => Promise.resolve('requests_total 1\n');
    const edge = await start(undefined, { builtIns: { version: '1', unready: () => [], metrics, metricsToken } });
    expect((await ask(edge, request('GET /metrics'))).status).toBe(401);
    expect((await ask(edge, request('GET /metrics', 'Authorization: Bearer wrong\r\n'))).status).toBe(401);
    expect((await ask(edge, request('GET /metrics', `Authorization: Bearer ${metricsToken}\r\n`))).status).toBe(200);
  });

  it('serves metrics, and 500 if they cannot be read', async () => {
    let metrics = (): Promise<string> => Promise.resolve('requests_total 1\n');
    const edge = await start(undefined, { builtIns: { version: '1', unready: () => [], metrics: () => metrics() } });
    const page = await ask(edge, request('GET /metrics'));
    expect([page.status, page.body.toString()]).toEqual([200, 'requests_total 1\n']);
    expect(page.headers['content-type']).toContain('text/plain');
    metrics = () => Promise.reject(new Error('no metrics'));
    expect((await ask(edge, request('GET /metrics'))).status).toBe(500);
    expect(edge.failed).toEqual([new Error('no metrics')]);
  });

  it('passes other methods of its own paths to the chain, and also metrics when they are off', async () => {
    const edge = await start();
    for (const line of ['DELETE /health', 'GET /metrics', 'GET /healthy', 'GET /v1/models']) await ask(edge, request(line));
    expect(edge.handled.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'DELETE /health',
      'GET /metrics',
      'GET /healthy',
      'GET /v1/models',
    ]);
  });

  it('returns 500 when the handler throws, and serves the next request', async () => {
    const edge = await start((given, sink) => {
      if (given.path === '/v1/throw') throw new Error('secret detail');
      sink.send(200, [], 'fine');
    });
    const reply = await ask(edge, request('GET /v1/throw'));
    expect(reply.status).toBe(500);
    expect(reply.body.toString()).not.toContain('secret');
    expect(edge.failed).toEqual([new Error('secret detail')]);
    expect(edge.refused.map(({ error }) => error.code)).toEqual(['internal']);
    expect((await ask(edge, request('GET /v1/x'))).status).toBe(200);
  });

  it('rejects requests above the limit of open requests with 503 overloaded, and recovers', async () => {
    const waiting: ReplySink[] = [];
    const both = newGate();
    const edge = await start(
      (_given, sink) => {
        waiting.push(sink);
        if (waiting.length === 2) both.open();
      },
      { settings: { requestsInFlightMax: 2 } },
    );
    const clients = [await openRawClient(edge.port), await openRawClient(edge.port)];
    for (const client of clients) client.send(request('GET /v1/x'));
    await both.opened;
    const refused = await ask(edge, request('GET /v1/x'));
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(JSON.parse(refused.body.toString()).error.code).toBe('overloaded');
    expect(edge.refused.map(({ error }) => error.code)).toEqual(['overloaded']);
    expect((await ask(edge, request('GET /health'))).status).toBe(200);
    for (const sink of waiting.splice(0)) sink.send(200, [], 'done');
    for (const client of clients) expect((await client.reply()).status).toBe(200);
    expect(edge.server.openRequests).toBe(0);
    clients[0]?.send(request('GET /v1/x'));
    await clients[1]?.socket.end();
    clients[0]?.destroy();
  });

  it('leave: serves on, and closes each connection after its reply', async () => {
    const edge = await start((given, sink) => sink.send(200, [], given.path));
    const [first, second] = [await openRawClient(edge.port), await openRawClient(edge.port)];
    for (const client of [first, second]) {
      client.send(request('GET /v1/x'));
      expect((await client.reply()).headers.connection).toBeUndefined();
    }
    edge.server.leave();
    first.send(request('GET /v1/y'));
    const reply = await first.reply();
    expect([reply.status, reply.body.toString(), reply.headers.connection]).toEqual([200, '/v1/y', 'close']);
    await first.closed();
    const later = await openRawClient(edge.port);
    later.send(request('GET /v1/z'));
    expect((await later.reply()).status).toBe(200);
  });

  it('stopListening: serves connections that wait to be accepted, and requests that arrive on accepted ones', async () => {
    const edge = await start((given, sink) => sink.send(200, [], given.path));
    const accepted = await openRawClient(edge.port);
    edge.server.leave();
    const waiting = openRawClient(edge.port);
    // The socket connects in the next tick, and the addon accepts connections only after this turn of the event loop.
    await new Promise((resolve) => process.nextTick(resolve));
    const stopped = edge.server.stopListening();
    for (const client of [await waiting, accepted]) {
      client.send(request('GET /v1/x'));
      const reply = await client.reply();
      expect([reply.status, reply.headers.connection]).toEqual([200, 'close']);
      await client.closed();
    }
    await stopped;
    await expect(openRawClient(edge.port)).rejects.toThrow();
  });

  it('drain: finishes running requests, rejects new ones, and accepts no connections', async () => {
    const waiting: ReplySink[] = [];
    const arrived = newGate();
    const edge = await start((_given, sink) => {
      waiting.push(sink);
      arrived.open();
    });
    const [busy, idle] = [await openRawClient(edge.port), await openRawClient(edge.port)];
    busy.send(request('GET /v1/x'));
    await arrived.opened;
    const drained = edge.server.drain(60_000);
    idle.send(request('GET /v1/y'));
    const refused = await idle.reply();
    expect([refused.status, refused.headers.connection]).toEqual([503, 'close']);
    expect(JSON.parse(refused.body.toString()).error.code).toBe('draining');
    await idle.closed();
    await expect(openRawClient(edge.port)).rejects.toThrow();
    waiting[0]?.send(200, [], 'last');
    const last = await busy.reply();
    expect([last.body.toString(), last.headers.connection]).toEqual(['last', 'close']);
    expect(await drained).toBe(0);
    await busy.closed();
  });

  it('drain: writes the end of a finished reply first', async () => {
    const body = patternBytes(400_000);
    const edge = await start((_given, sink) => {
      sink.start(200, [], body.length);
      setImmediate(() => void sink.write(body));
    });
    const client = await openRawClient(edge.port);
    client.send(request('GET /v1/x'));
    await client.receive(1);
    expect(await edge.server.drain(60_000)).toBe(0);
    edge.server.close();
    expect(sha256((await client.reply()).body)).toBe(sha256(body));
  });

  it('drain: ends late replies with an error at its time limit, and sends it', async () => {
    const arrived = newGate();
    const edge = await start((_given, sink) => {
      sink.start(200, []);
      sink.write(Buffer.from('begun '));
      sink.onShutdown?.((error) => {
        sink.write(Buffer.from(error.code));
        setTimeout(() => sink.end(), 20);
      });
      arrived.open();
    });
    const client = await openRawClient(edge.port);
    client.send(request('GET /v1/x'));
    await arrived.opened;
    expect(await edge.server.drain(1)).toBe(1);
    edge.server.close();
    expect((await client.reply()).body.toString()).toBe('begun draining');
  });

  it('drain: ends at its time limit, and close cuts a reply that cannot end', async () => {
    const arrived = newGate<ReplySink>();
    const edge = await start((_given, sink) => arrived.open(sink));
    const client = await openRawClient(edge.port);
    client.send(request('GET /v1/x'));
    const sink = await arrived.opened;
    expect(await edge.server.drain(1)).toBe(1);
    edge.server.close();
    await client.closed();
    expect(sink.aborted).toBe(true);
    expect(edge.server.openRequests).toBe(0);
  });

  it('shares its port with servers that share it, and fails if the port is taken', async () => {
    const shared = await freePort();
    for (const edge of [await start(), await start()]) expect(await edge.server.listen('127.0.0.1', shared)).toBe(shared);
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const third = await start();
    await expect(third.server.listen('127.0.0.1', port)).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}`);
    taken.close();
  });

  it('counts connections', async () => {
    const edge = await start();
    const clients = await Promise.all([openRawClient(edge.port), openRawClient(edge.port)]);
    for (const client of clients) {
      client.send(request('GET /v1/x'));
      await client.reply();
    }
    expect(edge.server.connections).toBe(2);
    clients[0]?.destroy();
    await until(() => edge.server.connections === 1);
    clients[1]?.destroy();
  });

  it('listens on IPv6 and reports the peer', async () => {
    const edge = await start((given, sink) => sink.send(200, [], given.remoteAddress));
    const port = await edge.server.listen('::1', 0);
    const client = await openRawClient(port, { host: '::1' });
    client.send(request('GET /v1/x'));
    expect((await client.reply()).body.toString()).toBe('::1');
    client.destroy();
  });

  it('takes the client from a trusted proxy, in all headers that name it', async () => {
    const settings = { trustedProxies: ['127.0.0.1'], countryHeader: 'x-country' };
    const edge = await start((given, sink) => sink.send(200, [], `${given.remoteAddress} ${given.country}`), { settings });
    const headers = 'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 203.0.113.7\r\nX-Country: nz\r\n';
    expect((await ask(edge, request('GET /v1/x', headers))).body.toString()).toBe('203.0.113.7 NZ');
    expect((await ask(edge, request('GET /v1/x'))).body.toString()).toBe('127.0.0.1 null');
  });

  it('serves TLS with a certificate', async () => {
    const body = patternBytes(3_000_000);
    const edge = await start(
      (given, sink) => void given.body.bytes(1e9).then((bytes) => sink.send(200, ['x-got', sha256(bytes)], body)),
      { settings: { tlsCert: pem('cert'), tlsKey: pem('key') } },
    );
    const client = await openRawClient(edge.port, { tls: true });
    for (let round = 0; round < 2; round++) {
      client.send(request('POST /v1/x', `Content-Length: ${body.length}\r\n`));
      client.send(body);
      const reply = await client.reply();
      expect(reply.headers['x-got']).toBe(sha256(body));
      expect(sha256(reply.body)).toBe(sha256(body));
    }
    client.destroy();
    const plain = await openRawClient(edge.port);
    plain.send(request('GET /v1/x'));
    expect((await plain.closed()).toString('latin1')).not.toContain('200 OK');
  });

  it('names the file of an unusable certificate', async () => {
    await expect(start(undefined, { settings: { tlsCert: '/nowhere.pem', tlsKey: pem('key') } })).rejects.toThrow('/nowhere.pem');
  });

  describe('CORS', () => {
    const preflight = request(
      'OPTIONS /v1/chat/completions',
      'Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,x-svc-config\r\n',
    );

    it('is off without origins', async () => {
      const edge = await start();
      const reply = await ask(edge, preflight);
      expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
      expect(edge.handled.map(({ method }) => method)).toEqual(['OPTIONS']);
    });

    it('handles a preflight of an allowed origin at the edge', async () => {
      const edge = await start(undefined, { settings: { corsOrigins: ['https://app.example'] } });
      const reply = await ask(edge, preflight);
      expect(reply.status).toBe(204);
      expect(reply.headers).toMatchObject({
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-headers': 'authorization,x-svc-config',
        vary: 'origin',
      });
      expect(reply.headers['access-control-allow-methods']).toContain('PATCH');
      expect(edge.handled).toEqual([]);
    });

    it('does not handle a preflight of another origin at the edge', async () => {
      const edge = await start(undefined, { settings: { corsOrigins: ['https://other.example'] } });
      const reply = await ask(edge, preflight);
      expect(reply.headers).not.toHaveProperty('access-control-allow-methods');
      expect(edge.handled.map(({ method }) => method)).toEqual(['OPTIONS']);
    });

    it('adds its headers to replies, errors included, for allowed origins only', async () => {
      const edge = await start(undefined, { settings: { corsOrigins: ['https://app.example'] } });
      for (const line of ['GET /v1/x', 'GET /health', 'POST /v1/x']) {
        const reply = await ask(edge, request(line, 'Origin: https://app.example\r\n'));
        expect(reply.headers).toMatchObject({
          'access-control-allow-origin': 'https://app.example',
          'access-control-expose-headers': '*',
        });
      }
      const other = await ask(edge, request('GET /v1/x', 'Origin: https://evil.example\r\n'));
      expect(other.headers).not.toHaveProperty('access-control-allow-origin');
      const without = await ask(edge, request('GET /v1/x'));
      expect(without.headers).not.toHaveProperty('access-control-allow-origin');
      // Otherwise a cache gives this reply to the page.
      for (const { headers } of [other, without]) expect(headers.vary).toBe('origin');
    });

    it('allows any origin with *', async () => {
      const edge = await start(undefined, { settings: { corsOrigins: ['*'] } });
      for (const headers of ['Origin: https://any.example\r\n', '']) {
        const reply = await ask(edge, request('GET /v1/x', headers));
        expect(reply.headers['access-control-allow-origin']).toBe('*');
      }
    });
  });
});
