import type { Log } from '../contract/values/log/log.ts';
import type { SupervisedChild, SupervisorClock } from './supervised-child.ts';

export interface GatewayWatch {
  /** Called for each heartbeat. The first one starts the watch of a process. */
  beat(child: SupervisedChild): void;
  /** Called when the process has ended. */
  forget(child: SupervisedChild): void;
  /** Ends the watch of all processes. */
  stop(): void;
}

/** Checks per timeout. A process without a heartbeat at all of them is killed. */
const looksPerTimeout = 4;

/**
 * Kills gateways whose heartbeats stop: their event loop hangs, and with it every request. Checks are counted instead of time, so
 * that after a pause of the whole machine heartbeats can arrive before the next check. A timeout of 0 disables the watch.
 */
export function watchGateways(timeoutMs: number, clock: SupervisorClock, log: Log): GatewayWatch {
  const looksWithout = new Map<SupervisedChild, number>();
  let cancel = timeoutMs === 0 ? () => {} : clock.after(timeoutMs / looksPerTimeout, look);

  function look(): void {
    for (const [child, looks] of looksWithout) {
      looksWithout.set(child, looks + 1);
      if (looks < looksPerTimeout) continue;
      looksWithout.delete(child);
      const fields = { child: child.plan.name, childPid: child.pid, watchdogMs: timeoutMs };
      log.error(fields, 'the event loop of a gateway is blocked; killing the process');
      child.kill();
    }
    cancel = clock.after(timeoutMs / looksPerTimeout, look);
  }

  return {
    beat: (child) => void (timeoutMs > 0 && looksWithout.set(child, 0)),
    forget: (child) => void looksWithout.delete(child),
    stop: () => cancel(),
  };
}
