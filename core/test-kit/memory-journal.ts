import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import type { CallHold } from '../contract/plugin/record/call-hold.ts';
import type { RequestRecord } from '../contract/plugin/record/record.ts';

export interface MemoryJournal {
  readonly journal: CoreServices['journal'];
  readonly records: RequestRecord[];
  /** Calls that were announced before they were sent. */
  readonly holds: CallHold[];
}

/** A journal in memory, which copies records and holds as they are when they are written. */
export function newMemoryJournal(whenSafe: (callback: () => void) => void): MemoryJournal {
  const records: RequestRecord[] = [];
  const holds: CallHold[] = [];
  /** Ids of the calls in flight. */
  const open = new Set<string>();
  return {
    records,
    holds,
    journal: {
      append(record) {
        open.delete(record.id);
        records.push(structuredClone(record));
      },
      hold(hold) {
        open.add(hold.id);
        holds.push(structuredClone(hold));
      },
      isHeld: (id) => open.has(id),
      whenSafe,
      healthy: () => true,
    },
  };
}
