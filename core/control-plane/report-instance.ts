import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { type InstanceReport, instanceReply } from '../contract/protocol/instances.ts';
import { type InternalFetch, internalPaths } from '../contract/protocol/internal-api.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import { isUuid } from '../contract/values/text/uuid.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import type { Timers } from '../contract/values/time/timers.ts';
import { createClockComparison } from './compare-clocks.ts';

export interface InstanceOptions {
  /** Holds the ids of the processes of this machine, one file for each slot. */
  readonly directory: string;
  readonly slot: number;
  /** Fields of the reports that come from settings. */
  readonly about: Pick<InstanceReport, 'deployment' | 'tags' | 'sourceType' | 'version'>;
  /** Time after which the control plane regards a process without a report as unhealthy. */
  readonly staleMs: number;
  readonly fetch: InternalFetch;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

export interface InstanceReports {
  /** Reports that the process stops. Takes at most `withinMs`. */
  close(withinMs: number): Promise<void>;
}

/** Reports within `staleMs`, so that two may be lost. */
const reportsPerStale = 3;
const timeoutMs = 5_000;

/** Reports this gateway process to the control plane at once and then at an interval. Requests never depend on it. */
export function startInstanceReports(options: InstanceOptions): InstanceReports {
  const { directory, slot, about, staleMs, fetch, clock, timers, log } = options;
  const report: InstanceReport = {
    ...about,
    id: instanceId(directory, slot),
    host: hostname().slice(0, 200),
    slot,
    startedAtMs: clock.now(),
    isLeaving: false,
  };
  let cancel = () => {};
  let wasRejected = false;
  let isClosing = false;
  const compareClocks = createClockComparison(log);
  let running = tick();
  return {
    async close(withinMs) {
      isClosing = true;
      cancel();
      await running;
      await send({ ...report, isLeaving: true }, withinMs);
    },
  };

  async function tick(): Promise<void> {
    await send(report, timeoutMs);
    if (isClosing) return;
    cancel = timers.after(staleMs / reportsPerStale, () => {
      running = tick();
    });
  }

  async function send(body: InstanceReport, withinMs: number): Promise<void> {
    try {
      const beforeMs = clock.now();
      const reply = await fetch('POST', internalPaths.instances, Buffer.from(JSON.stringify(body)), withinMs);
      const { status } = reply;
      // 404: an older control plane.
      const isRejected = status >= 400 && status < 500 && status !== 404;
      if (isRejected && !wasRejected)
        log.warn(
          { status },
          'the control plane rejects the reports of this gateway; check DEPLOYMENT_ORGANISATION and CLUSTER_KEY',
        );
      wasRejected = isRejected;
      if (status !== 200) return;
      const { nowMs } = v.parse(instanceReply, JSON.parse(Buffer.from(reply.body).toString('utf8')));
      if (nowMs !== undefined) compareClocks(beforeMs, nowMs, clock.now());
    } catch (error) {
      // The follower of changes already warns when the control plane is unreachable.
      log.debug({ reason: messageOf(error) }, 'cannot report this gateway to the control plane');
    }
  }
}

/** Returns the id of this slot, and stores a new one in an empty directory. */
function instanceId(directory: string, slot: number): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, String(slot));
  try {
    const stored = readFileSync(path, 'utf8').trim();
    if (isUuid(stored)) return stored;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const id = randomUUID();
  writeFileSync(path, `${id}\n`, { mode: 0o600 });
  return id;
}
