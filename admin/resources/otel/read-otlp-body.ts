import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HonoRequest } from 'hono';
import { adminBodyBytesMax } from '../../../core/contract/protocol/control-plane-calls/body-limit.ts';
import { codings, decodeWhole } from '../../../core/contract/values/bodies/content-decoder.ts';
import { jsonExcess } from '../../../core/contract/values/json/json-excess.ts';
import { stepBytes } from '../../../core/contract/values/large-json/json-steps.ts';
import { JsonStepError, parseSteps } from '../../../core/contract/values/large-json/parse-steps.ts';
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
    return parseJson(bytes);
  };
}

async function decompressed(bytes: Uint8Array, encoding: string): Promise<Uint8Array> {
  const whole = await decodeWhole(bytes, encoding, decodedBytesMax);
  if (whole === 'unknown coding') throw invalid(`content-encoding: expected one of ${codings.join(', ')}`);
  if (whole === 'damaged') throw invalid(`body: not valid ${encoding.trim().toLowerCase()}`);
  if (whole === 'too large') throw tooLarge(`larger than ${decodedBytesMax} bytes after decompression`);
  return whole;
}

/**
 * Exporters cut texts within a character and send batches with more keys than a write of an admin has, so both are accepted as in protobuf. Other
 * requests are served between steps.
 */
async function parseJson(bytes: Uint8Array): Promise<unknown> {
  const text = decoded(bytes);
  const excess = jsonExcess(text, { valuesMax, depthMax });
  if (excess === 'values') throw tooLarge(`more than ${valuesMax} values`);
  if (excess === 'depth') throw invalid(`body: nested deeper than ${depthMax} levels`);
  if (bytes.length <= stepBytes) return parseAtOnce(text);
  const steps = parseSteps(bytes);
  try {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      await nextTurn();
    }
  } catch (thrown) {
    throw thrown instanceof JsonStepError ? invalid(`body: not valid JSON: ${thrown.message}`) : thrown;
  }
}

function parseAtOnce(text: string): unknown {
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
