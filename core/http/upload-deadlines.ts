import { OpenItems } from '../contract/values/sharing/open-items.ts';
import type { UwsReplySink } from './write-reply.ts';

const sweepMs = 500;

export interface UploadTimes {
  /** Maximum time from the head of a request to the end of its body, in milliseconds. */
  readonly bodyTimeoutMs: number;
  /** Maximum time without a byte of a chunked body, in milliseconds. */
  readonly stallMs: number;
}

/** Cuts uploads that take too long, and chunked uploads that stop. The addon limits only the rate of uploads. */
export class UploadDeadlines {
  readonly #times: UploadTimes;
  readonly #sweepEveryMs: number;
  readonly #sweeper: NodeJS.Timeout;
  /** Time of the last sweep. It is precise enough for body deadlines and saves reading the clock for each request. */
  #sweptAtMs = performance.now();
  /** Replies whose request body is still arriving. */
  readonly #receiving = new OpenItems<UwsReplySink>();

  constructor(times: UploadTimes) {
    this.#times = times;
    this.#sweepEveryMs = Math.min(sweepMs, times.bodyTimeoutMs, times.stallMs);
    this.#sweeper = setInterval(() => this.#sweep(), this.#sweepEveryMs);
    this.#sweeper.unref();
  }

  begin(sink: UwsReplySink): void {
    sink.uploadDeadlineMs = this.#sweptAtMs + this.#times.bodyTimeoutMs + this.#sweepEveryMs;
    sink.uploadIndex = this.#receiving.add(sink);
  }

  /** The body is complete, or its reply is. Safe to call again. */
  end(sink: UwsReplySink): void {
    if (sink.uploadIndex < 0) return;
    this.#receiving.remove(sink.uploadIndex);
    sink.uploadIndex = -1;
  }

  close(): void {
    clearInterval(this.#sweeper);
  }

  #sweep(): void {
    this.#sweptAtMs = performance.now();
    for (const sink of this.#receiving) {
      sink.body?.sweep(this.#sweptAtMs, this.#times.stallMs);
      if (sink.uploadDeadlineMs > this.#sweptAtMs) continue;
      this.end(sink);
      sink.expire();
    }
  }
}
