import { GatewayError } from '../contract/errors.ts';

const depthMax = 64;
const keysMax = 50_000;
/** A body this short can exceed neither limit in a way that costs anything. */
const harmlessBytes = 8192;
/** An object or array takes about five times the memory and time of a number. */
const containerWeight = 5;
/** Estimated heap bytes per value, beside the text itself. */
const heapBytesPerValue = 24;

/**
 * Checks JSON text before it is parsed: parsing blocks the process, and its cost depends on the number of values far more than on the
 * number of bytes. Returns an estimate of the heap bytes of the parsed value. Throws `bad_request` for more than 64 levels or 50,000
 * keys, and `body_too_large` for more than `valuesMax` values, where an object or array counts as five. Takes 2 ns per byte outside of
 * strings and next to nothing inside of long strings; stops at the first limit. Malformed text is left to the parser.
 */
export function checkJsonLimits(text: Uint8Array, valuesMax: number): number {
  if (text.length <= harmlessBytes) return text.length;
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  let depth = 0;
  let keys = 0;
  let values = 0;
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case 0x22: // "
        i = stringEnd(bytes, i + 1);
        break;
      case 0x2c: // ,
        if (++values > valuesMax) throw tooManyValues(valuesMax);
        break;
      case 0x3a: // :
        if (++keys > keysMax) throw new GatewayError('bad_request', { message: `The body holds more than ${keysMax} keys` });
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > depthMax) {
          throw new GatewayError('bad_request', { message: `The body is nested deeper than ${depthMax} levels` });
        }
        values += containerWeight;
        if (values > valuesMax) throw tooManyValues(valuesMax);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
    }
  }
  return text.length + (keys + values) * heapBytesPerValue;
}

/** Index of the closing quote of the string that begins at `from`; the length of `bytes` if there is none. */
function stringEnd(bytes: Buffer, from: number): number {
  for (let quote = bytes.indexOf(0x22, from); quote !== -1; quote = bytes.indexOf(0x22, quote + 1)) {
    let before = quote;
    while (before > from && bytes[before - 1] === 0x5c) before--;
    // An even number of backslashes escapes itself.
    if ((quote - before) % 2 === 0) return quote;
  }
  return bytes.length;
}

function tooManyValues(valuesMax: number): GatewayError {
  return new GatewayError('body_too_large', {
    message: `Payload size exceeds the limit: the body holds more than ${valuesMax} values, counting five for each object and array (JSON_VALUES_MAX)`,
  });
}
