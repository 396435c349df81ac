import * as v from 'valibot';
import { type InternalFetch, internalPaths, type RecordsReply, recordsReply } from '../contract/protocol/internal-api.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import { backoffMs } from '../contract/values/time/backoff.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { realTimers, type Timers } from '../contract/values/time/timers.ts';
import { type Batch, BatchReader } from './batch-reader.ts';
import type { RefusedRecords } from './refused-records.ts';
import type { Spool } from './spool.ts';

const restMsMax = 1000;
const largeBacklogBytes = 256 * 1024 * 1024;

export interface ShipperOptions {
  readonly spool: Spool;
  readonly refused: RefusedRecords;
  readonly fetch: InternalFetch;
  readonly clock: Clock;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: Log;
  readonly timers?: Timers;
  /** Pause after a full batch, as a multiple of the time the batch took. Default 3. */
  readonly restFactor?: number;
}

/**
 * Counts since start. `torn`: incomplete last lines of killed processes. `refused`: rejected by the control plane, see
 * RefusedRecords.
 */
export interface ShipperCounts {
  batches: number;
  inserted: number;
  duplicates: number;
  refused: number;
  torn: number;
  failures: number;
}

const recordsMax = 500;
/** Time that a record waits for others while there is little traffic. */
const gatherMs = 100;
const timeoutMs = 10_000;
const backoff = { firstMs: 100, maxMs: 1_000 };

/**
 * Ships the spool in batches, oldest first, one at a time, each until it is confirmed (at least once). Records that are shipped
 * again after a crash are recognised by their id. While the control plane is unreachable, attempts continue without limit.
 */
export class Shipper {
  readonly counts: ShipperCounts = { batches: 0, inserted: 0, duplicates: 0, refused: 0, torn: 0, failures: 0 };
  readonly #options: ShipperOptions;
  readonly #timers: Timers;
  readonly #reader = new BatchReader();
  #cancelTimer: (() => void) | null = null;
  #running: Promise<void> | null = null;
  /** Consecutive failures. */
  #failed = 0;
  /** Halved while a batch is rejected as a whole, until the invalid record is alone. */
  #recordsMax = recordsMax;
  #stopped = false;
  #endRest: (() => void) | null = null;
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(options: ShipperOptions) {
    this.#options = options;
    this.#timers = options.timers ?? realTimers;
    options.spool.onAppend = () => this.#wake();
    this.#wake();
  }

