import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import * as v from 'valibot';
import { reasonOf } from '../../contract/values/errors/errors.ts';
import type { Log } from '../../contract/values/log/log.ts';
import { backoffMs } from '../../contract/values/time/backoff.ts';
import type { Timers } from '../../contract/values/time/timers.ts';
import type { Signal } from './messages.ts';
import type { OtlpOptions } from './options.ts';
import { decodeProtobufResponse, encodeProtobuf } from './protobuf.ts';

/** Sends one request. Rejects if no whole response arrives in time. */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  timeoutMs: number,
) => Promise<{ readonly status: number; readonly retryAfterMs: number | null; readonly body: Uint8Array }>;

export interface ExporterOptions<Item> {
  readonly signal: Signal;
  readonly url: string;
  readonly otlp: OtlpOptions;
  readonly toMessage: (items: readonly Item[]) => object;
  /** Returns the characters of an item if they may be many. */
  readonly charsOf?: (item: Item) => number;
  readonly post: Post;
  readonly timers: Timers;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Items since start by outcome. `queueFull`: dropped because the queue had reached its limit · `rejected`: the collector rejected them
 * · `lost`: in the queue when the process ended.
 */
export interface ExporterCounts {
  exported: number;
  queueFull: number;
  rejected: number;
  lost: number;
}

const compress = promisify(gzip);
/** Maximum of one batch, beside a last item. The Collector rejects requests of more than 20 MiB, and others have lower limits. */
const batchCharsMax = 2 * 1024 * 1024;
const backoff = { firstMs: 1_000, maxMs: 30_000 };
/** Longer delays that a collector asks for have no effect. */
const askedMsMax = 10_000_000;
/** The protocol's list of statuses after which the same request may succeed. */
const retried: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Sends items to a collector in batches, one request at a time. The queue is bounded: if the collector is slow or away, new items are
 * dropped and counted. A batch is sent again after errors that may pass, with growing pauses.
 */
export class OtlpExporter<Item> {
  readonly counts: ExporterCounts = { exported: 0, queueFull: 0, rejected: 0, lost: 0 };
  readonly signal: Signal;
  readonly #options: ExporterOptions<Item>;
  #queue: Item[] = [];
  #cancelTimer: (() => void) | null = null;
  /** Resolves to false after a failure. */
  #running: Promise<boolean> | null = null;
  /** Consecutive failures. */
  #failed = 0;
  #closing = false;

  constructor(options: ExporterOptions<Item>) {
    this.#options = options;
    this.signal = options.signal;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Adds an item. Never throws and never waits. */
  add(item: Item): void {
    const { queueMax, batchMax, delayMs } = this.#options.otlp;
    if (this.#closing || this.#queue.length >= queueMax) {
      this.counts.queueFull += 1;
      return;
    }
    this.#queue.push(item);
    if (this.#running !== null) return;
    if (this.#queue.length >= batchMax && this.#failed === 0) void this.#run();
    else if (this.#cancelTimer === null) this.#schedule(delayMs);
  }

  /** Sends the queue for at most `withinMs`. The rest is lost. */
  async close(withinMs: number): Promise<void> {
    this.#closing = true;
    const { timers } = this.#options;
    let cancel = (): void => {};
    const deadline = new Promise<void>((resolve) => {
      cancel = timers.after(withinMs, resolve);
    });
    await Promise.race([this.#drain(), deadline]);
    cancel();
    this.#cancelTimer?.();
    this.counts.lost += this.#queue.length;
    this.#queue = [];
  }

  async #drain(): Promise<void> {
    await this.#running;
    while (this.#queue.length > 0) if (!(await this.#run())) return;
  }

  #schedule(ms: number): void {
    this.#cancelTimer = this.#options.timers.after(ms, () => {
      this.#cancelTimer = null;
      void this.#run();
    });
  }

  /** Sends batches until less than one is left or one fails. A batch ends at a number of items, or earlier at a number of characters. */
  #run(): Promise<boolean> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#running ??= this.#send().then((pauseMs) => {
      this.#running = null;
      if (this.#queue.length > 0 && !this.#closing) this.#schedule(pauseMs ?? this.#options.otlp.delayMs);
      return pauseMs === null;
    });
    return this.#running;
  }

  /** Returns the pause before the next attempt; null after success. */
  async #send(): Promise<number | null> {
    const { batchMax } = this.#options.otlp;
    let isFull = false;
    do {
      const batch = this.#nextBatch();
      isFull = batch.length < Math.min(batchMax, this.#queue.length);
      let askedMs = 0;
      try {
        const response = await this.#post(batch);
        if (retried.has(response.status)) {
          askedMs = response.retryAfterMs ?? 0;
          throw new Error(`the collector replied with ${response.status}`);
        }
        this.#finish(batch.length, response);
      } catch (error) {
        return this.#fail(error, askedMs);
      }
    } while (isFull || this.#queue.length >= batchMax);
    return null;
  }

  #nextBatch(): Item[] {
    const { otlp, charsOf } = this.#options;
    const batch = this.#queue.slice(0, otlp.batchMax);
    if (charsOf === undefined) return batch;
    let chars = 0;
    const last = batch.findIndex((item) => {
      chars += charsOf(item);
      return chars > batchCharsMax;
    });
    return last === -1 ? batch : batch.slice(0, last + 1);
  }

  async #post(batch: readonly Item[]): ReturnType<Post> {
    const { signal, url, otlp, toMessage, post } = this.#options;
    const message = toMessage(batch);
    const isJson = otlp.protocol === 'http/json';
    const plain = isJson ? Buffer.from(JSON.stringify(message)) : encodeProtobuf(signal, message);
    const headers = { ...otlp.headers, 'content-type': isJson ? 'application/json' : 'application/x-protobuf' };
    if (otlp.compression === 'none') return post(url, headers, plain, otlp.timeoutMs);
    return post(url, { ...headers, 'content-encoding': 'gzip' }, await compress(plain), otlp.timeoutMs);
  }

