import type { HonoRequest } from 'hono';
import { adminBodyBytesMax, adminBodyLimit } from '../../../core/contract/protocol/control-plane-calls/body-limit.ts';
import { validTextOf } from '../../../core/contract/values/text/utf8.ts';
import { AdminError, invalid } from '../errors.ts';
import { jsonLimits, parseStrictJson } from './parse-strict-json.ts';

/** Returns the JSON body of a request. Undefined if there is none. Throws AB01 (413 if too large). */
export async function readJsonBody(request: HonoRequest): Promise<unknown> {
  const bytesMax = adminBodyLimit(request.path);
  const bytes = await readBytes(request, bytesMax);
  if (bytes.byteLength === 0) return undefined;
  const type = request.header('content-type') ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) throw invalid('content-type: expected application/json');
  return parseStrictJson(decode(bytes), 'body', (jsonLimits.keys * bytesMax) / adminBodyBytesMax);
}

/** Like `readBody`, for requests between processes of the service, with any content type. Throws AB01 (413 if too large). */
export async function readInternalJson(request: HonoRequest, bytesMax: number): Promise<unknown> {
  return parseStrictJson(decode(await readBytes(request, bytesMax)));
}

/** Returns the bytes of a body. Stops reading when it is longer than `bytesMax`. Throws AB01 if its end does not arrive. */
export async function readBytes(request: HonoRequest, bytesMax: number): Promise<Uint8Array> {
  try {
    return await readAll(request, bytesMax);
  } catch (thrown) {
    if (thrown instanceof AdminError) throw thrown;
    // Node's error has the code of a connection that the database has reset.
    throw invalid('body: the connection ended before the body was complete');
  }
}

async function readAll(request: HonoRequest, bytesMax: number): Promise<Uint8Array> {
  const announced = Number(request.header('content-length') ?? 0);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  // Node reads no more than the announced bytes. This needs no web stream.
  if (announced > 0) return new Uint8Array(await request.raw.arrayBuffer());
  const stream = request.raw.body;
  if (!stream) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function decode(bytes: Uint8Array): string {
  const text = validTextOf(bytes);
  if (text === null) throw invalid('body: not valid UTF-8');
  return text;
}

function tooLarge(bytesMax: number): AdminError {
  return new AdminError('AB01', `body: larger than ${bytesMax} bytes`, [`body: larger than ${bytesMax} bytes`], 413);
}
