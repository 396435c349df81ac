import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import type { Maybe } from '../maybe.ts';
import { ZstdStream } from './zstd-stream.ts';

export type Decoder = zlib.Gunzip | zlib.BrotliDecompress | ZstdStream;

interface Options {
  readonly maxOutputLength: number;
}

interface Coding {
  stream(): Decoder;
  whole(bytes: Uint8Array, options: Options): Promise<Uint8Array>;
  wholeSync(bytes: Uint8Array, options: Options): Uint8Array;
}

const chunkSize = 64 * 1024;
const gzip: Coding = {
  stream: () => zlib.createGunzip({ chunkSize }),
  whole: promisify<Uint8Array, Options, Uint8Array>(zlib.gunzip),
  wholeSync: zlib.gunzipSync,
};
/** The largest window that HTTP allows (RFC 9659). A frame may name one of gigabytes. */
const params = { [zlib.constants.ZSTD_d_windowLogMax]: 23 };

const codingByName: Readonly<Record<string, Coding>> = {
  gzip,
  'x-gzip': gzip,
  deflate: {
    stream: () => zlib.createInflate({ chunkSize }),
    whole: promisify<Uint8Array, Options, Uint8Array>(zlib.inflate),
    wholeSync: zlib.inflateSync,
  },
  br: {
    stream: () => zlib.createBrotliDecompress({ chunkSize }),
    whole: promisify<Uint8Array, Options, Uint8Array>(zlib.brotliDecompress),
    wholeSync: zlib.brotliDecompressSync,
  },
  zstd: {
    stream: () => new ZstdStream({ chunkSize, params }, framesMax),
    async whole(bytes, options) {
      const steps = zstdSteps(bytes, options);
      let step = steps.next();
      while (!step.done) step = steps.next(await decodeFrame(...step.value));
      return step.value;
    },
    wholeSync(bytes, options) {
      const steps = zstdSteps(bytes, options);
      let step = steps.next();
      while (!step.done) step = steps.next(zlib.zstdDecompressSync(...step.value) as unknown as Frame);
      return step.value;
    },
  },
};

interface Frame {
  readonly buffer: Uint8Array;
  readonly engine: { readonly bytesWritten: number };
}

const decodeFrame = promisify<Uint8Array, object, Frame>(zlib.zstdDecompress as never);
/** Each frame is a task of its own, and a body has room for a hundred thousand empty ones. */
const framesMax = 1_000;

/**
 * Yields the arguments with which one frame after the other is decoded, and returns the whole body. Node decodes the first frame only and
 * accepts one that is cut off (nodejs/node#64741): guardrails would not read the others, which the client decodes.
 */
function* zstdSteps(bytes: Uint8Array, { maxOutputLength }: Options): Generator<[Uint8Array, object], Uint8Array, Frame> {
  // A decoder does not read beyond the end of its frame. If it reads this byte, the last frame is cut off.
  const marked = Buffer.concat([bytes, Buffer.of(0)]);
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let at = 0; at < bytes.length; ) {
    if (parts.length === framesMax) throw new Error(`The body has more than ${framesMax} frames`);
    const { buffer, engine } = yield [
      marked.subarray(at),
      { maxOutputLength: Math.max(1, maxOutputLength - size), params, info: true },
    ];
    at += engine.bytesWritten;
    if (at > bytes.length) throw new Error('The last frame is cut off');
    size += buffer.length;
    if (size > maxOutputLength) throw Object.assign(new Error('The body is too large'), { code: 'ERR_BUFFER_TOO_LARGE' });
    parts.push(buffer);
  }
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts, size);
}

/** Names of the codings that can be decoded. */
export const codings: readonly string[] = Object.keys(codingByName);

/** Returns a decoder for the value of a `content-encoding` header; null for an unknown coding, a list of several, or none. */
export function contentDecoder(contentEncoding: string): Decoder | null {
  return codingOf(contentEncoding)?.stream() ?? null;
}

/** The reason why a body cannot be decoded. `damaged`: it is incomplete, or in another coding than its header names. */
export type DecodingFailure = 'unknown coding' | 'damaged' | 'too large';

/** Returns a decoded body, or why it cannot be decoded: `too large` if it has more than `bytesMax` bytes. */
export async function decodeWhole(
  bytes: Uint8Array,
  contentEncoding: string | undefined,
  bytesMax: number,
): Promise<Uint8Array | DecodingFailure> {
  const name = contentEncoding ?? '';
  if (isIdentity(name)) return bytes;
  const coding = codingOf(name);
  if (coding === null) return 'unknown coding';
  try {
    return await coding.whole(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'damaged';
  }
}

/** Returns a decoded body. Null for an unknown coding, an incomplete body, and one of more than `bytesMax` bytes. */
export function decodeBody(bytes: Uint8Array, contentEncoding: string | undefined, bytesMax: number): Maybe<Uint8Array | null> {
  if (isIdentity(contentEncoding ?? '')) return bytes;
  return decodeWhole(bytes, contentEncoding, bytesMax).then((decoded) => (typeof decoded === 'string' ? null : decoded));
}

/** The same for worker threads: blocks while it decodes. */
export function decodeBodySync(bytes: Uint8Array, contentEncoding: string | undefined, bytesMax: number): Uint8Array | null {
  const name = contentEncoding ?? '';
  if (isIdentity(name)) return bytes;
  try {
    return codingOf(name)?.wholeSync(bytes, { maxOutputLength: bytesMax }) ?? null;
  } catch {
    return null;
  }
}

function isIdentity(contentEncoding: string): boolean {
  const name = contentEncoding.trim().toLowerCase();
  return name === '' || name === 'identity';
}

function codingOf(contentEncoding: string): Coding | null {
  const name = contentEncoding.trim().toLowerCase();
  return (Object.hasOwn(codingByName, name) ? codingByName[name] : undefined) ?? null;
}
