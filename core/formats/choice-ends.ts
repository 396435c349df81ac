/** Maximum number of choices that are followed. More are ignored. */
const choicesMax = 1_000;

/** Maximum length of an index that is a text, as some providers send it. */
const textMax = 20;

/**
 * Follows which choices of a stream have begun and ended. Other indexes than numbers and short texts count as one, because a provider could fill the
 * memory with them.
 */
export class ChoiceEnds {
  readonly #begun = new Set<number | string | null>();
  readonly #ended = new Set<number | string | null>();

  follow(index: unknown, hasEnded: boolean): void {
    const isKept = typeof index === 'number' || (typeof index === 'string' && index.length <= textMax);
    const key = isKept ? index : null;
    if (this.#begun.size === choicesMax && !this.#begun.has(key)) return;
    this.#begun.add(key);
    if (hasEnded) this.#ended.add(key);
  }

  /** True if a choice has begun, and all that have begun have ended. */
  get areComplete(): boolean {
    return this.#begun.size > 0 && this.#ended.size === this.#begun.size;
  }
}
