import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../core/contract/values/time/clock.ts';

/** Gateway processes that call the provider for a key, in the memory of this control plane. */
export interface Claims {
  /** Takes or renews the claim of a key. False: another holder has it. */
  take(key: string, holder: string): boolean;
  /** Extends the claim if this holder has it. */
  renew(key: string, holder: string): void;
  /** Ends the claim if this holder has it, and wakes those that wait for it. */
  end(key: string, holder: string): void;
  /** Resolves when the claim of the key ends or expires, at the latest after `waitMs`. */
  ended(key: string, waitMs: number): Promise<void>;
}

interface Claim {
  readonly holder: string;
  expiresAtMs: number;
  readonly waiting: Set<() => void>;
}

/** Maximum number of claims. The oldest are removed, and another process may call the provider as well. */
const claimsMax = 100_000;

/** Holds claims in memory, one holder for each key. A claim ends after `claimMs` unless its holder takes it again. */
export function createClaims(clock: Pick<Clock, 'elapsed'>, claimMs: number): Claims {
  const claims = new LRUCache<string, Claim>({ maxSize: claimsMax, sizeCalculation: () => 1, dispose: wake });

  return {
    take(key, holder) {
      const claim = current(key);
      if (claim && claim.holder !== holder) return false;
      if (claim) claim.expiresAtMs = clock.elapsed() + claimMs;
      else claims.set(key, { holder, expiresAtMs: clock.elapsed() + claimMs, waiting: new Set() });
      return true;
    },
    renew(key, holder) {
      const claim = current(key);
      if (claim?.holder === holder) claim.expiresAtMs = clock.elapsed() + claimMs;
    },
    end(key, holder) {
      if (claims.get(key)?.holder === holder) claims.delete(key);
    },
    ended(key, waitMs) {
      const claim = current(key);
      if (!claim) return Promise.resolve();
      const { waiting } = claim;
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, Math.min(waitMs, Math.max(0, claim.expiresAtMs - clock.elapsed())));
        timer.unref();
        waiting.add(done);
      });
    },
  };

  function current(key: string): Claim | undefined {
    const claim = claims.get(key);
    if (!claim || claim.expiresAtMs > clock.elapsed()) return claim;
    claims.delete(key);
    return undefined;
  }

  function wake({ waiting }: Claim): void {
    for (const done of [...waiting]) done();
  }
}
