import type { JsonObject } from '../contract/values/json/json.ts';

/** The blocks of a streamed reply beside the fields of chat completions, for clients without strict compliance. */
export class NativeBlocks {
  readonly #isStrict: boolean;
  readonly #opened = new Set<unknown>();

  constructor(isStrict: boolean) {
    this.#isStrict = isStrict;
  }

  /** True if a piece of this block was sent. */
  has(index: unknown): boolean {
    return this.#opened.has(index);
  }

  /** Returns `content_blocks` with a piece of a block. The first piece of a block has its type. Returns `{}` for strict clients. */
  piece(index: unknown, type: string, fields: JsonObject): JsonObject {
    if (this.#isStrict) return {};
    const delta = this.#opened.has(index) ? fields : { type, ...fields };
    this.#opened.add(index);
    return { content_blocks: [{ index, delta }] };
  }
}
