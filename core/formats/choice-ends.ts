/** Maximum number of choices that are followed. More are ignored. */
const choicesMax = 1_000;

/** Follows which choices of a stream have begun and ended. Stores numbers only: a provider could fill the memory with other values as indexes. */
export class ChoiceEnds {
  readonly #begun = new Set<number | null>();
  readonly #ended = new Set<number | null>();

  follow(index: unknown, hasEnded: boolean): void {
    const key = typeof index === 'number' ? index : null;
    if (this.#begun.size === choicesMax && !this.#begun.has(key)) return;
    this.#begun.add(key);
    if (hasEnded) this.#ended.add(key);
  }

  /** True if a choice has begun, and all that have begun have ended. */
  get areComplete(): boolean {
    return this.#begun.size > 0 && this.#ended.size === this.#begun.size;
  }
}
