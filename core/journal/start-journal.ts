import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { Journal } from '../contract/plugin/core-plugin.ts';
import type { InternalFetch } from '../contract/protocol/internal-api.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { realTimers, type Timers } from '../contract/values/time/timers.ts';
import { createRefusedRecords } from './refused-records.ts';
import { namesIn } from './segment.ts';
import { Shipper } from './shipper.ts';
import { Spool } from './spool.ts';

export interface JournalOptions {
  readonly settings: Pick<Settings, 'dataDir' | 'spoolBytesMax' | 'gatewayProcesses'>;
  /** Number of this process among the gateways of the machine. No two running processes share it. */
  readonly slot: number;
  readonly fetch: InternalFetch;
  readonly clock: Clock;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: Log;
  readonly timers?: Timers;
  /** See ShipperOptions. */
  readonly restFactor?: number;
}

/** The journal of records. Writes them to disk at once and ships them to the control plane soon after. */
export interface RunningJournal extends Journal {
  /** False: the next record may not fit. Reject requests that must be recorded (`unavailable`). */
  healthy(): boolean;
  readonly spool: Spool;
  readonly shipper: Shipper;
  /** Called on shutdown, after the last request. Ships the remaining records for at most `withinMs`, then closes the files. */
  close(withinMs: number): Promise<void>;
}

/**
 * Opens the spool of this slot, takes over the records of an earlier process, and begins to ship. Throws if a file cannot be
 * opened.
 */
export function startJournal(options: JournalOptions): RunningJournal {
  const { settings, slot, fetch, clock, random, log, timers = realTimers } = options;
  const root = join(settings.dataDir, 'spool');
  const spool = new Spool({
    directory: join(root, String(slot)),
    orphans: slot === 0 ? orphansIn(root, settings.gatewayProcesses) : [],
    bytesMax: Math.floor(settings.spoolBytesMax / settings.gatewayProcesses),
    clock,
    log,
  });
  const refused = createRefusedRecords(join(root, `refused-${slot}.ndjson`), join(root, String(slot)), log);
  const shipper = new Shipper({ spool, refused, fetch, clock, random, log, timers, restFactor: options.restFactor });
  return {
    append: (record) => spool.append(record),
    hold: (hold) => spool.hold(hold),
    isHeld: (id) => spool.isHeld(id),
    whenSafe: (callback) => spool.whenSafe(callback),
    healthy: () => spool.healthy(),
    spool,
    shipper,
    async close(withinMs) {
      const drained = await shipper.drain(withinMs);
      const stopped = shipper.stop();
      if (drained) await stopped;
      spool.close();
    },
  };
}

/** Directories of slots that no longer exist because there are fewer processes than before. */
function orphansIn(root: string, gatewayProcesses: number): string[] {
  const slots = namesIn(root).filter((name) => /^\d+$/.test(name) && Number(name) >= gatewayProcesses);
  return slots.map((name) => join(root, name));
}
