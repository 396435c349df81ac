import type { Log } from '../contract/values/log/log.ts';

/** Difference that is logged. Keys, tokens and windows of limits end this much too early or too late at most. */
const toleratedMs = 5_000;

/** Compares the clock of this process with the control plane's, which was read between the two times of this process. */
export type CompareClocks = (ownBeforeMs: number, controlPlaneMs: number, ownAfterMs: number) => void;

/** Returns a function that logs the beginning and the end of a difference between the clocks. */
export function createClockComparison(log: Log): CompareClocks {
  let differed = false;
  return (ownBeforeMs, controlPlaneMs, ownAfterMs) => {
    // Positive: this clock is ahead. The time of the call itself is no difference.
    const aheadMs = Math.max(0, ownBeforeMs - controlPlaneMs) - Math.max(0, controlPlaneMs - ownAfterMs);
    const differs = Math.abs(aheadMs) > toleratedMs;
    if (differs && !differed) {
      const by = `${(Math.abs(aheadMs) / 1000).toFixed(0)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
      log.warn(
        { aheadMs },
        `the clock of this machine is ${by} the control plane's. Keys, tokens and limits end at the wrong time here. Check the time synchronisation of both machines`,
      );
    } else if (differed && !differs) {
      log.info({}, "the clock of this machine agrees with the control plane's again");
    }
    differed = differs;
  };
}
