import { crc32 } from 'node:zlib';
import { GatewayError } from '../contract/values/errors/errors.ts';

/** One frame with its text headers. The payload is a view of the input, so it must be read at once. */
export interface AwsFrame {
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Buffer;
}

export interface AwsFrameReader {
  /**
   * Returns the frames that these bytes complete. Throws GatewayError `upstream_invalid` on a damaged one; if whole ones are before it, with
   * the next call.
   */
  push(chunk: Uint8Array): AwsFrame[];
  /** Called after the last byte. Throws `upstream_invalid` if a frame is incomplete. */
  end(): void;
}

/** Type of a reply that is made of frames. */
export const awsEventStreamType = 'application/vnd.amazon.eventstream';

/** Lengths, prelude checksum and message checksum. */
const overheadBytes = 16;
const preludeBytes = 12;
/** Longest frame and headers that are accepted. The format allows payloads of 16 MiB (newer services 24 MiB) and headers of 128 KiB. */
const frameBytesMax = 25 * 1024 * 1024;
const headerBytesMax = 128 * 1024;
/** Unfinished frames up to this length are not reported to `onGrow`. */
const ordinaryBytes = 64 * 1024;

/**
 * Reads AWS event streams (docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html, "event stream encoding"): frames
 * of total length, header length, their CRC-32, headers, payload, and the CRC-32 of all of it. Integers are big-endian. Errors
 * name `provider`. `onGrow` is called with the growth of an unfinished frame beyond the longest one so far, from 64 KiB on.
 */
export function createAwsFrameReader(provider: string, onGrow: (length: number) => void = () => {}): AwsFrameReader {
  /** The unfinished frame: the first `size` bytes of `held`, which grows by doubling. */
  let held: Buffer = Buffer.alloc(0);
  let size = 0;
  let wanted = preludeBytes;
  let longest = ordinaryBytes;
  let failure: unknown = null;
  const damaged = (how: string): GatewayError =>
    new GatewayError('upstream_invalid', { message: `${provider} error: the event stream is damaged: ${how}` });

  function hold(bytes: Buffer): void {
    if (size + bytes.length > held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * held.length, size + bytes.length));
      held.copy(larger, 0, 0, size);
      held = larger;
    }
    bytes.copy(held, size);
    size += bytes.length;
    if (size <= longest) return;
    onGrow(size - longest);
    longest = size;
  }

  return {
    push(chunk) {
      if (failure !== null) throw failure;
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const frames: AwsFrame[] = [];
      if (size + bytes.length < wanted) {
        hold(bytes);
        return frames;
      }
      let rest = bytes;
      if (size > 0) {
        hold(bytes);
        rest = held.subarray(0, size);
      }
      try {
        for (wanted = frameLength(rest, damaged); rest.length >= wanted; wanted = frameLength(rest, damaged)) {
          frames.push(frameOf(rest.subarray(0, wanted), damaged));
          rest = rest.subarray(wanted);
        }
      } catch (thrown) {
        if (frames.length === 0) throw thrown;
        failure = thrown;
        return frames;
      }
      // The frames are views of `held`.
      held = Buffer.alloc(0);
      size = 0;
      if (rest.length > 0) hold(rest);
      return frames;
    },
    end() {
      if (failure !== null) throw failure;
      if (size > 0) throw damaged('it ends inside a frame');
    },
  };
}

type Damaged = (how: string) => GatewayError;

/**
 * Returns the number of bytes needed to continue: those of the prelude first, then those of the frame that the prelude announces.
 */
function frameLength(bytes: Buffer, damaged: Damaged): number {
  if (bytes.length < preludeBytes) return preludeBytes;
  const length = bytes.readUInt32BE(0);
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw damaged('the checksum of a prelude is wrong');
  const headersLength = bytes.readUInt32BE(4);
  if (length < overheadBytes + headersLength || length > frameBytesMax) throw damaged(`a frame claims ${length} bytes`);
  if (headersLength > headerBytesMax) throw damaged(`a frame claims ${headersLength} bytes of headers`);
  return length;
}

function frameOf(frame: Buffer, damaged: Damaged): AwsFrame {
  const end = frame.length - 4;
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw damaged('the checksum of a frame is wrong');
  const payloadAt = preludeBytes + frame.readUInt32BE(4);
  return { headers: readHeaders(frame.subarray(preludeBytes, payloadAt), damaged), payload: frame.subarray(payloadAt, end) };
}

/** Bytes of a header value by its type: true, false, byte, short, int, long, (bytes, text: length first), time, UUID. */
const valueLengths: readonly (number | null)[] = [0, 0, 1, 2, 4, 8, null, null, 8, 16];
const textType = 7;

/** Returns the text headers. Headers of other types have no meaning for the gateway. */
function readHeaders(bytes: Buffer, damaged: Damaged): Map<string, string> {
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
