import type { Breaker, BreakerSettings, CircuitNotice } from '../contract/plugin/services/circuits.ts';
import type { Clock } from '../contract/values/time/clock.ts';

/** State change that a circuit reports to other gateways. */
export type Change = Pick<CircuitNotice, 'state' | 'until'>;

/**
 * closed → open → one trial call → closed or open again.
 *
 * Closed: failures are counted from the first one on for the length of a cool-down, then the count restarts. Open: nothing is
 * counted, because calls are sent only if there is no other target. After the cool-down one trial call is allowed. Other calls
 * wait for it, for one cool-down at most.
 */
export class CircuitBreaker implements Breaker {
  readonly settings: BreakerSettings;
  readonly #clock: Clock;
  readonly #announce: (change: Change) => void;
  #state: 'closed' | 'open' | 'trial' = 'closed';
  #failures = 0;
  #successes = 0;
  /** Monotonic ms: end of the count while closed, of the cool-down while open, of the wait for the trial. */
  #untilMs = 0;
  #trials = 0;
  /** Number of the trial of this process; 0 if there is none or another process makes it. */
  #trial = 0;

  constructor(settings: BreakerSettings, clock: Clock, announce: (change: Change) => void) {
    this.settings = settings;
    this.#clock = clock;
    this.#announce = announce;
  }

  isOpen(): boolean {
    return this.#state !== 'closed' && this.#clock.elapsed() < this.#untilMs;
  }

  begin(): number {
    if (this.#state === 'closed' || this.isOpen()) return 0;
    this.#trial = ++this.#trials;
    this.#change('trial', this.settings.cooldownMs);
    return this.#trial;
  }

  end(trial: number, failed: boolean | null): void {
    if (trial > 0) this.#endTrial(trial, failed);
    else if (this.#state === 'closed' && failed !== null) this.#count(failed);
  }

  /**
   * Applies a notice of another gateway. It lasts at most the circuit's own cool-down. A trial notice never opens a closed
   * circuit.
   */
  learn(change: Change): void {
    const restMs = Math.min(Math.max(0, change.until - this.#clock.now()), this.settings.cooldownMs);
    this.#trial = 0;
    if (change.state === 'closed') this.#close();
    else if (change.state === 'open') this.#set('open', restMs);
    else if (this.#state !== 'closed') this.#set('trial', restMs);
  }

  #endTrial(trial: number, failed: boolean | null): void {
    // A notice has arrived meanwhile, or this trial timed out and another one started.
    if (trial !== this.#trial) return;
    this.#trial = 0;
    if (failed === false) {
      this.#close();
      this.#announce({ state: 'closed', until: 0 });
    } else {
      // A trial without a result allows the next call to be the trial.
      this.#change('open', failed === null ? 0 : this.settings.cooldownMs);
    }
  }

  #count(failed: boolean): void {
    const nowMs = this.#clock.elapsed();
    if (this.#failures > 0 && nowMs > this.#untilMs) this.#close();
    if (this.#failures === 0) {
      if (!failed) return;
      this.#untilMs = nowMs + this.settings.cooldownMs;
    }
    if (failed) this.#failures++;
    else this.#successes++;
    const { failureThreshold, failurePercent, requestsMin } = this.settings;
    const requests = this.#failures + this.#successes;
    const tooMany = failureThreshold !== null && this.#failures >= failureThreshold;
    const tooLarge = failurePercent !== null && requests >= requestsMin && this.#failures * 100 >= failurePercent * requests;
    if (tooMany || tooLarge) this.#change('open', this.settings.cooldownMs);
  }

  #change(state: 'open' | 'trial', restMs: number): void {
    this.#set(state, restMs);
    this.#announce({ state: state === 'open' ? 'open' : 'half-open', until: Math.round(this.#clock.now() + restMs) });
  }

  #set(state: 'open' | 'trial', restMs: number): void {
    this.#state = state;
    this.#untilMs = this.#clock.elapsed() + restMs;
    this.#failures = 0;
    this.#successes = 0;
  }

  #close(): void {
    this.#state = 'closed';
    this.#failures = 0;
    this.#successes = 0;
  }
}
