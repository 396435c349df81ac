import { limitUnitsMax } from '../contract/protocol/limits/budget-rules.ts';
import {
  type Grant,
  type LeaseAccount,
  type LeaseAsk,
  type LimitSpec,
  refused,
  unavailable,
} from '../contract/protocol/limits/leases.ts';
import { windowStartMs } from '../contract/protocol/limits/limit-window.ts';
import type { Maybe } from '../contract/values/maybe.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { Contention } from './contention.ts';
import { Lease, leaseMarginMs, rulesOf, wantMin } from './lease.ts';
import { LeftLeases } from './left-leases.ts';
import { UsedUp } from './used-up.ts';
import { WaitingTakes } from './waiting-takes.ts';

/** The services an account needs for its exchange with the ledger. */
export interface AccountHost {
  readonly clock: Clock;
  readonly newId: () => string;
  /** Sends `question()` after `delayMs` and passes the reply to `granted` or `failed`. */
  wake(account: Account, delayMs: number): void;
  /** Requests other processes to return units of this budget that they do not need. */
  recall(account: Account): void;
}

/** One limit in this process: the units of its lease, which calls take without asking the ledger, and calls that wait for more. */
export class Account implements LeaseAccount {
  #spec: LimitSpec;
  startMs = 0;
  endMs = 0;
  /** Unused units of the lease. Negative after a call used more than it took. */
  available = 0;
  asking = false;
  heldElsewhere = 0;
  /** Monotonic time at which units were last taken or put. */
  usedAtMs = 0;
  readonly #host: AccountHost;
  readonly #waiting: WaitingTakes;
  readonly #contention: Contention;
  readonly #usedUp: UsedUp;
  #lease: Lease;
  readonly #left = new LeftLeases();
  #wants = false;
  /** Units of calls that are about to take them. */
  #expected = 0;
  #low = 0;
  #spent = 0;
  /** Units of this window that no process held at the last reply, plus those returned since. Null before the first reply. */
  #remaining: number | null = null;
  #leaseUntilMs = Number.POSITIVE_INFINITY;
  #askedAtMs = 0;
  #askedLease: Lease;
  #isScheduled = false;
  #isRecalled = false;
  /** Units of the smallest rejected call that the ledger has not received. */
  #refused = Number.POSITIVE_INFINITY;

  constructor(spec: LimitSpec, host: AccountHost) {
    this.#spec = spec;
    this.#host = host;
    this.#lease = new Lease(host.newId());
    this.#askedLease = this.#lease;
    this.#waiting = new WaitingTakes(host.clock);
    this.#contention = new Contention(host.clock);
    this.#usedUp = new UsedUp(host.clock);
  }

  get spec(): LimitSpec {
    return this.#spec;
  }

  /** A smaller limit, or a budget that restarts, ends the previous lease. */
  set spec(spec: LimitSpec) {
    const before = this.#spec;
    this.#spec = spec;
    if (spec.kind === 'budget' && before.kind === 'budget' && rulesOf(spec) !== rulesOf(before)) this.#leave();
    else if (spec.capacity < before.capacity) this.giveBack();
    else if (spec.capacity > before.capacity) {
      this.#usedUp.forget();
      this.#remaining = null;
    }
  }

  get lease(): string {
    return this.#lease.id;
  }

