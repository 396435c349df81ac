import { newEntryCache } from '../contract/entry-cache.ts';
import {
  type BreakerSettings,
  type CircuitNotice,
  type Circuits,
  circuitNotice,
  circuitNoticeBytesMax,
} from '../contract/plugin/services/circuits.ts';
import type { NoticeChannel } from '../contract/protocol/notices/notice-channel.ts';
import { readNotice } from '../contract/protocol/notices/read-notice.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { dayMs } from '../contract/values/time/durations.ts';
import { type Change, CircuitBreaker } from './circuit-breaker.ts';

export interface CircuitsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Gateway processes of this machine. */
  readonly processes: number;
  /** Channels to other gateways. A notice is sent on all of them and may arrive on more than one. */
  readonly channels: readonly NoticeChannel<CircuitNotice>[];
}

export interface RunningCircuits extends Circuits {
  /** Counts of this process since its start. */
  readonly counts: { opened: number; invalidNotices: number };
  /** Number of circuits that are open now, as seen by this process. */
  openBreakers(): number;
  /** Stops sending and receiving notices. Safe to call twice. */
  close(): void;
}

/**
 * Maximum number of circuits, and of notices for circuits that are not in use yet. The least recently used ones are removed
 * first.
 */
const breakersMax = 10_000;
/** A notice for a circuit that is not in use is stored for a day at most. No cool-down is longer. */
const noticeMsMax = dayMs;

/** The circuits of this process, kept in step with those of others by small notices. */
export function startCircuits(options: CircuitsOptions): RunningCircuits {
  const { clock, log, channels } = options;
  const breakers = newEntryCache<string, CircuitBreaker>(breakersMax);
  const unclaimed = newEntryCache<string, Change>(breakersMax);
  const counts = { opened: 0, invalidNotices: 0 };
  let closed = false;
  for (const channel of channels) channel.listen(receive);

  return {
    processes: options.processes,
    counts,
    breaker(key, path, settings) {
      const id = `${key} ${path}`;
      const known = breakers.get(id);
      if (known) return known;
      const made = new CircuitBreaker(settings, clock, (change) => announce(key, path, settings, change));
      breakers.set(id, made);
      const noticed = unclaimed.get(id);
      if (noticed) {
        unclaimed.delete(id);
        made.learn(noticed);
      }
      return made;
    },
    openBreakers() {
      let open = 0;
      for (const breaker of breakers.values()) if (breaker.isOpen()) open++;
      return open;
    },
    close() {
      closed = true;
      for (const channel of channels) channel.close();
    },
  };

  function announce(key: string, path: string, settings: BreakerSettings, change: Change): void {
    if (change.state === 'open') {
      counts.opened++;
      log.warn({ config: key, target: path, forMs: settings.cooldownMs }, 'circuit of a target opened');
    } else if (change.state === 'closed') {
      log.info({ config: key, target: path }, 'circuit of a target closed');
    }
    if (closed) return;
    for (const channel of channels) channel.send({ key, path, ...change });
  }

  function receive(input: unknown): void {
    if (closed) return;
    const notice = readNotice(circuitNotice, input, circuitNoticeBytesMax);
    if (!notice) {
      counts.invalidNotices++;
      return;
    }
    const id = `${notice.key} ${notice.path}`;
    const breaker = breakers.peek(id);
    if (breaker) breaker.learn(notice);
    else if (notice.state === 'closed') unclaimed.delete(id);
    else {
      const until = Math.min(notice.until, clock.now() + noticeMsMax);
      // A config that is not in use yet may be used soon. Its first request then uses the state other gateways reported.
      if (notice.state === 'open' && until > clock.now()) unclaimed.set(id, { state: 'open', until });
    }
  }
}
