import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { emptyNameWarning } from '../../../core/http/empty-names.ts';
import { openRawClient } from '../../support/clients/raw-client.ts';
import { type Edge, startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';
import { until } from '../../support/until.ts';

const hidden = 'GET /v1/hidden HTTP/1.1\r\nHost: b\r\n\r\n';

/** A request whose length header follows an empty header name. A proxy in front may still treat `hidden` as its body. */
function headOf(method: string): string {
  return `${method} /v1/x HTTP/1.1\r\nHost: a\r\n: z\r\nContent-Length: ${hidden.length}\r\n\r\n`;
}

/** A request on another connection. After its reply, the server has read the bytes sent before. */
async function servesOther(port: number): Promise<void> {
  const other = await openRawClient(port);
  other.send('GET /v1/other HTTP/1.1\r\nHost: a\r\n\r\n');
  await other.reply();
  other.destroy();
}

describe.each(uwsBinaries)('empty header names on %s', (binary) => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await startEdge(binary, undefined, { settings: { keepAliveWithoutBody: 'auto' } });
  });
  afterAll(() => edge.close());
  beforeEach(() => {
    edge.handled.length = 0;
  });

  const paths = (): string[] => edge.handled.map(({ path }) => path);

  it('are accepted by this binary, which the server detects at start', () => {
    expect(edge.server.acceptsEmptyNames).toBe(true);
  });

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PUT', 'PATCH'])(
    'cannot hide a request in a later segment behind a %s: the connection closes with the reply',
    async (method) => {
      const client = await openRawClient(edge.port);
      client.send(headOf(method));
      const reply = await client.reply({ toHead: method === 'HEAD' });
      expect([reply.status, reply.headers.connection]).toEqual([200, 'close']);
      client.send(hidden);
      await servesOther(edge.port);
      expect(client.received.length).toBe(0);
      client.destroy();
      expect(paths()).toEqual(['/v1/x', '/v1/other']);
    },
  );

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PUT', 'PATCH'])(
    'cannot hide a request in the same segment behind a %s: the addon closes the connection',
    async (method) => {
      const client = await openRawClient(edge.port);
      client.send(headOf(method) + hidden);
      expect((await client.closed()).length).toBe(0);
      expect(paths()).toEqual(['/v1/x']);
    },
  );

  it('cannot hide a request that arrives while the reply is produced', async () => {
    let reply = (): void => {};
    const handled: string[] = [];
    const slow = await startEdge(
      binary,
      (request, sink) => {
        handled.push(request.path);
        reply = () => sink.send(200, [], 'ok');
      },
      { settings: { keepAliveWithoutBody: 'auto' } },
    );
    const client = await openRawClient(slow.port);
    client.send(headOf('GET'));
    await until(() => handled.length > 0);
    client.send(hidden);
    expect((await client.closed()).length).toBe(0);
    reply();
    slow.close();
    expect(handled).toEqual(['/v1/x']);
  });

  it('cannot hide a request behind a reply that needs several writes', async () => {
    const large = await startEdge(binary, (_request, sink) => sink.send(200, [], Buffer.alloc(200_000, 'x')), {
      settings: { keepAliveWithoutBody: 'auto' },
    });
    const client = await openRawClient(large.port);
    client.send(headOf('GET'));
    const reply = await client.reply();
    expect([reply.body.length, reply.headers.connection]).toEqual([200_000, 'close']);
    client.send(hidden);
    await servesOther(large.port);
    client.destroy();
    large.close();
    expect(large.handled.map(({ path }) => path)).toEqual(['/v1/x', '/v1/other']);
  });

  it('do not close connections of requests with a body', async () => {
    const client = await openRawClient(edge.port);
    for (let i = 0; i < 2; i++) {
      client.send('POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok');
      expect((await client.reply()).headers).not.toHaveProperty('connection');
    }
    client.destroy();
  });

  it('are not covered with KEEP_ALIVE_WITHOUT_BODY=on: a hidden request in a later segment is served', async () => {
    const open = await startEdge(binary, undefined, { settings: { keepAliveWithoutBody: 'on' } });
    const client = await openRawClient(open.port);
    client.send(headOf('GET'));
    await client.reply();
    client.send(hidden);
    await client.reply();
    client.destroy();
    open.close();
    expect(open.handled.map(({ path }) => path)).toEqual(['/v1/x', '/v1/hidden']);
  });

  it('are not covered if a visible length comes before and another framing after the name', async () => {
    const client = await openRawClient(edge.port);
    client.send('POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n: z\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n');
    await client.reply();
    client.send(hidden);
    await client.reply();
    client.destroy();
    expect(paths()).toEqual(['/v1/x', '/v1/hidden']);
  });
});

describe('the start warning about empty header names', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])('is omitted on %s', (host) => {
    expect(emptyNameWarning({ host, keepAliveWithoutBody: 'auto' })).toBeNull();
  });

  it.each(['0.0.0.0', '::', '10.0.0.5'])('has the binary, the effect and the remedy on %s', (host) => {
    const warning = emptyNameWarning({ host, keepAliveWithoutBody: 'auto' });
    expect(warning).toContain('empty name');
    expect(warning).toContain('Connections close after each request without a body.');
    expect(warning).toContain('nginx, HAProxy or Apache');
    expect(warning).toContain('UWS_BINARY');
  });

  it('has the setting that keeps connections open', () => {
    expect(emptyNameWarning({ host: '0.0.0.0', keepAliveWithoutBody: 'on' })).toContain('KEEP_ALIVE_WITHOUT_BODY=on');
  });
});
