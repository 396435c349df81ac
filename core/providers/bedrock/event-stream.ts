import { crc32 } from 'node:zlib';
import { GatewayError } from '../../contract/errors.ts';
import { isObject, type JsonObject } from '../../contract/json.ts';
import type { Operation, StreamDecoder, StreamEvent } from '../../contract/provider.ts';

/**
 * AWS event streams (docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html, "event stream encoding"): frames of
 * total length, header length, their CRC-32, headers, payload, and the CRC-32 of all of it; integers are big-endian.
 */
export const eventStream: NonNullable<Operation['decodeStream']> = {
  contentType: 'application/vnd.amazon.eventstream',
  create: createDecoder,
};

/** Lengths, prelude checksum and message checksum. */
const overheadBytes = 16;
const preludeBytes = 12;
/** Longest frame taken; the format allows payloads of 16 MiB (newer services 24 MiB) and headers of 128 KiB. */
const frameBytesMax = 25 * 1024 * 1024;

function createDecoder(): StreamDecoder {
  /** Bytes not yet read, joined only once the frame they begin is whole. */
  let parts: Buffer[] = [];
  let size = 0;
  let wanted = preludeBytes;
  return {
    push(chunk) {
      parts.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      size += chunk.byteLength;
      const events: StreamEvent[] = [];
      if (size < wanted) return events;
      let rest = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      for (wanted = frameLength(rest); rest.length >= wanted; wanted = frameLength(rest)) {
        const event = eventOf(rest.subarray(0, wanted));
        if (event) events.push(event);
        rest = rest.subarray(wanted);
      }
      parts = rest.length === 0 ? [] : [rest];
      size = rest.length;
      return events;
    },
    end() {
      if (size > 0) throw damaged('it ends inside a frame');
      return [];
    },
  };
}

/** How many bytes must be here to go on: those of the prelude, then, once it is checked, those of the frame it announces. */
function frameLength(bytes: Buffer): number {
  if (bytes.length < preludeBytes) return preludeBytes;
  const length = bytes.readUInt32BE(0);
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw damaged('the checksum of a prelude is wrong');
  const headersLength = bytes.readUInt32BE(4);
  if (length < overheadBytes + headersLength || length > frameBytesMax) throw damaged(`a frame claims ${length} bytes`);
  return length;
}

function eventOf(frame: Buffer): StreamEvent | null {
  const end = frame.length - 4;
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw damaged('the checksum of a frame is wrong');
  const payloadAt = preludeBytes + frame.readUInt32BE(4);
  const headers = readHeaders(frame.subarray(preludeBytes, payloadAt));
  const text = frame.toString('utf8', payloadAt, end);
  switch (headers.get(':message-type')) {
    case 'event': {
      const name = headers.get(':event-type') ?? null;
      const data = parse(text);
      return name === 'chunk' && isObject(data) && typeof data.bytes === 'string'
        ? innerEvent(data.bytes)
        : { event: name, data };
    }
    case 'exception':
      return { event: headers.get(':exception-type') ?? 'error', data: faultData(text) };
    case 'error':
      return { event: 'error', data: { message: headers.get(':error-message') ?? headers.get(':error-code') ?? '' } };
    default:
      return null;
  }
}

/** An event of the model's own format, wrapped in base64; it is named by its `type`, as in the maker's own event streams. */
function innerEvent(base64: string): StreamEvent {
  const data = parse(Buffer.from(base64, 'base64').toString('utf8'));
  return { event: isObject(data) && typeof data.type === 'string' ? data.type : null, data };
}

function parse(text: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
}

function faultData(text: string): JsonObject {
  const data = parse(text);
  return typeof data === 'string' ? { message: data } : data;
}

/** Bytes of a header value by its type: true, false, byte, short, int, long, (bytes, text: length first), time, UUID. */
const valueLengths: readonly (number | null)[] = [0, 0, 1, 2, 4, 8, null, null, 8, 16];
const textType = 7;

/** The headers that are text; all that matter are. */
function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  const take = (length: number): number => {
    const from = at;
    at += length;
    if (at > bytes.length) throw damaged('a header is longer than the headers');
    return from;
  };
  while (at < bytes.length) {
    const nameLength = bytes.readUInt8(take(1));
    const nameAt = take(nameLength);
    const type = bytes.readUInt8(take(1));
    const fixed = valueLengths[type];
    if (fixed === undefined) throw damaged(`a header has the unknown type ${type}`);
    const length = fixed ?? bytes.readUInt16BE(take(2));
    const valueAt = take(length);
    if (type === textType) {
      headers.set(bytes.toString('utf8', nameAt, nameAt + nameLength), bytes.toString('utf8', valueAt, valueAt + length));
    }
  }
  return headers;
}

function damaged(how: string): GatewayError {
  return new GatewayError('upstream_invalid', { message: `bedrock error: the event stream is damaged: ${how}` });
}
