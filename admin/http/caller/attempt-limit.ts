import { isIPv6 } from 'node:net';
import { newEntryCache } from '../../../core/contract/entry-cache.ts';
import type { Clock } from '../../../core/contract/values/time/clock.ts';

const windowMs = 60_000;
const perAccountMax = 5;
const perAddressMax = 20;

/**
 * Limits guessing to 5 failed attempts per account and 20 per address in any 60 seconds. Counted in memory, so the limit applies
 * per control-plane process. An attempt counts from its start, so that concurrent attempts count too.
 */
export class AttemptLimit {
  readonly #clock: Clock;
  /** Times of attempts that failed or are still running, oldest first. */
  readonly #attempts = newEntryCache<string, number[]>(100_000);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Starts an attempt. Null: too many attempts. After a success, call the returned function, so that the attempt no longer
   * counts.
   */
  begin(account: string, address: string): (() => void) | null {
    const now = this.#clock.elapsed();
    const byAccount = this.#recent(`account ${account}`, now);
    const byAddress = this.#recent(`address ${networkOf(address)}`, now);
    if (byAccount.length >= perAccountMax || byAddress.length >= perAddressMax) return null;
    byAccount.push(now);
    byAddress.push(now);
    return () => {
      for (const times of [byAccount, byAddress]) {
        const at = times.lastIndexOf(now);
        if (at !== -1) times.splice(at, 1);
      }
    };
  }

  #recent(subject: string, now: number): number[] {
    const times = this.#attempts.get(subject) ?? [];
    while (times.length > 0 && (times[0] as number) <= now - windowMs) times.shift();
    this.#attempts.set(subject, times);
    return times;
  }
}

/** The owner of one IPv6 address usually owns its /64. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? left : [...left, ...new Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
