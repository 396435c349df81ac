import type { Log } from '../core/contract/values/log/log.ts';
import { failureFields } from './failure-fields.ts';

/** Work that a reply does not wait for. It starts after the reply was sent, and ends before the process does. */
export interface BackgroundWork {
  run(work: () => Promise<unknown>): void;
  /** Resolves when all started work has ended. */
  settled(): Promise<void>;
}

/** Failures are logged; no caller awaits the work. */
export function createBackgroundWork(log: Log): BackgroundWork {
  const underWay = new Set<Promise<void>>();
  return {
    run(work) {
      const done = new Promise<void>((resolve) => {
        setImmediate(() => {
          work()
            .catch((error: unknown) => log.error(failureFields(error), 'background work after a reply failed'))
            .finally(resolve);
        });
      }).finally(() => underWay.delete(done));
      underWay.add(done);
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
