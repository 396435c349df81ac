import { isAscii } from 'node:buffer';
import { asBuffer } from './utf8.ts';

/**
 * Decodes UTF-8 that arrives in chunks, which may split characters, as a `TextDecoder` does. A chunk of ASCII takes a third of the time and
 * less, because the stream mode of `TextDecoder` converts to UTF-16.
 */
export class Utf8Stream {
  readonly #keepsMark: boolean;
  #decoder: InstanceType<typeof TextDecoder> | null = null;
  #hasBegun = false;
  /** True if the decoder may hold a part of a character. */
  #isSplit = false;

  /** `ignoreBOM`: a byte order mark at the beginning is part of the text. */
  constructor({ ignoreBOM }: { readonly ignoreBOM: boolean } = { ignoreBOM: false }) {
    this.#keepsMark = ignoreBOM;
  }

  /** True if the last byte may begin a character that the next chunk completes. */
  get isSplit(): boolean {
    return this.#isSplit;
  }

  push(chunk: Uint8Array): string {
    if (!this.#isSplit && isAscii(chunk)) {
      this.#hasBegun ||= chunk.length > 0;
      return asBuffer(chunk).toString('latin1');
    }
    // A decoder that did not see the beginning would remove a mark inside the text.
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: this.#keepsMark || this.#hasBegun });
    if (chunk.length > 0) this.#isSplit = (chunk[chunk.length - 1] as number) > 0x7f;
    return this.#decoder.decode(chunk, { stream: true });
  }

  /** Returns the rest of the text. It is not empty if the last character is incomplete. */
  end(): string {
    this.#isSplit = false;
    return this.#decoder?.decode() ?? '';
  }
}
