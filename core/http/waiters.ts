/** Waits for conditions that are checked whenever something they depend on has changed. */
export class Waiters {
  readonly #asks = new Set<() => void>();

  /** Checks the condition of each waiter. */
  changed(): void {
    for (const ask of this.#asks) ask();
  }

  /** Resolves true when `condition` holds, false when the time has passed first. */
  settled(condition: () => boolean, timeoutMs: number): Promise<boolean> {
    if (condition()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (result: boolean): void => {
        clearTimeout(timer);
        this.#asks.delete(ask);
        resolve(result);
      };
      const ask = (): void => {
        if (condition()) finish(true);
      };
      const timer = setTimeout(finish, timeoutMs, false);
      this.#asks.add(ask);
    });
  }
}
