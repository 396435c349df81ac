import { newEntryCache } from '../../contract/entry-cache.ts';
import type { Clock } from '../../contract/values/time/clock.ts';

export interface RetryBudgetOptions {
  readonly clock: Clock;
  /** Retries of one tenant at one origin, as a share of its requests in the last ten seconds, 0 to 100. */
  readonly percent: number;
  /** Minimum number of retries that are allowed within ten seconds, for any traffic. */
  readonly floor: number;
}

/** Limits retries to a small part of the traffic, so that a failing provider does not get several times its load. */
export interface RetryBudget {
  readonly counts: { allowed: number; refused: number };
  /** Returns the account that counts requests of this tenant to this origin. */
  of(tenant: string, origin: string): RetryAccount;
}

export interface RetryAccount {
  /** Notes the start of a request that may be retried. */
  request(): void;
  /** Counts one more retry. Returns false if it exceeds the budget. */
  retry(): boolean;
}

/** Maximum number of counted pairs of tenant and origin. The least recently used ones are reset. */
const accountsMax = 10_000;
const slots = 10;
const slotMs = 1000;

/** Counts per tenant and origin in this process, over the last ten seconds. */
export function createRetryBudget(options: RetryBudgetOptions): RetryBudget {
  const accounts = newEntryCache<string, RetryAccount>(accountsMax);
  const counts = { allowed: 0, refused: 0 };
  return {
    counts,
    of(tenant, origin) {
      const key = `${tenant} ${origin}`;
      let account = accounts.get(key);
      if (!account) {
        account = openAccount(options, counts);
        accounts.set(key, account);
      }
      return account;
    },
  };
}

function openAccount({ clock, percent, floor }: RetryBudgetOptions, counts: RetryBudget['counts']): RetryAccount {
  const requests = new Uint32Array(slots);
  const retries = new Uint32Array(slots);
  let latest = Math.floor(clock.elapsed() / slotMs);
  return {
    request() {
      const at = advance();
      requests[at] = (requests[at] as number) + 1;
    },
    retry() {
      const at = advance();
      if (sum(retries) >= Math.max(floor, Math.floor((sum(requests) * percent) / 100))) {
        counts.refused++;
        return false;
      }
      retries[at] = (retries[at] as number) + 1;
      counts.allowed++;
      return true;
    },
  };

  /** Empties the slots whose second has passed; returns the current slot. */
  function advance(): number {
    const now = Math.floor(clock.elapsed() / slotMs);
    for (let second = Math.max(latest + 1, now - slots + 1); second <= now; second++) {
      requests[second % slots] = 0;
      retries[second % slots] = 0;
    }
    latest = Math.max(latest, now);
    return now % slots;
  }
}

function sum(values: Uint32Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
