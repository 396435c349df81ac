import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../../../core/contract/provider/stream-event.ts';
import { eventStream } from '../../../../core/providers/bedrock/event-stream.ts';
import { chunkFrames, converseFrames, frame } from './frames.ts';

/** Frames written by AWS's own codec (@smithy/eventstream-codec): an event, an event with headers of every type, an exception. */
const fromAws = {
  event:
    'AAAAowAAAFenqv54CzpldmVudC10eXBlBwARY29udGVudEJsb2NrRGVsdGENOmNvbnRlbnQtdHlwZQcAEGFwcGxpY2F0aW9uL2pzb24NOm1lc3NhZ2UtdHlwZQcABWV2ZW50eyJjb250ZW50QmxvY2tJbmRleCI6MCwiZGVsdGEiOnsidGV4dCI6Ikdyw7zDn2UifSwicCI6ImFiYyJ9kwpmWw==',
  everyHeaderType:
    'AAAAowAAAHridaINAXQAAWYBAWIC+QFzAwEsAWkEAAERcAFsBQAAAAEqBfIAA2JpbgYAAwECAwJ0cwgAAAGZyCzAAAF1CQECAwQFBgcICQoLDA0ODxANOm1lc3NhZ2UtdHlwZQcABWV2ZW50CzpldmVudC10eXBlBwALbWVzc2FnZVN0b3B7InN0b3BSZWFzb24iOiJlbmRfdHVybiJ9MBYDIQ==',
  exception:
    'AAAAkAAAAGGOkam3DTptZXNzYWdlLXR5cGUHAAlleGNlcHRpb24POmV4Y2VwdGlvbi10eXBlBwATdGhyb3R0bGluZ0V4Y2VwdGlvbg06Y29udGVudC10eXBlBwAQYXBwbGljYXRpb24vanNvbnsibWVzc2FnZSI6IlRvbyBtYW55IHJlcXVlc3RzIn2da2IR',
};
const bytes = Buffer.concat(Object.values(fromAws).map((text) => Buffer.from(text, 'base64')));
const events: StreamEvent[] = [
  { event: 'contentBlockDelta', data: { contentBlockIndex: 0, delta: { text: 'Grüße' }, p: 'abc' } },
  { event: 'messageStop', data: { stopReason: 'end_turn' } },
  { event: 'throttlingException', data: { message: 'Too many requests' } },
];

function read(chunks: readonly Uint8Array[]): StreamEvent[] {
  const decoder = eventStream.create();
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()];
}

describe('frames of an AWS event stream', () => {
  it('are parsed as the AWS codec writes them', () => {
    expect(read([bytes])).toEqual(events);
  });

  it.each([1, 2, 7, 64, 163, 200])('are parsed the same in pieces of %i bytes', (size) => {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
    expect(read(pieces)).toEqual(events);
  });

  it('emit an event when its last byte arrives', () => {
    const decoder = eventStream.create();
    const first = Buffer.from(fromAws.event, 'base64');
    expect(decoder.push(first.subarray(0, -1))).toEqual([]);
    expect(decoder.push(first.subarray(-1))).toEqual(events.slice(0, 1));
  });

  it('with too many values are not parsed, also in base64', () => {
    const values = Array.from({ length: 500_000 }, () => ({}));
    const error = 'bedrock error: a stream event has too many values';
    expect(() => read([converseFrames([{ event: 'metadata', data: { values } }])])).toThrow(error);
    expect(() => read([chunkFrames([{ event: null, data: { values } }])])).toThrow(error);
  });

  it('can carry events of the model in base64', () => {
    const inner = [{ event: 'ping', data: { type: 'ping', text: 'ü' } }];
    expect(read([chunkFrames(inner)])).toEqual(inner);
  });

  it('can carry transport errors in headers only', () => {
    const error = frame({ ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'Try again' }, '');
    expect(read([error])).toEqual([{ event: 'error', data: { message: 'Try again' } }]);
  });

  it('are skipped if their kind is unknown', () => {
    expect(read([frame({ ':message-type': 'svc-new' }, '{}'), converseFrames(events)])).toEqual(events);
  });
});