  #finish(sent: number, { status, body }: Awaited<ReturnType<Post>>): void {
    const { log, signal, url } = this.#options;
    this.#queue.splice(0, sent);
    const isAccepted = status >= 200 && status < 300;
    const { rejected, reason } = isAccepted ? this.#rejectedOf(body) : { rejected: sent, reason: `status ${status}` };
    this.counts.rejected += Math.min(sent, rejected);
    this.counts.exported += Math.max(0, sent - rejected);
    if (rejected > 0) log.warn({ signal, url: withoutQuery(url), items: rejected, reason }, 'the collector rejected telemetry');
    if (this.#failed > 0) log.info({ signal, failures: this.#failed }, 'sending telemetry works again');
    this.#failed = 0;
  }

  /** The number of items that an accepting response rejects. A response in another form rejects none. */
  #rejectedOf(body: Uint8Array): { rejected: number; reason: string } {
    try {
      const isJson = this.#options.otlp.protocol === 'http/json';
      const given: unknown =
        body.length === 0 ? {} : isJson ? JSON.parse(Buffer.from(body).toString()) : decodeProtobufResponse(body);
      const { partialSuccess = {} } = v.parse(partialResponse, given);
      const { rejected, rejectedSpans, rejectedLogRecords, rejectedDataPoints, errorMessage = '' } = partialSuccess;
      const count = Number(rejected ?? rejectedSpans ?? rejectedLogRecords ?? rejectedDataPoints ?? 0);
      return { rejected: count > 0 ? count : 0, reason: errorMessage.slice(0, 300) };
    } catch {
      return { rejected: 0, reason: '' };
    }
  }

  #fail(error: unknown, askedMs: number): number {
    const { log, signal, url, random } = this.#options;
    this.#failed += 1;
    if (this.#failed === 1)
      log.warn({ signal, url: withoutQuery(url), reason: reasonOf(error) }, 'cannot send telemetry; it waits in memory');
    return Math.max(askedMs < askedMsMax ? askedMs : 0, backoffMs(backoff, this.#failed, random));
  }
}

const count = v.optional(v.union([v.number(), v.string()]));
const partialResponse = v.object({
  partialSuccess: v.optional(
    v.object({
      rejected: count,
      rejectedSpans: count,
      rejectedLogRecords: count,
      rejectedDataPoints: count,
      errorMessage: v.optional(v.string()),
    }),
  ),
});

/** A query may hold a credential. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*$/, '');
}
