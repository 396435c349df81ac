import { ownBytes } from '../contract/values/bodies/own-bytes.ts';
import { compileEquals, compilePick, type MemberNames } from './compile-members.ts';

/** Keys whose parts are kept. When there are more, all parts are written again. */
const keysMax = 1000;
/** Parts of one key. A further one replaces the oldest. */
const variantsMax = 8;

interface Part<Values> {
  readonly values: Partial<Values>;
  readonly bytes: Uint8Array;
}

/** Members of JSON objects that many lines share, written once. They are found by a key and compared with `===`. */
export class PartCache<Values extends object> {
  readonly #pick: (from: Values) => Partial<Values>;
  readonly #equals: (one: Partial<Values>, other: Values) => boolean;
  readonly #parts = new Map<string, Part<Values>[]>();

  /** `names`: the members, in the order in which they are written. */
  constructor(names: MemberNames<Values>) {
    this.#pick = compilePick(names);
    this.#equals = compileEquals(names);
  }

  /** Returns the members, each behind a comma: `,"provider":"openai","stream":false`. Undefined ones are left out. */
  find(key: string, values: Values): Uint8Array {
    const parts = this.#parts.get(key);
    if (parts === undefined) return this.#add(key, [], values);
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i] as Part<Values>;
      if (this.#equals(part.values, values)) return part.bytes;
    }
    return this.#add(key, parts, values);
  }

  #add(key: string, parts: Part<Values>[], given: Values): Uint8Array {
    const values = this.#pick(given);
    const json = JSON.stringify(values);
    const part = { values, bytes: ownBytes(Buffer.from(json === '{}' ? '' : `,${json.slice(1, -1)}`)) };
    if (parts.length >= variantsMax) parts.shift();
    parts.push(part);
    if (this.#parts.size >= keysMax && !this.#parts.has(key)) this.#parts.clear();
    this.#parts.set(key, parts);
    return part.bytes;
  }
}
