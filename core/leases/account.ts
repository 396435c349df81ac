import type { Maybe } from '../contract/json.ts';
import { type Grant, type LeaseAccount, type LeaseAsk, type LimitSpec, refused, unavailable } from '../contract/leases.ts';
import { windowStartMs } from '../contract/limit-window.ts';
import type { Clock } from '../contract/plugin.ts';
import { Lease } from './lease.ts';
import { LeftLeases } from './left-leases.ts';

/** Least that is asked for at a time: one question for a handful of requests. */
const wantMin = { rate: 8, budget: 5_000 } as const;
/** How long a limit counts as used up before the ledger is asked again: others may have given something back. */
const emptyMs = 200;
/** A lease ends here this long before it ends in the ledger, so that no unit is ever spent by two. */
const leaseMarginMs = 5_000;

interface Waiter {
  readonly least: number;
  readonly most: number;
  readonly resolve: (taken: number) => void;
}

/**
 * One limit as this process knows it: units it holds and spends without asking anybody, and those who wait for more. `wake` is
 * called when there is something to ask; the answer comes to `granted` or `failed`.
 */
export class Account implements LeaseAccount {
  #spec: LimitSpec;
  startMs = 0;
  endMs = 0;
  /** Units in hand; below 0 after a request that used more than was taken for it. */
  available = 0;
  asking = false;
  /** Monotonic: when units were last taken or put. */
  usedAtMs = 0;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #wake: (account: Account) => void;
  readonly #waiters: Waiter[] = [];
  /** Null for rate limits. */
  #lease: Lease | null;
  readonly #left = new LeftLeases();
  #wants = false;
  #low = 0;
  #spent = 0;
  /** What is to be given back with the next question. */
  #giving = 0;
  /** Until when, and from how many units on, there is nothing to be had. */
  #emptyUntilMs = 0;
  #emptyFrom = 0;
  /** Units nobody held at the last answer. */
  #remaining = 0;
  #leaseUntilMs = Number.POSITIVE_INFINITY;
  #askedAtMs = 0;
  #askedLease: Lease | null = null;

  constructor(spec: LimitSpec, clock: Clock, newId: () => string, wake: (account: Account) => void) {
    this.#spec = spec;
    this.#lease = spec.kind === 'budget' ? new Lease(newId()) : null;
    this.#clock = clock;
    this.#newId = newId;
    this.#wake = wake;
  }

  get spec(): LimitSpec {
    return this.#spec;
  }

  /** A smaller limit, or a budget that begins anew, ends the lease of before. */
  set spec(spec: LimitSpec) {
    const before = this.#spec;
    this.#spec = spec;
    if (spec.kind === 'budget' && before.kind === 'budget' && rulesOf(spec) !== rulesOf(before)) this.#leave();
    else if (spec.capacity < before.capacity) this.giveBack();
  }

  get lease(): string | null {
    return this.#lease?.id ?? null;
  }

  get left(): number {
    return Math.max(0, this.available) + this.#giving + this.#remaining;
  }

  get key(): string {
    return this.#spec.key;
  }

