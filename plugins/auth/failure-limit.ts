import { newEntryCache } from '../../core/contract/entry-cache.ts';
import type { Clock } from '../../core/contract/plugin/plugin.ts';

const windowMs = 60_000;
const failuresMax = 60;

/** Counts rejected credentials per subject (an address, a key id) in windows of a minute. Holds at most 10,000 subjects. */
export class FailureLimit {
  readonly #clock: Clock;
  readonly #counts = newEntryCache<string, { window: number; count: number }>(10_000);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(subject: string): void {
    const window = Math.floor(this.#clock.now() / windowMs);
    const entry = this.#counts.get(subject);
    if (entry?.window === window) entry.count++;
    else this.#counts.set(subject, { window, count: 1 });
  }

  /** True if this subject has used up its failures for the current minute. */
  isOver(subject: string): boolean {
    const entry = this.#counts.get(subject);
    return entry !== undefined && entry.count >= failuresMax && entry.window === Math.floor(this.#clock.now() / windowMs);
  }
}