  /** Ships all records without waiting for more. Resolves true when the spool is empty, false when `withinMs` has passed. */
  async drain(withinMs: number): Promise<boolean> {
    const { clock, spool, random } = this.#options;
    this.#deadlineMs = clock.elapsed() + withinMs;
    this.#endRest?.();
    spool.flush();
    while (!this.#stopped && spool.next() !== null && this.#leftMs() > 0) {
      this.#cancel();
      // A batch that is already in transit may take longer than the time left.
      await Promise.race([this.#run(), this.#pause(this.#leftMs())]);
      if (this.#failed > 0) await this.#pause(Math.min(this.#leftMs(), backoff.firstMs * (0.5 + random())));
    }
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    return spool.next() === null;
  }

  /** Sends no further batches. Resolves when the current batch has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#endRest?.();
    this.#options.spool.onAppend = () => {};
    this.#cancel();
    await this.#running;
    await this.#reader.close();
  }

  /** Called for every record: one comparison when a round is already due. */
  #wake(): void {
    if (this.#cancelTimer !== null || this.#running !== null || this.#stopped) return;
    this.#schedule(gatherMs);
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer = this.#timers.after(delayMs, () => {
      this.#cancelTimer = null;
      void this.#run();
    });
  }

  #cancel(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  /** Ships until there is no full batch left or a batch fails. Only one run at a time. */
  #run(): Promise<void> {
    this.#running ??= this.#ship().finally(() => {
      this.#running = null;
      if (this.#stopped || this.#cancelTimer !== null) return;
      if (this.#failed > 0) this.#schedule(this.#pauseMs());
      else if (this.#options.spool.next() !== null) this.#schedule(gatherMs);
    });
    return this.#running;
  }

  async #ship(): Promise<void> {
    for (;;) {
      const segment = this.#options.spool.next();
      if (this.#stopped || segment === null || this.#leftMs() <= 0) return;
      const beganMs = this.#options.clock.elapsed();
      try {
        const batch = await this.#reader.read(segment, this.#recordsMax);
        if (batch === null) this.#skipTorn(segment);
        else if (!(await this.#send(batch))) return;
        else if (segment.fd !== null && batch.records < recordsMax && this.#recordsMax === recordsMax) return;
        else await this.#rest(this.#options.clock.elapsed() - beganMs);
      } catch (error) {
        const { code, path } = error as NodeJS.ErrnoException;
        if (code !== 'ENOENT' || path !== segment.path) {
          this.#fail(error);
          return;
        }
        this.#options.spool.abandon(segment);
      }
    }
  }

  /**
   * Pauses after a full batch for three times its length, so that the records of a busy gateway take at most a quarter of the
   * control plane's time, and administrators get the rest. The pause is shorter if the backlog is large.
   */
  async #rest(tookMs: number): Promise<void> {
    const restMs = Math.min(restMsMax, (this.#options.restFactor ?? 3) * tookMs);
    if (restMs < 1 || this.#stopped || this.#deadlineMs !== Number.POSITIVE_INFINITY) return;
    if (this.#options.spool.backlog().bytes > largeBacklogBytes) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#timers.after(restMs, resolve);
      // `stop` and `drain` do not wait for the rest to end.
      this.#endRest = () => {
        cancel();
        resolve();
      };
    });
    this.#endRest = null;
  }

  /** Returns true if the batch is finished or a smaller one is sent next; false after a failure. */
  async #send(batch: Batch): Promise<boolean> {
    const { fetch } = this.#options;
    this.counts.batches += 1;
    const reply = await fetch('POST', internalPaths.records, batch.body, Math.min(timeoutMs, this.#leftMs()));
    if (reply.status === 400 || reply.status === 413 || reply.status === 422) {
      this.#narrow(batch);
      return true;
    }
    if (reply.status !== 200) throw new Error(`the control plane replied with ${reply.status}`);
    this.#confirm(batch, v.parse(recordsReply, JSON.parse(Buffer.from(reply.body).toString('utf8'))));
    return true;
  }

  #confirm(batch: Batch, reply: RecordsReply): void {
    this.counts.inserted += reply.inserted;
    this.counts.duplicates += reply.duplicates;
    if (reply.rejected.length > 0) {
      this.counts.refused += reply.rejected.length;
      this.#options.refused.keepSome(batch.body, new Set(reply.rejected));
    }
    this.#done(batch);
  }

  /**
   * Bisects the batch to isolate a record that the control plane cannot read. Such a record would block all later ones, so it is
   * set aside.
   */
  #narrow(batch: Batch): void {
    if (batch.records > 1) {
      this.#recordsMax = Math.ceil(batch.records / 2);
      return;
    }
    this.counts.refused += 1;
    this.#options.refused.keep(batch.body.subarray(1, -1));
    this.#done(batch);
  }

  #done(batch: Batch): void {
    if (this.#failed > 0) this.#options.log.info({ failures: this.#failed }, 'sending records works again');
    this.#failed = 0;
    this.#recordsMax = Math.min(recordsMax, this.#recordsMax * 2);
    this.#options.spool.confirm(batch.segment, batch.endBytes);
  }

  #skipTorn(segment: Parameters<Spool['confirm']>[0]): void {
    this.counts.torn += 1;
    this.#options.log.warn(
      { bytes: segment.bytes - segment.shippedBytes },
      'an incomplete record of a killed process was skipped',
    );
    this.#options.spool.confirm(segment, segment.bytes);
  }

  #fail(error: unknown): void {
    this.counts.failures += 1;
    this.#failed += 1;
    if (this.#failed === 1) {
      const reason = messageOf(error);
      this.#options.log.warn({ reason }, 'cannot send records to the control plane; they wait in the spool');
    }
  }

  #pauseMs(): number {
    return backoffMs(backoff, this.#failed, this.#options.random);
  }

  #leftMs(): number {
    return this.#deadlineMs - this.#options.clock.elapsed();
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#timers.after(delayMs, resolve));
  }
}
