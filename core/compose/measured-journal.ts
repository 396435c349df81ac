import type { Journal } from '../contract/plugin/core-plugin.ts';
import type { RequestRecord } from '../contract/plugin/record/record.ts';

/** Returns a journal that also counts each finished request in the metrics and logs it. `logRequest` is null if requests are not logged. */
export function measuredJournal(
  spool: Journal,
  metrics: { observe(record: RequestRecord): void },
  logRequest: ((record: RequestRecord) => void) | null,
): Journal {
  return {
    append(record) {
      // A checkpoint is the record of a session that has not ended.
      if (record.checkpoint === undefined) {
        metrics.observe(record);
        logRequest?.(record);
      }
      spool.append(record);
    },
    hold: (hold) => spool.hold(hold),
    isHeld: (id) => spool.isHeld(id),
    whenSafe: (callback) => spool.whenSafe(callback),
    healthy: () => spool.healthy(),
  };
}
