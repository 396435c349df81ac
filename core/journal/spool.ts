import { rmdirSync, unlinkSync } from 'node:fs';
import type { Journal } from '../contract/plugin/core-plugin.ts';
import type { CallHold } from '../contract/plugin/record/call-hold.ts';
import type { RequestRecord } from '../contract/plugin/record/record.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { RecordEncoder } from './encode-record.ts';
import { LineBuffer } from './line-buffer.ts';
import { findHolds, OpenHolds } from './open-holds.ts';
import { appendLines, closeSegment, createSegment, deleteSegment, emptySegment, findSegments, type Segment } from './segment.ts';

export interface SpoolOptions {
  /** Directory of this process alone: `DATA_DIR/spool/<slot>`. */
  readonly directory: string;
  /** Directories of slots that no longer exist. Their segments are shipped too. */
  readonly orphans?: readonly string[];
  /** Maximum bytes on disk. Beyond that records are rejected. */
  readonly bytesMax: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 8 MiB. */
  readonly segmentBytesMax?: number;
}

/**
 * Counts since start. `appended`: records on disk. `lost`: records that were refused to the caller by a throw, or were in memory when the
 * process ended while its disk failed, and one for each deleted file. `interrupted`: calls that were in flight when earlier processes were killed.
 */
export interface SpoolCounts {
  appended: number;
  lost: number;
  interrupted: number;
}

/** Maximum bytes of a line. Of a longer record, the texts that callers and providers control are cut off. */
const lineBytesMax = 128 * 1024;
/** Lines of one turn are written at once up to this size. */
const gatheredBytesMax = 1024 * 1024;
const probeEveryMs = 1000;
const probeBytes = 64 * 1024;

/**
 * The records of this process until the control plane has confirmed them, one JSON line each, in files. The records of one turn
 * of the event loop are passed to the kernel in one write at its end. `whenSafe` reports when that is done. Written records
 * survive the process. (The file is not synced: a power failure may lose the last seconds.) Gathering saved 5 % of the CPU time
 * of a plain call with 64 connections (`npm run bench -- --only plain`).
 */
export class Spool implements Journal {
  readonly counts: SpoolCounts = { appended: 0, lost: 0, interrupted: 0 };
  /** Called after each write; must be cheap. */
  onAppend: () => void = () => {};
  readonly #options: SpoolOptions;
  readonly #segmentBytesMax: number;
  /** Oldest first; the last one may be open. */
  readonly #segments: Segment[];
  /** Segments left by earlier processes. */
  readonly #inherited: readonly Segment[];
  #bytes: number;
  /** The last result of the check for room. It is logged when it changes, not for every request. */
  #full = false;
  /** Monotonic ms of the last failed write or probe. Null if there is no failure. */
  #failedAtMs: number | null = null;
  readonly #encoder = new RecordEncoder();
  #retry: NodeJS.Timeout | null = null;
  /** Lines gathered in this turn, and those before them that the disk did not take. */
  readonly #gathered = new LineBuffer(gatheredBytesMax);
  #gatheredRecords = 0;
  #waiting: (() => void)[] = [];
  #flushing = false;
  readonly #holds: OpenHolds;

