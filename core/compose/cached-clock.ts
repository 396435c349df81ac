import type { Clock } from '../contract/values/time/clock.ts';

/**
 * The clock of a gateway process. Its monotonic milliseconds are read once per turn of the event loop: the plain call asks six times,
 * and the clock of a virtual machine can cost a system call.
 */
export function createCachedClock(): Clock {
  let elapsedMs = 0;
  let isFresh = false;
  const expire = (): void => {
    isFresh = false;
  };
  return {
    now: () => Date.now(),
    elapsed() {
      if (!isFresh) {
        elapsedMs = performance.now();
        isFresh = true;
        setImmediate(expire);
      }
      return elapsedMs;
    },
  };
}
