import * as v from 'valibot';

/** Largest notice in bytes. Longer notices are ignored. */
export const circuitNoticeBytesMax = 2048;

/**
 * Reports that a circuit changed its state. The notice is a hint: the receiver validates it, limits `until` to its own cool-down
 * and drops it after that time. If a notice is lost, the other gateways detect the failures themselves.
 */
export const circuitNotice = v.object({
  /** `<organisation id>:<workspace id>:<config slug>:<version id>` */
  key: v.pipe(v.string(), v.minLength(1), v.maxLength(600)),
  path: v.pipe(v.string(), v.maxLength(200), v.regex(/^config(\.targets\[\d{1,4}\]){0,8}$/)),
  state: v.picklist(['open', 'half-open', 'closed']),
  /** Milliseconds since the epoch: end of the cool-down, or of the wait for a trial call; 0 for `closed`. */
  until: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});
export type CircuitNotice = v.InferOutput<typeof circuitNotice>;

/** Conditions under which the circuit of a target opens, and for how long. */
export interface BreakerSettings {
  /** Failures that open it; null = the share alone decides. */
  readonly failureThreshold: number | null;
  /** Share of failures that opens it, 0 to 100; null = the count alone decides. */
  readonly failurePercent: number | null;
  /** Minimum number of calls before the share counts. */
  readonly requestsMin: number;
  /** Time for which a circuit stays open, and for which failures count after the first one. */
  readonly cooldownMs: number;
  /** Statuses that are failures; null = 500 and above. */
  readonly statusCodes: readonly number[] | null;
}

/** The circuit of one target of one version of a saved config. */
export interface Breaker {
  /** True while the target must be skipped: it cools down, or a trial call is in progress. */
  isOpen(): boolean;
  /**
   * Notes the start of a call to the target. Returns the number of the trial if the call is the one trial after a cool-down, else
   * 0.
   */
  begin(): number;
  /**
   * Notes the end of the call. `failed` is null if the call shows nothing about the target. `trial` is the value that `begin`
   * returned.
   */
  end(trial: number, failed: boolean | null): void;
}

/** State of targets that outlives a single plan, as seen by this process. */
export interface Circuits {
  /** Number of gateway processes on this machine. They share every figure that applies to the machine. */
  readonly processes: number;
  /** Returns the circuit of a target, always the same one for the same key and path. */
  breaker(key: string, path: string, settings: BreakerSettings): Breaker;
}