  /** Throws if the directory cannot be read or created. */
  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#segmentBytesMax = options.segmentBytesMax ?? 8 * 1024 * 1024;
    const { directory, orphans = [], clock } = options;
    this.#segments = [...orphans, directory].flatMap(findSegments);
    // Records of interrupted calls are written first, because a stored record is not replaced.
    this.#takeOver([...orphans, directory]);
    this.#inherited = [...this.#segments];
    this.#holds = new OpenHolds(directory, clock.now);
    for (const orphan of orphans) removeEmpty(orphan);
    this.#bytes = this.#segments.reduce((sum, segment) => sum + segment.bytes, 0);
    this.#segments.push(createSegment(directory, clock.now()));
  }

  /** Throws GatewayError `unavailable` if the limit is reached or the last write failed. */
  append(record: RequestRecord): void {
    const gathered = this.#gathered;
    if (gathered.length > gatheredBytesMax - lineBytesMax) {
      this.flush();
      if (gathered.length > 0) throw this.#lose('the disk of the spool fails, and the memory for records is full');
    }
    const before = gathered.length;
    this.#encoder.add(gathered, record);
    if (gathered.length - before > lineBytesMax) {
      gathered.clear(before);
      this.#encoder.add(gathered, shorten(record));
    }
    if (this.#bytes + gathered.length > this.#options.bytesMax) {
      gathered.clear(before);
      throw this.#lose('the spool is full (SPOOL_MAX)');
    }
    this.#gatheredRecords += 1;
    this.#holds.close(record.id);
    this.#flushSoon();
  }

  hold(hold: CallHold): void {
    this.#holds.open(hold);
    this.#flushSoon();
  }

  isHeld(id: string): boolean {
    return this.#holds.has(id);
  }

  /** Calls back when every record appended so far is on disk, or waits in memory because its write failed. */
  whenSafe(callback: () => void): void {
    if (this.#flushing) this.#waiting.push(callback);
    else callback();
  }

  /**
   * Writes the gathered records. Never throws: a failed write makes the spool unhealthy. The records then stay in memory until the disk
   * takes them, because their calls were made before it failed.
   */
  flush(): void {
    this.#flushing = false;
    const bytes = this.#gathered.length;
    const newest = this.#segments.at(-1);
    if (bytes > 0) {
      try {
        appendLines(this.#open(bytes), this.#gathered.bytes);
        this.#bytes += bytes;
        this.counts.appended += this.#gatheredRecords;
        this.#gathered.clear();
        this.#gatheredRecords = 0;
        this.onAppend();
      } catch (error) {
        this.#fail(error);
      }
    }
    // Written after the records, because a hold ends when its record is on disk.
    if (this.#gathered.length === 0)
      this.#writeHolds(() => (newest === this.#segments.at(-1) ? this.#holds.flush() : this.#holds.flushEnds()));
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const callback of waiting) callback();
  }

  /**
   * Returns true if the next record can be stored. Call it before accepting a request that must be recorded. After a failed write
   * it retries the disk, at most once a second.
   */
  healthy(): boolean {
    if (this.#failedAtMs !== null) {
      if (this.#options.clock.elapsed() - this.#failedAtMs < probeEveryMs) return false;
      if (!this.#probe()) return false;
    }
    // Requests in progress still need space for their records.
    const full = this.#bytes >= this.#options.bytesMax * 0.95;
    if (full !== this.#full) this.#logFull(full);
    return !full;
  }

  get bytesMax(): number {
    return this.#options.bytesMax;
  }

  /** The backlog on disk. `bytes` counts everything that takes up space there. */
  backlog(): { readonly bytes: number; readonly segments: number } {
    return { bytes: this.#bytes, segments: this.#segments.length };
  }

  /** True when everything that earlier processes have left is confirmed. */
  inheritedIsShipped(): boolean {
    return this.#inherited.every((segment) => segment.shippedBytes >= segment.bytes);
  }

  /** Returns the oldest segment that is not fully shipped. Null if everything is shipped. */
  next(): Segment | null {
    for (const segment of this.#segments) if (segment.shippedBytes < segment.bytes) return segment;
    return null;
  }

  /** Notes that the control plane has confirmed everything up to this byte. A fully shipped segment is removed from disk. */
  confirm(segment: Segment, shippedBytes: number): void {
    segment.shippedBytes = shippedBytes;
    if (shippedBytes < segment.bytes) return;
    // The records of these ends must be on disk before them, so the gathered ones are written first.
    if (this.#gathered.length > 0) this.flush();
    if (shippedBytes < segment.bytes) return;
    // Without the ends, a killed process leaves interrupted records of calls that are stored. They change nothing.
    if (this.#gathered.length === 0) this.#writeHolds(() => this.#holds.flushEnds());
    this.#remove(segment);
  }

  /** Gives up a segment whose file was deleted, so that it does not hold up later ones. The number of its records is unknown. */
  abandon(segment: Segment): void {
    this.#options.log.error(
      { file: segment.path, bytes: segment.bytes - segment.shippedBytes },
      'a file of the spool in DATA_DIR was deleted; its records are lost',
    );
    this.counts.lost += 1;
    closeSegment(segment);
    this.#bytes -= segment.bytes;
    this.#segments.splice(this.#segments.indexOf(segment), 1);
  }

  /** Removes a segment without records that are to be shipped. */
  #remove(segment: Segment): void {
    const bytes = segment.bytes;
    try {
      if (segment.fd === null) deleteSegment(segment);
      else emptySegment(segment);
    } catch (error) {
      this.#options.log.warn({ reason: messageOf(error) }, 'cannot remove a sent file of the spool');
      // An open segment is retried with the next batch. A closed one is shipped again after a restart, which has no effect.
      if (segment.fd !== null) return;
    }
    this.#bytes -= bytes;
    if (segment.fd === null) this.#segments.splice(this.#segments.indexOf(segment), 1);
  }

  /** Accepts no further records. The records on disk stay there for the next process of this slot. */
  close(): void {
    this.flush();
    this.counts.lost += this.#gatheredRecords;
    if (this.#retry !== null) clearTimeout(this.#retry);
    // The holds of records that are lost stay for the next process.
    this.#writeHolds(() => (this.#gatheredRecords === 0 ? this.#holds.end() : this.#holds.leave()));
    for (const segment of this.#segments) closeSegment(segment);
    for (const segment of this.#segments.filter((one) => one.bytes === 0)) this.#remove(segment);
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.flush());
  }

  /** Never throws: a failed write makes the spool unhealthy. */
  #writeHolds(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Writes a record for each call that was in flight when its process was killed, and ends its hold. */
  #takeOver(directories: readonly string[]): void {
    const { directory, clock, log } = this.#options;
    const { records, paths } = findHolds(directories);
    if (records.length > 0) {
      const segment = createSegment(directory, clock.now());
      appendLines(segment, Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join('')));
      closeSegment(segment);
      this.#segments.push(segment);
      this.counts.interrupted = records.length;
      log.warn({ calls: records.length }, 'calls were in flight when a gateway process was killed: recorded as interrupted');
    }
    for (const path of paths) unlinkSync(path);
  }

  #open(lineBytes: number): Segment {
    const last = this.#segments.at(-1);
    if (last && last.fd !== null && (last.bytes === 0 || last.bytes + lineBytes <= this.#segmentBytesMax)) return last;
    if (last) closeSegment(last);
    const segment = createSegment(this.#options.directory, this.#options.clock.now());
    this.#segments.push(segment);
    return segment;
  }

  #fail(error: unknown): void {
    if (this.#failedAtMs === null) {
      const { directory, log } = this.#options;
      log.error(
        { reason: messageOf(error), directory },
        'cannot write to the spool in DATA_DIR; requests are rejected until it can be written',
      );
    }
    this.#failedAtMs = this.#options.clock.elapsed();
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      if (this.#failedAtMs !== null) this.#probe();
    }, probeEveryMs + 1).unref();
    const last = this.#segments.at(-1);
    if (!last) return;
    closeSegment(last);
    if (last.bytes === 0) this.#remove(last);
  }

  #logFull(full: boolean): void {
    this.#full = full;
    const fields = { bytes: this.#bytes, bytesMax: this.#options.bytesMax };
    if (!full) return this.#options.log.info(fields, 'the spool has space again');
    this.#options.log.error(
      fields,
      'the spool is full and requests are rejected; check why records cannot be sent, or raise SPOOL_MAX',
    );
  }

  #lose(detail: string): GatewayError {
    this.counts.lost += 1;
    return new GatewayError('unavailable', {
      message: 'The gateway cannot store request records. Try again shortly',
      detail,
      retryAfterMs: probeEveryMs,
    });
  }

  /** Writes more than the size of a record, because a full disk often still accepts a few bytes. */
  #probe(): boolean {
    try {
      const segment = this.#open(probeBytes);
      const bytes = segment.bytes;
      appendLines(segment, Buffer.alloc(probeBytes, ' '));
      segment.bytes = bytes;
      closeSegment(segment);
      if (bytes === 0) this.#remove(segment);
      this.#failedAtMs = null;
      this.#options.log.info({}, 'writing to the spool works again');
      this.flush();
      return this.#failedAtMs === null;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }
}

/** Removes the directory of a slot that no longer exists, once nothing is in it. */
function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // The directory still has segments to ship. The next start removes it.
  }
}

/** Removes or shortens the fields that callers or providers can make arbitrarily long. */
function shorten(record: RequestRecord): RequestRecord {
  return {
    ...record,
    rawUsage: null,
    metadata: {},
    path: record.path.slice(0, 2000),
    errorMessage: record.errorMessage?.slice(0, 2000) ?? null,
    model: record.model?.slice(0, 500) ?? null,
    attempts: record.attempts.slice(-50),
  };
}
