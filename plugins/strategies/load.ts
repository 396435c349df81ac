import type { Clock } from '../../core/contract/plugin/plugin.ts';
import { minuteMs } from '../../core/contract/values/time/durations.ts';
import { judgedStatus } from './judged-status.ts';
import type { Watch } from './watch.ts';

/** Requests in flight from this process to one child, and their latency. */
export class Load {
  inFlight = 0;
  readonly #clock: Clock;
  /** Latencies of whole replies and of streams, which cannot be compared. */
  readonly #latencies = [new Latency(), new Latency()] as const;
  /** Requests of the current minute and of the previous one. */
  #minute = 0;
  #requests = 0;
  #requestsBefore = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts the start and the end of requests. */
  readonly watch: Watch = (ctx) => {
    this.inFlight++;
    this.#turn();
    this.#requests++;
    return (last) => {
      this.inFlight--;
      const status = judgedStatus(last);
      if (status === null || last === null) return;
      const isFailure = status >= 500 || targetIssues.has(status);
      // A slow target may also reject invalid requests quickly, so errors of the caller are not measured.
      if (!isFailure && !last.ok) return;
      this.#latencies[ctx.stream ? 1 : 0].observe(this.#clock.elapsed(), last.firstByteMs, isFailure);
    };
  };

  /** Requests begun within the last minute: those of the current minute and the remaining share of the previous one. */
  requestsPerMinute(): number {
    this.#turn();
    const share = 1 - (this.#clock.elapsed() % minuteMs) / minuteMs;
    return this.#requests + this.#requestsBefore * share;
  }

  /** Recent milliseconds to the first byte. Null if there is no recent measurement. */
  latencyMs(isStream: boolean): number | null {
    return this.#latencies[isStream ? 1 : 0].value(this.#clock.elapsed());
  }

  #turn(): void {
    const minute = Math.floor(this.#clock.elapsed() / minuteMs);
    if (minute === this.#minute) return;
    this.#requestsBefore = minute === this.#minute + 1 ? this.#requests : 0;
    this.#requests = 0;
    this.#minute = minute;
  }
}

/** Statuses below 500 that the caller did not cause: rejected credential, timeout, too many requests. */
const targetIssues: ReadonlySet<number> = new Set([401, 402, 403, 408, 429]);
/** Weight of the newest call in the average. */
const share = 0.3;
/** Age from which measurements are ignored. */
const staleAfterMs = 60_000;
/** A failed call counts like a slow one, so that a target that rejects at once is not the fastest. */
const failureMs = 10_000;

/** Exponentially weighted moving average. */
class Latency {
  #averageMs = 0;
  #atMs = Number.NEGATIVE_INFINITY;

  observe(nowMs: number, ms: number, isFailure: boolean): void {
    const sampleMs = isFailure ? Math.max(ms, failureMs) : ms;
    const isFresh = nowMs - this.#atMs < staleAfterMs;
    this.#averageMs = isFresh ? this.#averageMs + share * (sampleMs - this.#averageMs) : sampleMs;
    this.#atMs = nowMs;
  }

  value(nowMs: number): number | null {
    return nowMs - this.#atMs < staleAfterMs ? this.#averageMs : null;
  }
}
