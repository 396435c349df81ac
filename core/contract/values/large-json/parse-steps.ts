import { Buffer, isAscii } from 'node:buffer';
import type { JsonObject } from '../json/json.ts';
import { validTextOf } from '../text/utf8.ts';
import { bufferOf, copyBytes, stepBytes } from './json-steps.ts';
import { StringEnds } from './string-ends.ts';

/** Invalid JSON, or JSON that cannot be parsed in steps. The message continues "The body is not valid JSON: ". */
export class JsonStepError extends Error {}

/** The container whose members are being read. */
interface Frame {
  readonly value: unknown[] | JsonObject;
  readonly isArray: boolean;
  /** True until the first member or comma. */
  isEmpty: boolean;
}

/** Longest run that is parsed at once because lists of numbers end in it. */
const runBytesMax = 1.5 * stepBytes;
/** Shorter lists are read byte by byte. */
const longListBytes = 64;
/** Containers larger than a step that may be nested: each is scanned again once it is entered. */
const framesMax = 512;

/**
 * Parses the JSON object in `bytes` in steps of at most `stepBytes`, because `JSON.parse` blocks the process for a time that
 * grows with the body. Runs of members are cut out at commas and parsed by `JSON.parse`. A container larger than a step is
 * entered, and a long string is decoded piece by piece. Returns what `JSON.parse` returns, or null if the JSON is valid but not
 * an object. Throws `JsonStepError` with the position of the error in bytes.
 */
export function parseSteps(bytes: Uint8Array): Generator<void, JsonObject | null> {
  return new StepParser(bufferOf(bytes)).run();
}

