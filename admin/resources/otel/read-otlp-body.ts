import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { HonoRequest } from 'hono';
import { adminBodyBytesMax } from '../../../core/contract/protocol/control-plane-calls/body-limit.ts';
import { isBounded, isStorable, storableValue } from '../../../core/contract/values/json/storable-json.ts';
import { unmarkedTextOf } from '../../../core/contract/values/text/utf8.ts';
import type { Signal } from '../../../core/telemetry/otlp/messages.ts';
import { decodeProtobufRequest } from '../../../core/telemetry/otlp/protobuf.ts';
import { AdminError, invalid } from '../../http/errors.ts';
import { parseStrictJson } from '../../http/request/parse-strict-json.ts';
import { readBytes } from '../../http/request/read-body.ts';

const unzip = promisify(gunzip);
/** Maximum size of a body after decompression. */
const unzippedBytesMax = 8 * adminBodyBytesMax;

/** True if the request sends protobuf, and its reply must be protobuf too. */
export function isProtobuf(contentType: string): boolean {
  return /^application\/x-protobuf\s*(?:;|$)/i.test(contentType);
}

/** Returns a body of OTLP/HTTP in its JSON form, whatever its encoding. Throws AB01 (413 if too large). */
export function readOtlpBody(signal: Signal): (request: HonoRequest) => Promise<unknown> {
  return async (request) => {
    const sent = await readBytes(request, adminBodyBytesMax);
    const bytes = await decompressed(sent, request.header('content-encoding') ?? '');
    const contentType = request.header('content-type') ?? '';
    if (isProtobuf(contentType)) {
      try {
        return decodeProtobufRequest(signal, bytes);
      } catch {
        throw invalid('body: not a valid protobuf message of OTLP');
      }
    }
    if (!/^application\/json\s*(?:;|$)/i.test(contentType)) {
      throw invalid('content-type: expected application/json or application/x-protobuf');
    }
    return parseJson(decoded(bytes));
  };
}

async function decompressed(bytes: Uint8Array, encoding: string): Promise<Uint8Array> {
  if (encoding === '' || encoding === 'identity') return bytes;
  if (encoding !== 'gzip') throw invalid('content-encoding: expected gzip');
  try {
    return await unzip(bytes, { maxOutputLength: unzippedBytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw invalid('body: not valid gzip');
    const message = `body: larger than ${unzippedBytesMax} bytes after decompression`;
    throw new AdminError('AB01', message, [message], 413);
  }
}

/**
 * Exporters cut texts within a character and send batches with more keys than a write of an admin has, so both are accepted as in protobuf.
 * Throws AB01 with the position of an error.
 */
function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return parseStrictJson(text);
  }
  if (isStorable(value)) return value;
  return isBounded(value) ? storableValue(value) : parseStrictJson(text);
}

function decoded(bytes: Uint8Array): string {
  const text = unmarkedTextOf(bytes);
  if (text === null) throw invalid('body: not valid UTF-8');
  return text;
}
