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
  /** Replies whose request body is still arriving, with the deadline of the body, in order of arrival. */
  readonly #receiving = new Map<UwsReplySink, number>();

  constructor(times: UploadTimes) {
    this.#times = times;
    this.#sweepEveryMs = Math.min(sweepMs, times.bodyTimeoutMs, times.stallMs);
    this.#sweeper = setInterval(() => this.#sweep(), this.#sweepEveryMs);
    this.#sweeper.unref();
  }

  begin(sink: UwsReplySink): void {
    this.#receiving.set(sink, this.#sweptAtMs + this.#times.bodyTimeoutMs + this.#sweepEveryMs);
  }

  /** The body is complete, or its reply is. Safe to call again. */
  end(sink: UwsReplySink): void {
    this.#receiving.delete(sink);
  }

  close(): void {
    clearInterval(this.#sweeper);
  }

  #sweep(): void {
    this.#sweptAtMs = performance.now();
    for (const sink of this.#receiving.keys()) sink.body?.sweep(this.#sweptAtMs, this.#times.stallMs);
    for (const [sink, deadline] of this.#receiving) {
      if (deadline > this.#sweptAtMs) return;
      this.#receiving.delete(sink);
      sink.expire();
    }
  }
}
