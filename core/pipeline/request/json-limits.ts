import { GatewayError } from '../../contract/values/errors/errors.ts';
import { bufferOf, onceWork } from '../../contract/values/large-json/json-steps.ts';
import { StringEnds } from '../../contract/values/large-json/string-ends.ts';

const depthMax = 64;
const keysMax = 50_000;
/** A body of at most this length cannot exceed either limit by a relevant amount. */
export const harmlessBytes = 8192;
/** An object or array takes about five times the memory and time of a number. */
const containerWeight = 5;
/** Estimated heap bytes per value, beside the text itself. */
const heapBytesPerValue = 24;
/** Time to parse a number, text or literal in a list beyond that of its bytes, in the unit of `JsonLimits.work`. */
const workPerListed = 4;
/** Members of the outer object whose places are noted. */
const notedMembersMax = 64;

/**
 * Checks JSON text before it is parsed: parsing blocks the process, and its cost depends on the number of values far more than on the
 * number of bytes. Returns an estimate of the heap bytes of the parsed value. Throws as `JsonLimits.push` does. Malformed text is left
 * to the parser.
 */
export function checkJsonLimits(text: Uint8Array, valuesMax: number): number {
  if (text.length <= harmlessBytes) return text.length;
  const limits = new JsonLimits(valuesMax);
  limits.push(text);
  return limits.heapBytes;
}

/** Returns true if JSON text is parsed at once in about a millisecond. */
export function isLittleWork(text: Uint8Array): boolean {
  if (text.length > onceWork) return false;
  const limits = new JsonLimits(Number.POSITIVE_INFINITY);
  try {
    limits.push(text);
    return limits.work <= onceWork;
  } catch {
    // More levels or keys than a request may have.
    return false;
  }
}

/** Counts the values of JSON text as its chunks arrive, so that a body is rejected before the rest of it takes memory. */
export class JsonLimits {
  readonly #valuesMax: number;
  #bytes = 0;
  #depth = 0;
  #keys = 0;
  #values = 0;
  #containers = 0;
  #inString = false;
  /** True if the last chunk ended in a backslash that escapes the next byte. */
  #escapes = false;
  /** See `JsonLayout`; null if there are too many members. */
  #ranges: number[] | null = [];
  /** The begin of the last string of the outer object, of its last name, and of the value of that; -1: none. */
  #stringAt = -1;
  #valueAt = -1;
  #nameAt = -1;

  constructor(valuesMax: number) {
    this.#valuesMax = valuesMax;
  }

  /** Estimated heap bytes of the parsed value. */
  get heapBytes(): number {
    return this.#bytes + (this.#keys + this.#values) * heapBytesPerValue;
  }

  /** Estimated time to parse the text: 256 Ki is about a millisecond, whether it consists of objects, of vectors or of text. */
  get work(): number {
    const weighed = this.#containers * containerWeight;
    return this.#bytes + (this.#keys + weighed) * heapBytesPerValue + (this.#values - weighed) * workPerListed;
  }

  /** The places of the members of the outer object in valid JSON, as in `JsonLayout`. Null if it has more than 64. */
  get ranges(): readonly number[] | null {
    return this.#ranges;
  }

  /**
   * Throws `bad_request` for more than 64 levels or 50,000 keys, and `body_too_large` for more than `valuesMax` values, where an object
   * or array counts as five. Takes 2 ns per byte outside of strings, and less inside.
   */
  push(chunk: Uint8Array): void {
    const bytes = bufferOf(chunk);
    const ends = new StringEnds(bytes);
    const base = this.#bytes;
    this.#bytes += bytes.length;
    const valuesMax = this.#valuesMax;
    let [depth, keys, values, containers] = [this.#depth, this.#keys, this.#values, this.#containers];
    for (let i = this.#inString ? this.#skipString(ends, bytes.length, 0) : 0; i < bytes.length; i++) {
      switch (bytes[i]) {
        case 0x22: // "
          if (depth === 1) this.#stringAt = base + i;
          i = this.#skipString(ends, bytes.length, i + 1) - 1;
          break;
        case 0x2c: // ,
          if (depth === 1) this.#endMember(base + i);
          if (++values > valuesMax) throw tooManyValues(valuesMax);
          break;
        case 0x3a: // :
          if (++keys > keysMax) {
            throw new GatewayError('bad_request', { message: `The body contains more than ${keysMax} keys` });
          }
          if (depth === 1) this.#beginValue(base + i + 1);
          break;
        case 0x5b: // [
        case 0x7b: // {
          if (++depth > depthMax) {
            throw new GatewayError('bad_request', { message: `The body is nested deeper than ${depthMax} levels` });
          }
          containers++;
          values += containerWeight;
          if (values > valuesMax) throw tooManyValues(valuesMax);
          break;
        case 0x5d: // ]
        case 0x7d: // }
          if (depth === 1) this.#endMember(base + i);
          depth--;
          break;
      }
    }
    this.#depth = depth;
    this.#keys = keys;
    this.#values = values;
    this.#containers = containers;
  }

  #beginValue(at: number): void {
    this.#nameAt = this.#stringAt;
    this.#valueAt = at;
  }

  #endMember(at: number): void {
    if (this.#valueAt === -1) return;
    if (this.#ranges !== null && this.#ranges.length === 3 * notedMembersMax) this.#ranges = null;
    this.#ranges?.push(this.#nameAt, this.#valueAt, at);
    this.#valueAt = -1;
  }

  /** Index after the closing quote of the string that contains `from`; `length` if the string continues after the chunk. */
  #skipString(ends: StringEnds, length: number, from: number): number {
    const start = this.#escapes ? from + 1 : from;
    const found = start < length ? ends.after(start, length) : -start;
    this.#inString = start >= length || found < 0;
    this.#escapes = -found > length;
    return this.#inString ? length : found + 1;
  }
}

function tooManyValues(valuesMax: number): GatewayError {
  return new GatewayError('body_too_large', {
    message: `Payload size exceeds the limit: the body contains more than ${valuesMax} values, where an object or array counts as five (JSON_VALUES_MAX)`,
  });
}
