import { Buffer } from 'node:buffer';
import type { JsonObject } from '../json/json.ts';
import { endsWithHalf } from '../text/surrogates.ts';
import { stepBytes } from './json-steps.ts';

/** Estimated characters of a number, and of the punctuation of a string or container. */
const scalarLength = 8;

/**
 * Writes JSON in steps of about `stepBytes`, because `JSON.stringify` blocks the process for a time that grows with the value.
 * Returns the same bytes as `JSON.stringify`. `lengthHint` is the expected length in bytes. Throws TypeError for values that JSON
 * cannot hold.
 */
export function encodeSteps(value: JsonObject, lengthHint: number): Generator<void, Uint8Array> {
  return new StepEncoder(lengthHint).run(value);
}

class StepEncoder {
  #bytes: Buffer;
  #used = 0;

  constructor(lengthHint: number) {
    this.#bytes = Buffer.allocUnsafe(lengthHint + stepBytes);
  }

  *run(value: JsonObject): Generator<void, Uint8Array> {
    yield* this.#write(value);
    return this.#bytes.subarray(0, this.#used);
  }

  *#write(value: unknown): Generator<void, void> {
    if (typeof value === 'string') return yield* this.#writeString(value);
    if (Array.isArray(value)) return yield* this.#writeArray(value);
    return yield* this.#writeObject(value as JsonObject);
  }

  *#writeArray(values: readonly unknown[]): Generator<void, void> {
    let opening = '[';
    let from = 0;
    let room = stepBytes;
    for (let at = 0; at < values.length; at++) {
      const value = values[at];
      const left = roomAfter(value, room);
      if (left >= 0) {
        room = left;
        continue;
      }
      if (at > from) {
        this.#put(opening + membersOf(values.slice(from, at)));
        opening = ',';
        yield;
      }
      from = at;
      room = roomAfter(value, stepBytes);
      if (room >= 0) continue;
      this.#put(opening);
      yield* this.#write(value);
      opening = ',';
      from = at + 1;
      room = stepBytes;
    }
    const rest = membersOf(values.slice(from));
    this.#put(rest === '' && opening === ',' ? ']' : `${opening}${rest}]`);
    yield;
  }

  *#writeObject(value: JsonObject): Generator<void, void> {
    let opening = '{';
    let run = emptyRun();
    let room = stepBytes;
    for (const name of Object.keys(value)) {
      const member = value[name];
      let left = roomAfter(member, room - name.length - scalarLength);
      if (left < 0) {
        const members = membersOf(run);
        if (members !== '') {
          this.#put(opening + members);
          opening = ',';
          yield;
        }
        run = emptyRun();
        left = roomAfter(member, stepBytes - name.length - scalarLength);
        if (left < 0 && isSplit(member)) {
          this.#put(`${opening}${JSON.stringify(name)}:`);
          yield* this.#write(member);
          opening = ',';
          left = stepBytes;
        } else run[name] = member;
      } else run[name] = member;
      room = left;
    }
    const rest = membersOf(run);
    this.#put(rest === '' && opening === ',' ? '}' : `${opening}${rest}}`);
    yield;
  }

  *#writeString(text: string): Generator<void, void> {
    this.#put('"');
    for (let at = 0; at < text.length; ) {
      let end = Math.min(at + stepBytes, text.length);
      // The halves of a surrogate pair would be written as two escapes.
      if (end < text.length && endsWithHalf(text, end)) end--;
      this.#put(JSON.stringify(text.slice(at, end)).slice(1, -1));
      at = end;
      yield;
    }
    this.#put('"');
  }

  #put(text: string): void {
    const length = this.#bytes.length - this.#used >= text.length * 3 ? 0 : Buffer.byteLength(text);
    if (this.#bytes.length - this.#used < length) {
      const grown = Buffer.allocUnsafe(Math.max(this.#used + length, Math.ceil(this.#bytes.length * 1.5)));
      grown.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = grown;
    }
    this.#used += this.#bytes.write(text, this.#used);
  }
}

/** Returns the approximate number of characters left of `room` after the JSON of this value. Negative if it does not fit. */
export function roomAfter(value: unknown, room: number): number {
  let left = room - scalarLength;
  if (typeof value === 'string') return left - value.length;
  if (!isSplit(value) || left < 0) return left;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = roomAfter(value[at], left);
    return left;
  }
  for (const name in value as JsonObject) {
    if (left < 0) return left;
    left = roomAfter((value as JsonObject)[name], left - name.length);
  }
  return left;
}

/** True for values that are written member by member if they are large. */
function isSplit(value: unknown): boolean {
  if (typeof value === 'string') return true;
  return typeof value === 'object' && value !== null && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}

/** JSON of a container, without its brackets. */
function membersOf(value: readonly unknown[] | JsonObject): string {
  return JSON.stringify(value).slice(1, -1);
}

/** An object in which `__proto__` is an ordinary name. */
function emptyRun(): JsonObject {
  return Object.create(null) as JsonObject;
}
