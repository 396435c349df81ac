import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/contract/plugin.ts';

const windowMs = 60_000;
const failuresMax = 60;

/** Counts refused keys per address in windows of a minute. Holds at most 10,000 addresses. */
export class FailureLimit {
  readonly #clock: Clock;
  readonly #counts = new LRUCache<string, { window: number; count: number }>({ max: 10_000 });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(address: string): void {
    const window = Math.floor(this.#clock.now() / windowMs);
    const entry = this.#counts.get(address);
    if (entry?.window === window) entry.count++;
    else this.#counts.set(address, { window, count: 1 });
  }

  /** True when this address has used up its failures for the current minute. */
  isOver(address: string): boolean {
    const entry = this.#counts.get(address);
    return entry !== undefined && entry.count >= failuresMax && entry.window === Math.floor(this.#clock.now() / windowMs);
  }
}