  /** True while somebody waits, requests are under way, or the ledger has to be told of something. */
  get isNeeded(): boolean {
    return this.hasWaiters || this.owesWord || (this.#lease?.holds ?? 0) > 0 || !this.#left.isEmpty;
  }

  get hasWaiters(): boolean {
    return this.#waiters.length > 0;
  }

  /** True while the ledger takes more or less for kept than is. */
  get owesWord(): boolean {
    return (this.#lease?.owesWord ?? false) || this.#left.owesWord;
  }

  take(least: number, most: number): Maybe<number> {
    if (least > this.spec.capacity) return refused;
    this.#roll();
    if (this.#waiters.length === 0 && this.available >= least && this.available > 0) return this.#spend(least, most);
    if (least >= this.#emptyFrom && this.#clock.elapsed() < this.#emptyUntilMs) return refused;
    return new Promise((resolve) => {
      this.#waiters.push({ least, most, resolve });
      this.#ask();
    });
  }

  put(units: number, startMs: number, lease: string | null): void {
    this.#roll();
    if (lease !== null && lease !== this.lease) return this.#left.put(units, startMs, lease);
    if (startMs !== this.startMs || lease !== this.lease) return;
    this.available += units;
    // With what is left elsewhere it may be enough now.
    if (units > 0) this.#emptyUntilMs = 0;
    this.usedAtMs = this.#clock.elapsed();
  }

  hold(): void {
    if (this.#lease !== null) this.#lease.holds++;
  }

  release(lease: string): void {
    if (this.#lease?.id === lease) this.#lease.holds--;
    else this.#left.release(lease);
  }

  /** What to ask the ledger now; marks the question as asked. */
  question(): LeaseAsk {
    this.#roll();
    const { spec } = this;
    this.asking = true;
    this.#askedAtMs = this.#clock.elapsed();
    this.#askedLease = this.#lease;
    let need = Math.max(0, -this.available);
    for (const { least } of this.#waiters) need += Math.max(1, least);
    need = Math.min(need, spec.capacity);
    const more = Math.min(spec.capacity, Math.max(wantMin[spec.kind], 2 * this.#spent));
    const want = Math.max(need, this.#wants ? more : 0);
    this.#wants = false;
    this.#spent = 0;
    const give = this.#giving;
    this.#giving = 0;
    const asked = { need, want, startMs: this.startMs };
    if (spec.kind === 'rate') return { ...spec, ...asked, give };
    return { ...spec, ...asked, ...(this.#lease as Lease).ask(), left: this.#left.ask() };
  }

  /** The ledger's answer. Those who wait are served in the order they came; who finds too little is refused. */
  granted(grant: Grant): void {
    this.asking = false;
    this.#left.answered();
    this.#roll();
    const asked = this.#askedLease;
    const isPassed = this.#enter(grant, asked);
    // What was granted of a window or lease that has passed meanwhile is nobody's; those who wait are of the one that runs now.
    if (isPassed) {
      if (this.#waiters.length > 0) this.#ask();
      return;
    }
    this.#remaining = grant.remaining;
    this.#low = grant.remaining === 0 ? 0 : Math.min(Math.floor(grant.units / 2), this.available);
    const waiting = this.#waiters.splice(0);
    let isRefused = false;
    for (const waiter of waiting) {
      if (this.available >= waiter.least && this.available > 0) waiter.resolve(this.#spend(waiter.least, waiter.most));
      // Who came while the question was on its way was not in it.
      else if (grant.remaining > 0) this.#waiters.push(waiter);
      else {
        this.#emptyUntilMs = this.#clock.elapsed() + Math.min(emptyMs, Math.max(1, this.endMs - this.#clock.now()));
        this.#emptyFrom = isRefused ? Math.min(this.#emptyFrom, waiter.least) : waiter.least;
        isRefused = true;
        waiter.resolve(refused);
      }
    }
    if (this.#waiters.length > 0) this.#ask();
    // All that was left has come here, and was too little: smaller requests may have a use for it elsewhere.
    else if (isRefused && this.giveBack()) this.#wake(this);
  }

  /** Nobody could say. What was on its way back of a rate limit is lost to this process: it may have arrived. */
  failed(): void {
    this.asking = false;
    this.#roll();
    for (const { resolve } of this.#waiters.splice(0)) resolve(unavailable);
  }

  /** Lays aside what is in hand, to be given back with the next question. True when there is something. */
  giveBack(): boolean {
    this.#roll();
    if (this.available <= 0) return false;
    this.#giving += this.available;
    if (this.#lease !== null) this.#lease.kept -= this.available;
    this.available = 0;
    this.#low = 0;
    return true;
  }

  /** True when a lease that is still needed should be asked for again, so that it does not end. */
  isAgeing(): boolean {
    const isUsed = (this.#lease?.holds ?? 0) > 0 || this.available > 0;
    if (this.#leaseUntilMs === Number.POSITIVE_INFINITY || !isUsed) return false;
    return this.#clock.elapsed() - this.#askedAtMs > (this.#leaseUntilMs - this.#askedAtMs) / 3;
  }

  #spend(least: number, most: number): number {
    const taken = Math.max(least, Math.min(most, this.available));
    this.available -= taken;
    this.#spent += taken;
    this.usedAtMs = this.#clock.elapsed();
    if (this.available < this.#low && !this.asking) {
      // Once per grant: an answer of nothing must not be asked for again and again.
      this.#low = 0;
      this.#ask();
    }
    return taken;
  }

  #ask(): void {
    this.#wants = true;
    if (!this.asking) this.#wake(this);
  }

  /** Leaves what belongs to a window, or to a lease, that is over. */
  #roll(): void {
    const nowMs = this.#clock.now();
    if (this.spec.kind === 'budget') {
      // One whose window is not known yet has nothing to leave. When it began is told by the ledger's clock, which may be ahead.
      if (this.startMs !== 0 && (nowMs >= this.endMs || this.#clock.elapsed() >= this.#leaseUntilMs)) this.#leave();
      return;
    }
    if (nowMs < this.endMs && nowMs >= this.startMs) return;
    this.#leave();
    this.startMs = windowStartMs(nowMs, this.spec.lengthMs);
    this.endMs = this.startMs + this.spec.lengthMs;
  }

  #leave(): void {
    if (this.#lease !== null) {
      this.#lease.kept -= this.available;
      this.#left.add(this.#lease, this.startMs);
      this.#lease = new Lease(this.#newId());
    }
    this.startMs = 0;
    this.endMs = 0;
    this.available = 0;
    this.#giving = 0;
    this.#low = 0;
    this.#emptyUntilMs = 0;
    this.#remaining = 0;
    this.#leaseUntilMs = Number.POSITIVE_INFINITY;
  }

  /** Takes what was granted. True when its window or lease has been left meanwhile: of a budget it goes back with the next question. */
  #enter({ startMs, endMs, units, leaseMs, isNew }: Grant, asked: Lease | null): boolean {
    if (asked === null) {
      if (startMs !== this.startMs) return true;
      this.available += units;
      return false;
    }
    asked.answered(units);
    if (asked !== this.#lease) {
      asked.kept -= units;
      return true;
    }
    if (startMs !== this.startMs || isNew) {
      this.available = 0;
      this.#giving = 0;
      asked.beginAnew();
      asked.answered(units);
    }
    this.available += units;
    this.startMs = startMs;
    this.endMs = endMs ?? Number.POSITIVE_INFINITY;
    this.#leaseUntilMs = leaseMs === null ? Number.POSITIVE_INFINITY : this.#askedAtMs + leaseMs - leaseMarginMs;
    return false;
  }
}

/** What decides when a budget begins anew. */
function rulesOf(spec: Extract<LimitSpec, { kind: 'budget' }>): string {
  return [spec.periodicReset, spec.periodicResetDays, spec.nextUsageResetAt, spec.resetAt].join(' ');
}
