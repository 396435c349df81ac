import { GatewayError } from '../errors/errors.ts';

/** Maximum characters that are written for each byte that is read, beside the first `charactersFree`. */
const growthMax = 20;
const charactersFree = 16_000_000;
/** Maximum characters that one chunk can become, whatever has been read before it. The largest event has 32 MiB, and Responses repeat it three times. */
const charactersLeftMax = 128_000_000;

/**
 * Limits the length of a stream of which each event is converted. An event for the client can repeat what one event of the provider has, such as
 * the id or the text of the reply: an id of 1 MB and 20,000 short deltas would be 20 GB.
 */
export class GrowthLimit {
  #left = charactersFree;
  #more: (() => number) | null;

  /** `more` returns further free characters. It is called once, for a stream that is too long without them. */
  constructor(more: (() => number) | null = null) {
    this.#more = more;
  }

  read(bytes: number): void {
    this.#left = Math.min(this.#left + growthMax * bytes, charactersLeftMax);
  }

  /** Returns the text. Throws GatewayError if the converted stream is too long with it. */
  write(text: string): string {
    this.#left -= text.length;
    if (this.#left < 0 && this.#more !== null) {
      this.#left += this.#more();
      this.#more = null;
    }
    if (this.#left >= 0) return text;
    const message = `The provider sent a stream that would be more than ${growthMax} times as long for the client, in all or at once`;
    throw new GatewayError('upstream_invalid', { message });
  }
}
