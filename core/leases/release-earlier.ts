import { endedHoldersMax } from '../contract/protocol/limits/leases.ts';
import { reasonOf } from '../contract/values/errors/errors.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Timers } from '../contract/values/time/timers.ts';
import type { Holders } from './holders.ts';

/** Pause between attempts to release the leases of earlier processes. */
const earlierMs = 100;
/** A request of a killed process reaches the ledger within this time, also if the control plane was stopped meanwhile. */
const lateMs = 60_000;

interface Options {
  readonly holders: Pick<Holders, 'earlier' | 'forget'>;
  /** True when the control plane has stored all records of earlier processes. */
  readonly isDue: () => boolean;
  /** Releases the leases of at most `endedHoldersMax` holders in the ledger. */
  readonly release: (ended: readonly string[]) => Promise<unknown>;
  readonly timers: Timers;
  readonly log: Log;
}

/**
 * Frees the unspent units of earlier processes as soon as the control plane has all their records. Releases them once more later, because
 * a request of theirs may have reached the ledger after the first release.
 */
export function startEarlierRelease({ holders, isDue, release, timers, log }: Options): { close(): void } {
  let closed = false;
  let isReleased = false;
  let cancel = timers.after(0, run);

  function run(): void {
    const { earlier } = holders;
    if (earlier.length === 0 || closed) return;
    if (!isDue()) {
      cancel = timers.after(earlierMs, run);
      return;
    }
    releaseAll(earlier)
      .then(() => {
        if (isReleased) holders.forget(earlier);
        isReleased = true;
      })
      .catch((error: unknown) => log.debug({ reason: reasonOf(error) }, 'could not release leases of previous processes'))
      .finally(() => {
        if (!closed) cancel = timers.after(isReleased ? lateMs : earlierMs, run);
      });
  }

  async function releaseAll(earlier: readonly string[]): Promise<void> {
    for (let at = 0; at < earlier.length; at += endedHoldersMax) await release(earlier.slice(at, at + endedHoldersMax));
  }

  return {
    close() {
      closed = true;
      cancel();
    },
  };
}
