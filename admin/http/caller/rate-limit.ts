import { newEntryCache } from '../../../core/contract/entry-cache.ts';
import { AdminError } from '../errors.ts';

/** Requests per minute by name, in this process. A bucket holds the requests of one minute and refills evenly. */
export interface RateLimit {
  /** Throws AB06 with `retryAfterSeconds` if less than `cost` is left. Nothing is taken then. */
  take(name: string, cost?: number): void;
  /** Takes one if it is left. False: none is. */
  admits(name: string): boolean;
  /** Adds the cost without a check. The next `take` may then be rejected. */
  charge(name: string, cost: number): void;
}

/** AB06 with the time to wait. */
export class TooManyRequests extends AdminError {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('AB06', `Too many requests. Try again in ${retryAfterSeconds} s`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Maximum number of names. The least recently used are removed first, and start with a full bucket again. */
const namesMax = 20_000;

/** `perMinute` 0: no limit. `now` returns monotonic milliseconds. */
export function createRateLimit(perMinute: number, now: () => number = () => performance.now()): RateLimit {
  const buckets = newEntryCache<string, { left: number; at: number }>(namesMax);
  const perMs = perMinute / 60_000;

  function refilled(name: string): { left: number; at: number } {
    const at = now();
    let bucket = buckets.get(name);
    if (bucket) {
      bucket.left = Math.min(perMinute, bucket.left + (at - bucket.at) * perMs);
      bucket.at = at;
    } else {
      bucket = { left: perMinute, at };
      buckets.set(name, bucket);
    }
    return bucket;
  }

  return {
    admits(name) {
      if (perMinute === 0) return true;
      const bucket = refilled(name);
      if (bucket.left < 1) return false;
      bucket.left -= 1;
      return true;
    },
    take(name, cost = 1) {
      if (perMinute === 0) return;
      const bucket = refilled(name);
      if (bucket.left < cost) throw new TooManyRequests(Math.max(1, Math.ceil((cost - bucket.left) / perMs / 1_000)));
      bucket.left -= cost;
    },
    charge(name, cost) {
      if (perMinute === 0) return;
      const bucket = refilled(name);
      bucket.left = Math.max(0, bucket.left - cost);
    },
  };
}
