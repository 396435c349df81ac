import type { HonoRequest } from 'hono';
import { adminBodyBytesMax } from '../../../core/contract/protocol/control-plane-calls/body-limit.ts';
import { codings, decodeWhole } from '../../../core/contract/values/bodies/content-decoder.ts';
import { jsonExcess } from '../../../core/contract/values/json/json-excess.ts';
import { unmarkedTextOf } from '../../../core/contract/values/text/utf8.ts';
import { decodeProtobufRequest, TooManyFields } from '../../../core/telemetry/otlp/protobuf.ts';
import { invalid } from '../../http/errors.ts';
import { parseStrictJson } from '../../http/request/parse-strict-json.ts';
import { readBytes } from '../../http/request/read-body.ts';
import { itemFieldsMax, itemsMax, tooLarge, valuesMax } from './limits.ts';

/** Maximum size of a body after decompression. */
const decodedBytesMax = 8 * adminBodyBytesMax;

const depthMax = 200;

/** True if the request sends protobuf, and its reply must be protobuf too. */
export function isProtobuf(contentType: string): boolean {
  return /^application\/x-protobuf\s*(?:;|$)/i.test(contentType);
}

/** Returns a body of OTLP/HTTP in its JSON form, whatever its encoding. Throws AB01 (413 if it is too large or has too many values). */
export function readOtlpBody(signal: 'traces' | 'logs'): (request: HonoRequest) => Promise<unknown> {
  return async (request) => {
    const sent = await readBytes(request, adminBodyBytesMax);
    const bytes = await decompressed(sent, request.header('content-encoding') ?? '');
    const contentType = request.header('content-type') ?? '';
    if (isProtobuf(contentType)) {
      try {
        return await decodeProtobufRequest(signal, bytes, { fieldsMax: valuesMax, itemFieldsMax, itemsMax });
      } catch (error) {
        if (error instanceof TooManyFields) throw tooLarge(error.message);
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
  const whole = await decodeWhole(bytes, encoding, decodedBytesMax);
  if (whole === 'unknown coding') throw invalid(`content-encoding: expected one of ${codings.join(', ')}`);
  if (whole === 'damaged') throw invalid(`body: not valid ${encoding.trim().toLowerCase()}`);
  if (whole === 'too large') throw tooLarge(`larger than ${decodedBytesMax} bytes after decompression`);
  return whole;
}

/** Exporters cut texts within a character and send batches with more keys than a write of an admin has, so both are accepted as in protobuf. */
function parseJson(text: string): unknown {
  const excess = jsonExcess(text, { valuesMax, depthMax });
  if (excess === 'values') throw tooLarge(`more than ${valuesMax} values`);
  if (excess === 'depth') throw invalid(`body: nested deeper than ${depthMax} levels`);
  try {
    return JSON.parse(text);
  } catch {
    // Throws AB01 with the position of the error.
    return parseStrictJson(text);
  }
}

function decoded(bytes: Uint8Array): string {
  const text = unmarkedTextOf(bytes);
  if (text === null) throw invalid('body: not valid UTF-8');
  return text;
}
