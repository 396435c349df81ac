import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { toGatewayError } from '../../../core/contract/values/errors/errors.ts';
import { errorReply } from '../../../core/http/write-error.ts';
import { openRawClient } from '../../support/clients/raw-client.ts';
import { type Edge, startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';

const head = 'POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const hidden = 'GET /v1/hidden HTTP/1.1\r\nHost: b\r\n\r\n';

/** The addon decodes chunks before the gateway receives a byte. These tests check the consequences. */
describe.each(uwsBinaries)('chunked bodies on %s', (binary) => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await startEdge(
      binary,
      (request, sink) => {
        request.body.bytes(1000).then(
          (body) => sink.send(200, [], body),
          (thrown) => {
            const reply = errorReply(toGatewayError(thrown));
            sink.send(reply.status, reply.headers, reply.body);
          },
        );
      },
      { stallMs: 50 },
    );
  });
  afterAll(() => edge.close());
  beforeEach(() => {
    edge.handled.length = 0;
  });

  it.each([
    ['a chunk extension', '5;a=b\r\nhello\r\n0\r\n\r\n'],
    ['a chunk extension behind a good chunk', '2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\n\r\n'],
    ['a size that is no hexadecimal number', 'g\r\nhello\r\n0\r\n\r\n'],
    ['a chunk shorter than its size', '9\r\nhello\r\n'],
    ['no chunk at all', ''],
  ])('with %s get an error body, not silence', async (_what, chunks) => {
    const client = await openRawClient(edge.port);
    client.send(head + chunks);
    const reply = await client.reply();
    client.destroy();
    expect([reply.status, reply.headers.connection]).toEqual([408, 'close']);
    expect(JSON.parse(reply.body.toString())).toMatchObject({
      status: 'failure',
      error: { param: 'transfer-encoding', message: expect.stringContaining('Chunk extensions are not supported') },
    });
  });

  it.each([
    ['a signed size', '+5\r\nhello\r\n0\r\n\r\n'],
    ['a size in 0x form', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['a size of 18 digits', 'ffffffffffffffffff\r\nhello\r\n0\r\n\r\n'],
  ])('with %s are rejected by the addon at once', async (_what, chunks) => {
    const client = await openRawClient(edge.port);
    client.send(head + chunks);
    expect((await client.closed()).toString('latin1')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    ['a valid body', '5\r\nhello\r\n0\r\n\r\n'],
    ['a size with a space in front', ' 5\r\nhello\r\n0\r\n\r\n'],
    ['a size with a space behind', '5 \r\nhello\r\n0\r\n\r\n'],
    ['a size without CR', '5\nhello\r\n0\r\n\r\n'],
    ['a chunk longer than its size', '5\r\nhelloX\r\n0\r\n\r\n'],
    ['trailers', '5\r\nhello\r\n0\r\nx-a: b\r\n\r\n'],
  ])('with %s end the connection: the bytes after them are not read as a request', async (_what, chunks) => {
    const client = await openRawClient(edge.port);
    client.send(head + chunks);
    await client.closed();
    const later = await openRawClient(edge.port);
    later.send(head + chunks + hidden);
    await later.closed();
    expect(edge.handled.map(({ path }) => path)).toEqual(['/v1/x', '/v1/x']);
  });
});

it('a body in small chunks that keeps the event loop busy ends its connection', async () => {
  let nowMs = 0;
  const edge = await startEdge(uwsBinaries[0] as string, (request, sink) => {
    // Each chunk takes a hundredth of a millisecond.
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const onChunk = () => {
      nowMs += 0.01;
    };
    request.body.bytes(1_000_000, undefined, onChunk).then(
      () => sink.send(200, [], 'read'),
      () => {},
    );
  });
  const client = await openRawClient(edge.port);
  client.send(`${head}${'1\r\na\r\n'.repeat(100_000)}0\r\n\r\n`);
  expect((await client.closed()).toString('latin1')).toBe('');
  vi.restoreAllMocks();
  edge.close();
});