describe('a damaged AWS event stream', () => {
  const whole = Buffer.from(fromAws.event, 'base64');

  it('is rejected for any wrong byte', () => {
    for (let at = 0; at < whole.length; at++) {
      const wrong = Buffer.from(whole);
      wrong[at] = (wrong[at] as number) ^ 1;
      expect(() => read([wrong]), `byte ${at}`).toThrow(/event stream is damaged/);
    }
  });

  it('gives the events before a damaged frame of the same chunk, and is rejected then', () => {
    const wrong = Buffer.from(whole);
    wrong[whole.length - 1] = (wrong[whole.length - 1] as number) ^ 1;
    const chunk = Buffer.concat([whole, wrong, whole]);
    for (const then of ['push', 'end'] as const) {
      const decoder = eventStream.create();
      expect(decoder.push(chunk)).toEqual(events.slice(0, 1));
      expect(() => (then === 'push' ? decoder.push(whole) : decoder.end())).toThrow(/event stream is damaged/);
    }
  });

  it('is rejected if it ends inside a frame', () => {
    for (const length of [1, 11, 12, 40, whole.length - 1]) {
      expect(() => read([whole.subarray(0, length)]), `${length} bytes`).toThrow('it ends inside a frame');
    }
  });

  it('is rejected at the prelude if a frame claims an impossible size', () => {
    const claim = (total: number, headers: number): Buffer => {
      const like = frame({}, '');
      const prelude = Buffer.alloc(8);
      prelude.writeUInt32BE(total, 0);
      prelude.writeUInt32BE(headers, 4);
      const sum = Buffer.alloc(4);
      // The checksum of a prelude equals that of a frame that contains only the prelude.
      sum.writeUInt32BE(crcOf(prelude));
      return Buffer.concat([prelude, sum, like.subarray(12)]);
    };
    expect(() => eventStream.create().push(claim(0x7fffffff, 0))).toThrow('a frame claims 2147483647 bytes');
    expect(() => eventStream.create().push(claim(20, 100))).toThrow('a frame claims 20 bytes');
    expect(() => eventStream.create().push(claim(0, 0))).toThrow('a frame claims 0 bytes');
  });

  it('is rejected if its headers are longer than the format allows', () => {
    expect(() => read([withHeaders(Buffer.alloc(128 * 1024 + 1))])).toThrow('a frame claims 131073 bytes of headers');
  });

  it('reports the growth of an unfinished frame once', () => {
    const grown: number[] = [];
    const decoder = eventStream.create((bytes) => grown.push(bytes));
    const long = frame({ ':message-type': 'event', ':event-type': 'a' }, JSON.stringify({ text: 'a'.repeat(100_000) }));
    for (let i = 0; i < 2; i++) {
      expect(decoder.push(long.subarray(0, 50_000))).toEqual([]);
      for (let at = 50_000; at < 90_000; at += 10_000) decoder.push(long.subarray(at, at + 10_000));
      expect(decoder.push(long.subarray(90_000))).toHaveLength(1);
    }
    expect(grown.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(long.length - 64 * 1024 + 1);
    expect(grown.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(90_000 - 64 * 1024 - 1);
  });

  it('is rejected if a header exceeds the headers or has an unknown type', () => {
    expect(() => read([withHeaders(Buffer.from([5, 97]))])).toThrow('a header is longer than the headers');
    expect(() => read([withHeaders(Buffer.from([1, 97, 7, 0, 9, 98]))])).toThrow('a header is longer than the headers');
    expect(() => read([withHeaders(Buffer.from([1, 97, 12]))])).toThrow('unknown type 12');
  });
});

function withHeaders(headers: Buffer): Buffer {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + headers.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crcOf(prelude.subarray(0, 8)), 8);
  const start = Buffer.concat([prelude, headers]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crcOf(start));
  return Buffer.concat([start, sum]);
}

/** CRC-32 by its definition (reflected polynomial 0xEDB88320), so that these frames do not depend on the code under test. */
function crcOf(data: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of data) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