class StepParser {
  readonly #bytes: Buffer;
  readonly #ends: StringEnds;
  readonly #frames: Frame[] = [];
  #at = 0;
  /** First byte that has not been parsed. */
  #from = 0;
  /** The last comma of the current frame in the unparsed run, or the byte before the run. */
  #comma = -1;
  /** The last colon of the current frame. */
  #colon = -1;
  /** The first closing bracket of a list behind a place that was looked at; the length of the bytes if none follows. */
  #close = -1;
  /** Depth below the current frame, and where its outermost bracket is. */
  #depth = 0;
  #opened = 0;
  #inString = false;
  /** Opening quote of the last string of the current frame. */
  #quote = 0;
  /** First byte after the last string or container of the current frame. */
  #ended = 0;
  /** True after a value that was entered or decoded by itself. A comma or bracket must follow. */
  #isComplete = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#ends = new StringEnds(bytes);
  }

  *run(): Generator<void, JsonObject | null> {
    const bytes = this.#bytes;
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.#at = 3;
    yield* this.#skipSpace();
    if (bytes[this.#at] === openArray || bytes[this.#at] === quote) return null;
    if (bytes[this.#at] !== openObject) throw this.#error(this.#at);
    const root: JsonObject = {};
    this.#enter(root, this.#at);
    while (this.#frames.length > 0) {
      const limit = Math.max(this.#from + stepBytes, this.#inString ? this.#at + copyBytes : this.#at + 1);
      const isFull = this.#scan(Math.min(limit, bytes.length));
      if (isFull) yield* this.#split();
      if (this.#frames.length > 0 && this.#at >= bytes.length) throw this.#error(bytes.length);
      yield;
    }
    yield* this.#skipSpace();
    if (this.#at < bytes.length) throw this.#error(this.#at);
    return root;
  }

  *#skipSpace(): Generator<void, void> {
    while (this.#at < this.#bytes.length) {
      const end = Math.min(this.#at + copyBytes, this.#bytes.length);
      while (this.#at < end && isSpace(this.#bytes[this.#at] as number)) this.#at++;
      if (this.#at < end) return;
      yield;
    }
  }

  /** Scans up to `limit`. Returns true if the unparsed run is to be split, false if a container has ended. */
  #scan(limit: number): boolean {
    const bytes = this.#bytes;
    if (this.#inString && !this.#skipString(limit)) return true;
    while (this.#at < limit) {
      const code = bytes[this.#at] as number;
      switch (code) {
        case quote:
          if (this.#depth === 0) {
            if (this.#isComplete) throw this.#error(this.#at);
            this.#quote = this.#at;
          }
          this.#at++;
          if (!this.#skipString(limit)) return true;
          continue;
        case comma:
          if (this.#depth === 0) this.#endMember();
          break;
        case colon:
          if (this.#depth > 0) break;
          if (this.#isComplete) throw this.#error(this.#at);
          this.#colon = this.#at;
          break;
        case openArray:
        case openObject:
          if (code === openArray && this.#skipNumbers()) continue;
          if (this.#depth === 0) {
            if (this.#isComplete) throw this.#error(this.#at);
            this.#opened = this.#at;
          }
          this.#depth++;
          break;
        case closeArray:
        case closeObject:
          if (this.#depth === 0) {
            this.#leave(code === closeArray);
            return false;
          }
          if (--this.#depth === 0) this.#ended = this.#at + 1;
          break;
        default:
          if (this.#isComplete && !isSpace(code)) throw this.#error(this.#at);
      }
      this.#at++;
    }
    return true;
  }

  /** False: the string continues after `limit`, or makes the run longer than a step. */
  #skipString(limit: number): boolean {
    const found = this.#ends.after(this.#at, limit);
    this.#inString = found < 0;
    this.#at = found < 0 ? -found : found + 1;
    if (this.#depth === 0) this.#ended = this.#at;
    return found >= 0 && this.#at - this.#from <= stepBytes;
  }

  /**
   * Moves behind the list that begins here if it is a long one of numbers: searches in its bytes take a twentieth of the time of a look at each.
   * Returns false for other lists, and for one that would make the run far longer than a step.
   */
  #skipNumbers(): boolean {
    const bytes = this.#bytes;
    const from = this.#at;
    if (this.#close < from) this.#close = bytes.indexOf(closeArray, from);
    const end = this.#close;
    if (end === -1) this.#close = bytes.length;
    if (end - from < longListBytes || end - this.#from > runBytesMax) return false;
    const list = bytes.subarray(from + 1, end);
    // The bracket is the first: a search for another byte could pass the beginnings of many lists, once for each.
    if (list.includes(openArray) || list.includes(openObject) || list.includes(quote)) return false;
    if (this.#depth === 0) {
      if (this.#isComplete) throw this.#error(from);
      this.#opened = from;
      this.#ended = end + 1;
    }
    this.#at = end + 1;
    return true;
  }

  /** A comma of the current frame. */
  #endMember(): void {
    if (this.#isComplete) {
      this.#isComplete = false;
      this.#from = this.#at + 1;
    }
    this.#comma = this.#at;
  }

  /** Parses what can be parsed of a run that is as long as a step. */
  *#split(): Generator<void, void> {
    if (this.#comma >= this.#from) {
      if (!this.#take(this.#comma)) throw this.#error(this.#comma);
      this.#from = this.#comma + 1;
      return;
    }
    if (this.#isComplete) {
      this.#from = this.#at;
      return;
    }
    if (this.#at - this.#from < stepBytes) return;
    const frame = this.#top;
    if (this.#depth > 0) {
      const opened = this.#opened;
      const isArray = this.#bytes[opened] === openArray;
      const value = isArray ? [] : {};
      this.#add(frame, this.#nameUpTo(opened), value);
      this.#inString = false;
      this.#enter(value, opened);
      return;
    }
    const end = this.#inString ? this.#quote : this.#ended;
    const isValue = end >= this.#from && (frame.isArray || (this.#colon >= this.#from && this.#colon < end));
    if (!isValue) throw new JsonStepError(`a name, number or run of white space is longer than ${stepBytes} bytes`);
    if (this.#inString) return;
    for (let at = end; at < this.#at; at++) if (!isSpace(this.#bytes[at] as number)) throw this.#error(at);
    // A list that was skipped makes itself, or the container that it ends, a little longer than a step.
    if (end - this.#from <= stepBytes || this.#bytes[end - 1] !== quote) this.#take(end);
    else this.#add(frame, this.#nameUpTo(this.#quote), yield* this.#longString(this.#quote + 1, end - 1));
    this.#isComplete = true;
    this.#from = this.#at;
  }

  /** The name of the member whose value begins at `end`; null in an array. */
  #nameUpTo(end: number): string | null {
    const frame = this.#top;
    const members = this.#parse(this.#from, end, 'null', frame.isArray);
    const names = Object.keys(members);
    if (names.length !== 1) throw this.#error(end);
    return frame.isArray ? null : (names[0] as string);
  }

  /** Parses the run up to `end` and adds its members. Returns false if it is blank. */
  #take(end: number): boolean {
    const frame = this.#top;
    const members = this.#parse(this.#from, end, '', frame.isArray);
    if (Array.isArray(members)) {
      const values = frame.value as unknown[];
      for (const member of members) values.push(member);
      if (members.length === 0) return false;
    } else {
      const names = Object.keys(members);
      for (const name of names) this.#add(frame, name, members[name]);
      if (names.length === 0) return false;
    }
    frame.isEmpty = false;
    return true;
  }

  #parse(from: number, end: number, value: string, isArray: boolean): unknown[] | JsonObject {
    const text = this.#decode(from, end);
    try {
      return JSON.parse(isArray ? `[${text}${value}]` : `{${text}${value}}`);
    } catch (thrown) {
      const found = /at position (\d+)/.exec((thrown as Error).message)?.[1];
      throw this.#error(found === undefined ? end : from + Buffer.byteLength(text.slice(0, Math.max(0, Number(found) - 1))));
    }
  }

  #decode(from: number, end: number): string {
    const text = validTextOf(this.#bytes.subarray(from, end));
    if (text === null) throw new JsonStepError('it is not valid UTF-8');
    return text;
  }

  #enter(value: unknown[] | JsonObject, opened: number): void {
    if (this.#frames.length === framesMax) throw new JsonStepError('it is nested too deeply');
    this.#frames.push({ value, isArray: Array.isArray(value), isEmpty: true });
    this.#restart(opened + 1);
    this.#isComplete = false;
  }

  /** A closing bracket of the current frame. */
  #leave(isArray: boolean): void {
    const frame = this.#top;
    if (frame.isArray !== isArray) throw this.#error(this.#at);
    if (!this.#isComplete && !this.#take(this.#at) && !frame.isEmpty) throw this.#error(this.#at);
    this.#frames.pop();
    this.#restart(this.#at + 1);
    this.#isComplete = true;
  }

  #restart(at: number): void {
    this.#at = at;
    this.#from = at;
    this.#comma = at - 1;
    this.#depth = 0;
  }

  #add(frame: Frame, name: string | null, value: unknown): void {
    frame.isEmpty = false;
    if (frame.isArray) (frame.value as unknown[]).push(value);
    else if (name !== '__proto__') (frame.value as JsonObject)[name as string] = value;
    else Object.defineProperty(frame.value, name, { value, writable: true, enumerable: true, configurable: true });
  }

  /** The string between `start` and `end`. */
  *#longString(start: number, end: number): Generator<void, string> {
    let plainUpTo = start;
    while (plainUpTo < end) {
      const limit = Math.min(plainUpTo + copyBytes, end);
      if (!this.#isPlain(plainUpTo, limit)) break;
      plainUpTo = limit;
      yield;
    }
    // The longest step: V8 accepts the characters of a long string only as a whole.
    if (plainUpTo === end) return this.#bytes.toString('latin1', start, end);
    let text = '';
    for (let at = start; at < end; ) {
      const next = pieceEnd(this.#bytes, at, Math.min(at + stepBytes, end), end);
      const piece = this.#decode(at, next);
      try {
        text += JSON.parse(`"${piece}"`);
      } catch {
        throw this.#error(at);
      }
      at = next;
      yield;
    }
    return text;
  }

  /** True if the bytes are ASCII characters that stand for themselves in JSON. */
  #isPlain(start: number, end: number): boolean {
    const bytes = this.#bytes.subarray(start, end);
    return isAscii(bytes) && !bytes.includes(backslash) && !this.#ends.hasControls(start, end);
  }

  get #top(): Frame {
    return this.#frames[this.#frames.length - 1] as Frame;
  }

  #error(position: number): JsonStepError {
    return new JsonStepError(position >= this.#bytes.length ? 'it ends too early' : `syntax error at byte ${position}`);
  }
}

/**
 * Returns the first index from `wanted` on, or a few bytes before it, at which string content can be cut: between characters and
 * escapes.
 */
function pieceEnd(bytes: Buffer, start: number, wanted: number, end: number): number {
  if (wanted >= end) return end;
  let cut = wanted;
  while (cut > start && ((bytes[cut] as number) & 0xc0) === 0x80) cut--;
  const near = bytes.subarray(Math.max(start, cut - escapeBytes), cut).indexOf(backslash);
  if (near === -1) return cut;
  let at = Math.max(start, cut - escapeBytes) + near;
  while (at > start && bytes[at - 1] === backslash) at--;
  while (at < cut) at += bytes[at] !== backslash ? 1 : bytes[at + 1] === lowerU ? escapeBytes : 2;
  return Math.min(at, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Length of `\u0000`. */
const escapeBytes = 6;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openObject = 0x7b;
const closeObject = 0x7d;
const openArray = 0x5b;
const closeArray = 0x5d;
const lowerU = 0x75;
