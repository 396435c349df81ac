import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabase } from '../../support/test-database.ts';

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const json = 'application/json';
const protobuf = 'application/x-protobuf';

describe('bodies of OTLP', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
  });
  afterAll(() => plane?.close());

  const post = async (body: Uint8Array, headers: Record<string, string>) => {
    const url = `${plane.url}/v1/otel/v1/traces`;
    const all = { 'x-svc-api-key': plane.workspaceKey, 'content-type': json, ...headers };
    const reply = await fetch(url, { method: 'POST', body: body as Uint8Array<ArrayBuffer>, headers: all });
    return { status: reply.status, text: await reply.text() };
  };
  const traceOf = (traceId: string) => {
    const attributes = [{ key: 'gen_ai.request.model', value: { stringValue: 'gpt-4o' } }];
    const times = { startTimeUnixNano: `${Date.now()}000000`, endTimeUnixNano: `${Date.now()}000000` };
    const spans = [{ traceId, spanId: hex(8), name: 'chat', ...times, attributes }];
    return Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ scope: { name: 'openai' }, spans }] }] }));
  };

  it.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
    ['br', brotliCompressSync],
    ['identity', (bytes: Buffer) => bytes],
  ])('with the coding %s are stored', async (coding, compress) => {
    const traceId = hex(16);
    expect(await post(compress(traceOf(traceId)), { 'content-encoding': coding })).toEqual({ status: 200, text: '{}' });
    expect((await plane.ask('GET', `/logs?trace_id=${traceId}`)).body.data).toHaveLength(1);
  });

  it.each([
    ['an unknown coding', traceOf(hex(16)), 'snappy', 400, 'content-encoding: expected one of gzip, x-gzip, deflate, br, zstd'],
    ['a damaged coding', traceOf(hex(16)), 'zstd', 400, 'body: not valid zstd'],
    [
      'too many bytes',
      zstdCompressSync(Buffer.alloc(9 << 20, ' ')),
      'zstd',
      413,
      'larger than 8388608 bytes after decompression',
    ],
    ['too many levels', Buffer.from('['.repeat(100_000)), 'identity', 400, 'body: nested deeper than 200 levels'],
    ['malformed JSON', Buffer.from('{"resourceSpans":[1,]}'), 'identity', 400, 'body: invalid JSON at position 20'],
  ])('with %s are refused', async (_, body, coding, status, text) => {
    const reply = await post(body, { 'content-encoding': coding });
    expect(reply).toEqual({ status, text: expect.stringContaining(text) });
  });

  it('in protobuf get errors in protobuf, which the Collector logs: with a wrong coding, and with a wrong key', async () => {
    const send = async (changes: Record<string, string>) => {
      const headers = { 'x-svc-api-key': plane.workspaceKey, 'content-type': protobuf, ...changes };
      const reply = await fetch(`${plane.url}/v1/otel/v1/logs`, { method: 'POST', body: 'x', headers });
      const [field, length, ...text] = new Uint8Array(await reply.arrayBuffer());
      expect([reply.headers.get('content-type'), field, length]).toEqual([protobuf, 0x12, text.length]);
      return { status: reply.status, message: Buffer.from(text).toString() };
    };
    const message = 'content-encoding: expected one of gzip, x-gzip, deflate, br, zstd';
    expect(await send({ 'content-encoding': 'snappy' })).toEqual({ status: 400, message });
    expect(await send({ 'x-svc-api-key': `${plane.workspaceKey}x` })).toMatchObject({ status: 401 });
  });

  /** Returns a message in wire format, with `content` as the field of that number. */
  const field = (number: number, content: Uint8Array) => {
    const length: number[] = [];
    for (let left = content.length; ; left >>>= 7) {
      length.push(left < 128 ? left : (left & 127) | 128);
      if (left < 128) return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content]);
    }
  };

  it.each([
    [
      'spans',
      json,
      Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[{}${',{}'.repeat(2_000_000)}]}]}]}`),
      '1000000 values',
    ],
    ['lists', json, Buffer.from(`{"resourceSpans":[[]${',[]'.repeat(2_000_000)}]}`), '1000000 values'],
    ['numbers', json, Buffer.from(`{"resourceSpans":[1${',1'.repeat(2_000_000)}]}`), '1000000 values'],
    ['spans', protobuf, field(1, field(2, Buffer.alloc(8_000_000, Buffer.from([0x12, 0])))), '50000 items'],
    [
      'empty spans',
      json,
      Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[{}${',{}'.repeat(60_000)}]}]}]}`),
      '50000 items',
    ],
    [
      'attributes',
      protobuf,
      field(1, field(2, field(2, Buffer.alloc(8_000_000, Buffer.from([0x4a, 0]))))),
      '100000 fields in one item',
    ],
    ['resources', protobuf, Buffer.alloc(8_000_000, Buffer.from([0x0a, 0])), '50000 items'],
  ])('with millions of %s in %s are refused before they are read', async (_, type, body, what) => {
    const reply = await post(gzipSync(body), { 'content-type': type, 'content-encoding': 'gzip' });
    expect(reply).toEqual({
      status: 413,
      text: expect.stringContaining(`body: more than ${what}. Send smaller batches`),
    });
  });
});
