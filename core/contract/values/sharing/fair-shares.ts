/** How many times the free part of a bound one owner may hold. */
const heldPerFree = 7;

/** True if an owner that holds this much is over its share. */
export function isOverShare(held: number, free: number): boolean {
  return held > heldPerFree * free;
}

/**
 * The parts that owners hold of a bound which all of them share. Each may hold at most seven times what is free, so that one owner alone reaches seven
 * eighths of the bound, two reach seven fifteenths each, and an owner that holds little finds room (dynamic thresholds, Choudhury and Hahne 1998).
 */
export class FairShares {
  readonly #held = new Map<string, number>();

  heldBy(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** True if `amount` more would be over the share of the owner while `free` is free. */
  exceeds(owner: string, amount: number, free: number): boolean {
    return isOverShare(this.heldBy(owner) + amount, free);
  }

  /** Counts what the owner takes, or gives back if `amount` is negative. */
  add(owner: string, amount: number): void {
    const held = this.heldBy(owner) + amount;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
  }
}