  get left(): number {
    return Math.max(0, this.available) + (this.#remaining ?? 0);
  }

  get calls(): number {
    return this.#lease.holds;
  }

  get key(): string {
    return this.#spec.key;
  }

  /** True for a budget if the ledger has more free units than this process holds. Units of rate limits cannot be recalled. */
  get isPlentiful(): boolean {
    return this.spec.kind === 'budget' && this.#remaining !== null && this.#remaining >= this.available;
  }

  /** True while calls wait or are in progress, or the ledger's figure is outdated. */
  get isNeeded(): boolean {
    return this.hasWaiters || this.isUnreported || this.#lease.holds > 0 || !this.#left.isEmpty;
  }

  /** True if a call was rejected since the last request to the ledger. */
  get hasRefusal(): boolean {
    return this.#refused !== Number.POSITIVE_INFINITY;
  }

  get hasWaiters(): boolean {
    return this.#waiting.count > 0;
  }

  /** True while the ledger's figure for a lease differs from this process's figure. */
  get isUnreported(): boolean {
    return this.#lease.isUnreported || this.#left.isUnreported;
  }

  take(least: number, most: number): Maybe<number> {
    if (least > this.spec.capacity) return refused;
    this.#roll();
    if (this.#waiting.count === 0 && this.#has(least)) return this.#spend(least, most);
    if (this.#usedUp.isFor(least)) return refused;
    const taken = this.#waiting.add(least, most);
    this.#ask();
    return taken;
  }

  prepare(least: number): void {
    if (least > this.spec.capacity) return;
    this.#roll();
    if (this.#has(least) || this.#usedUp.isFor(least)) return;
    this.#expected += least;
    this.#ask();
  }

  put(units: number, startMs: number, lease: string): void {
    this.#roll();
    if (lease !== this.lease) return this.#left.put(units, startMs, lease);
    if (startMs !== this.startMs) return;
    this.available += units;
    this.usedAtMs = this.#host.clock.elapsed();
    // The ledger lacks the units that a call used beyond those it took until they are requested.
    if (this.available < 0 && !this.hasWaiters) this.#ask();
    if (units <= 0) return;
    // Together with units elsewhere, the returned units may be enough now.
    this.#usedUp.forget();
    if (this.#contention.isExact && !this.hasWaiters && this.giveBack()) this.#host.wake(this, 0);
  }

  noteRefusal(units: number): void {
    this.#refused = Math.min(this.#refused, units);
  }

  hold(): void {
    this.#lease.holds++;
  }

  release(lease: string): void {
    if (this.#lease.id === lease) this.#lease.holds--;
    else this.#left.release(lease);
  }

  /** Returns the next request to the ledger and marks it as sent. */
  question(): LeaseAsk {
    this.#roll();
    const { spec } = this;
    this.asking = true;
    this.#isScheduled = false;
    this.#askedAtMs = this.#host.clock.elapsed();
    this.#askedLease = this.#lease;
    // During a pause units are returned without those of waiting calls, so that another process can use them.
    const isPaused = this.#contention.pauseMs > 0;
    if (isPaused) this.#waiting.askNothing();
    const parts = isPaused ? [] : this.#waiting.ask();
    const needed = parts.reduce((sum, part) => sum + part, 0) - this.available;
    const need = Math.min(Math.max(0, needed), spec.capacity);
    const more = this.#contention.isExact
      ? 0
      : Math.min(spec.capacity, Math.max(wantMin[spec.kind], 2 * this.#spent, this.#expected));
    const want = Math.max(need, this.#wants && !isPaused ? more : 0);
    if (!isPaused) {
      this.#wants = false;
      this.#expected = 0;
    }
    this.#spent = 0;
    const asked = { need, want, startMs: this.startMs, ...this.#lease.ask() };
    if (spec.kind === 'rate') return { ...spec, ...asked };
    const { recalledMs } = this.#contention;
    const refusedUnits = this.hasRefusal ? Math.min(this.#refused, limitUnitsMax) : undefined;
    this.#refused = Number.POSITIVE_INFINITY;
    return { ...spec, ...asked, parts, spare: Math.max(0, -needed), left: this.#left.ask(), recalledMs, refused: refusedUnits };
  }

  /** Applies the ledger's reply. Calls are served in order of arrival, as far as there are units. */
  granted(grant: Grant): void {
    this.asking = false;
    this.#left.granted();
    this.#roll();
    // The grant belongs to a window or lease that has ended. Waiting calls need units of the current one.
    if (this.#enter(grant, this.#askedLease)) return this.#askForWaiting();
    this.#remaining = grant.remaining;
    this.heldElsewhere = grant.others ?? 0;
    this.#low = grant.remaining === 0 || this.#contention.isExact ? 0 : Math.min(Math.floor(grant.units / 2), this.available);
    this.#serve(grant);
    if (this.#isRecalled) this.#giveBackForOthers();
  }

  /**
   * Handles a failed request to the ledger. The next request repeats its report about the lease. A rate limit that was used up
   * stays used up until its window ends. Calls that were not part of the request wait for the next one if `isNextSent`.
   */
  failed(isNextSent = false): void {
    this.asking = false;
    this.#isScheduled = false;
    this.#isRecalled = false;
    this.#contention.forgetRecall();
    // The calls are over. In a long outage, the next request would otherwise ask for the units of all of them.
    if (!isNextSent) this.#expected = 0;
    this.#roll();
    const result = this.spec.kind === 'rate' && this.#remaining === 0 ? refused : unavailable;
    this.#waiting.judge(({ isAsked }) => (isNextSent && !isAsked ? null : result));
    this.#askForWaiting();
  }

  /** Removes the units in hand from the lease. The next request returns them. True if there were any. */
  giveBack(): boolean {
    this.#roll();
    if (this.available <= 0) return false;
    this.#remaining = (this.#remaining ?? 0) + this.available;
    this.#lease.held -= this.available;
    this.available = 0;
    this.#low = 0;
    return true;
  }

  /**
   * Handles a recall: another process lacks units of this budget. Returns the units in hand and reports the units that calls
   * still hold to the ledger.
   */
  recall(): void {
    this.#contention.recalled();
    if (this.#lease.held === 0 && !this.isUnreported) return;
    if (this.asking) this.#isRecalled = true;
    else this.#giveBackForOthers();
  }

  /** True if a lease that is still needed must be renewed before it ends. */
  isAgeing(): boolean {
    const isUsed = this.#lease.holds > 0 || this.available > 0;
    if (this.#leaseUntilMs === Number.POSITIVE_INFINITY || !isUsed) return false;
    return this.#host.clock.elapsed() - this.#askedAtMs > (this.#leaseUntilMs - this.#askedAtMs) / 3;
  }

  #has(least: number): boolean {
    return this.available >= least && this.available > 0;
  }

  #spend(least: number, most: number): number {
    const taken = Math.max(least, Math.min(most, this.available));
    this.available -= taken;
    this.#spent += taken;
    this.usedAtMs = this.#host.clock.elapsed();
    if (this.available < this.#low && !this.asking) {
      // Asks once per grant, so that a reply without units is not requested repeatedly.
      this.#low = 0;
      this.#ask();
    }
    return taken;
  }

  #ask(): void {
    this.#wants = true;
    if (this.asking || this.#isScheduled) return;
    const delayMs = this.#contention.pauseMs;
    this.#isScheduled = delayMs > 0;
    this.#host.wake(this, delayMs);
  }

  #askForWaiting(): void {
    if (this.hasWaiters) this.#ask();
  }

  /** Serves, rejects or keeps the waiting calls. */
  #serve({ remaining, others = 0, pending = 0 }: Grant): void {
    const nowMs = this.#host.clock.elapsed();
    const expected = this.#contention.expectedOf(pending);
    let smallest = Number.POSITIVE_INFINITY;
    let isShort = false;
    let isAbout = !this.hasWaiters;
    // Units beyond the least amounts of all waiting calls.
    let spare = this.available - this.#waiting.servable(this.available);
    this.#waiting.judge(({ least, most, untilMs, isAsked }) => {
      isAbout ||= isAsked;
      if (this.#has(least)) {
        const taken = this.#spend(least, Math.min(most, Math.max(1, least) + spare));
        spare -= taken - Math.max(1, least);
        return taken;
      }
      if (!isAsked) return this.#usedUp.isFor(least) ? refused : null;
      const left = this.available + remaining;
      if (remaining > 0 && left >= least) return null;
      const mayCome = left + expected >= least;
      if (mayCome && nowMs < untilMs) {
        isShort = true;
        return null;
      }
      if (mayCome) this.#contention.gaveUpOn(pending);
      smallest = Math.min(smallest, least);
      if (others === 0) this.#usedUp.note(smallest, this.endMs);
      else this.#contention.pace();
      return refused;
    });
    if (isShort) return this.#waitForOthers();
    // The request only returned units, during a pause.
    if (!isAbout) return this.#askForWaiting();
    this.#contention.settled();
    this.#askForWaiting();
    // All remaining units are here and were too few. They are returned, because smaller calls may use them elsewhere.
    if (smallest !== Number.POSITIVE_INFINITY && !this.hasWaiters && this.giveBack()) this.#host.wake(this, 0);
  }

  /** Waits because too few units are left in the ledger, but other processes hold units that they may not need. */
  #waitForOthers(): void {
    this.#contention.recall();
    this.#host.recall(this);
    this.#ask();
    // All units are returned, because two processes that each keep a part would wait for each other.
    if (this.giveBack()) this.#host.wake(this, 0);
  }

  #giveBackForOthers(): void {
    this.#isRecalled = false;
    this.giveBack();
    this.#host.wake(this, 0);
  }

  /** Leaves a window or lease that has ended. */
  #roll(): void {
    const nowMs = this.#host.clock.now();
    if (this.spec.kind === 'budget') {
      // A budget without a known window has no lease to leave. Its start is a time of the ledger's clock, which may be ahead.
      if (this.startMs !== 0 && (nowMs >= this.endMs || this.#host.clock.elapsed() >= this.#leaseUntilMs)) this.#leave();
      return;
    }
    if (nowMs < this.endMs && nowMs >= this.startMs) return;
    this.#leave();
    this.startMs = windowStartMs(nowMs, this.spec.lengthMs);
    this.endMs = this.startMs + this.spec.lengthMs;
  }

  #leave(): void {
    if (this.spec.kind === 'budget') {
      this.#lease.held -= this.available;
      this.#left.add(this.#lease, this.startMs);
      this.#lease = new Lease(this.#host.newId());
    } else this.#lease.beginAnew();
    this.startMs = 0;
    this.endMs = 0;
    this.available = 0;
    this.#low = 0;
    this.#usedUp.forget();
    this.#remaining = null;
    this.heldElsewhere = 0;
    this.#leaseUntilMs = Number.POSITIVE_INFINITY;
  }

  /**
   * Adds the granted units. Returns true if their window or lease has been left in the meantime. Units of a budget are then
   * returned with the next request.
   */
  #enter({ startMs, endMs, units, leaseMs, isNew }: Grant, asked: Lease): boolean {
    if (this.spec.kind === 'rate' && startMs !== this.startMs) return true;
    asked.granted(units);
    if (asked !== this.#lease) {
      asked.held -= units;
      return true;
    }
    if (startMs !== this.startMs || isNew) {
      this.available = 0;
      asked.beginAnew();
      asked.granted(units);
    }
    this.available += units;
    if (this.spec.kind === 'rate') return false;
    this.startMs = startMs;
    this.endMs = endMs ?? Number.POSITIVE_INFINITY;
    this.#leaseUntilMs = leaseMs === null ? Number.POSITIVE_INFINITY : this.#askedAtMs + leaseMs - leaseMarginMs;
    return false;
  }
}
