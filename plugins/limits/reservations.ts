import type { BudgetRules } from '../../core/contract/budget-rules.ts';
import type { Outcome, RequestContext } from '../../core/contract/context.ts';
import { isPromise, type Maybe } from '../../core/contract/json.ts';
import { type BudgetSpec, type ModelRates, refused, unavailable } from '../../core/contract/leases.ts';
import type { Target } from '../../core/contract/plan.ts';
import type { Clock } from '../../core/contract/plugin.ts';
import type { ReservationRecord } from '../../core/contract/record.ts';
import { estimatedCost, estimateTokens, type TokenEstimate, usedUnits } from './estimate.ts';
import type { Meter } from './meters.ts';
import { refusal, unknownLimit } from './refusal.ts';

/** Units one request has taken from one meter. `lease` null and no units: the ledger could not be asked and the request was let through. */
interface Hold {
  readonly meter: Meter;
  units: number;
  readonly startMs: number;
  readonly lease: string | null;
}

/** What one request has taken, and what it takes until its end is known. */
export class Reservations {
  /** Of key and workspace: for the whole request. */
  readonly own: Hold[] = [];
  /** Of the provider and integration that are being asked. */
  readonly ofTarget: Hold[] = [];
  target: Target | null = null;
  rates: ModelRates | null = null;
  readonly #ctx: RequestContext;
  readonly #clock: Clock;
  #tokens: TokenEstimate | null = null;

  constructor(ctx: RequestContext, clock: Clock) {
    this.#ctx = ctx;
    this.#clock = clock;
  }

  get hasCost(): boolean {
    return this.own.some(({ meter }) => meter.unit === 'cost');
  }

  /**
   * Takes from each of these meters in turn. Where one has too little, everything taken in this call is put back and its refusal
   * thrown: a denied request consumes nothing.
   */
  admit(meters: readonly Meter[], into: Hold[], from = 0, first = into.length): Maybe<undefined> {
    for (let at = from; at < meters.length; at++) {
      const meter = meters[at] as Meter;
      const [least, most] = this.#amounts(meter, into === this.ofTarget);
      const taken = meter.account.take(least, most);
      if (isPromise(taken)) {
        return taken.then((units) => {
          this.#note(meter, units, least, into, first);
          return this.admit(meters, into, at + 1, first);
        });
      }
      this.#note(meter, taken, least, into, first);
    }
    return undefined;
  }

  /** Takes more of the cost budgets of key and workspace, now that the price of the target's model is known. */
  growCost(at = 0): Maybe<undefined> {
    for (let i = at; i < this.own.length; i++) {
      const hold = this.own[i] as Hold;
      if (hold.meter.unit !== 'cost' || hold.lease === null) continue;
      const [least, most] = this.#amounts(hold.meter, true);
      if (least <= hold.units) continue;
      const taken = hold.meter.account.take(least - hold.units, Math.max(least, most) - hold.units);
      if (isPromise(taken)) {
        return taken.then((units) => {
          this.#grow(hold, units);
          return this.growCost(i + 1);
        });
      }
      this.#grow(hold, taken);
    }
    return undefined;
  }

  /** Puts back what was taken for a target that has not answered. Requests that were made of it stay counted. */
  leaveTarget(): void {
    for (const hold of this.ofTarget.splice(0)) if (hold.meter.unit !== 'requests') giveUp(hold);
  }

  /** Puts back everything, or what was taken less what was used, and notes the latter for the record. */
  settle(outcome: Outcome): void {
    const ctx = this.#ctx;
    const isHit = /hit/i.test(ctx.cacheStatus ?? '');
    // A request that failed is charged where its provider had begun to answer it: the usage says so.
    const isCharged = !isHit && outcome.kind !== 'refused' && (outcome.kind !== 'failed' || ctx.usage !== null);
    for (const hold of [...this.own.splice(0), ...this.ofTarget.splice(0)]) {
      const { meter, units, startMs, lease } = hold;
      if (meter.unit === 'requests') continue;
      if (!isCharged) {
        giveUp(hold);
        continue;
      }
      const used = usedUnits(meter.unit, ctx, this.rates);
      meter.account.put(units - used, startMs, lease);
      if (!meter.isBudget) continue;
      if (lease !== null) meter.account.release(lease);
      ctx.reservations ??= [];
      ctx.reservations.push(reservationOf(hold, used));
    }
  }

  /** Least and most to take of a meter before the call. */
  #amounts({ unit, capacity }: Meter, isPriced: boolean): readonly [number, number] {
    if (unit === 'requests') return [1, 1];
    if (unit === 'cost' && !isPriced) return [1, 1];
    this.#tokens ??= estimateTokens(this.#ctx);
    const { input, output, isStated } = this.#tokens;
    if (unit === 'tokens') {
      const most = Math.max(1, input + output);
      return [isStated ? most : Math.min(most, Math.max(1, input + 1)), Math.min(most, Math.max(1, capacity))];
    }
    // A model without a price costs nothing, so it never blocks: but nothing may be left of a budget that is used up.
    if (this.rates === null) return [1, 1];
    const most = Math.max(1, estimatedCost(this.#ctx, { input, output }, this.rates));
    return [isStated ? most : Math.max(1, estimatedCost(this.#ctx, { input, output: 1 }, this.rates)), most];
  }

  #note(meter: Meter, units: number, needed: number, into: Hold[], first: number): void {
    const { account } = meter;
    // What the lease counts as is read at once: it may be another by the time the request ends.
    if (units >= 0) {
      into.push({ meter, units, startMs: account.startMs, lease: account.lease });
      if (meter.isBudget) account.hold();
      // The client has left while the ledger was asked: its end has been and gone.
      if (this.#ctx.ended) this.#undo(into, first);
      return;
    }
    if (units === unavailable && meter.onUnavailable === 'allow') {
      if (meter.isBudget) into.push({ meter, units: 0, startMs: 0, lease: null });
      return;
    }
    this.#undo(into, first);
    throw units === refused ? refusal(meter, needed, this.#clock.now()) : unknownLimit(meter);
  }

  #grow(hold: Hold, units: number): void {
    const { meter } = hold;
    if (units >= 0) {
      const { lease, startMs } = meter.account;
      // Out of another lease than the one before, which a record could not tell of beside it; or for a client who has left meanwhile.
      if (hold.lease !== lease || hold.startMs !== startMs || this.#ctx.ended) meter.account.put(units, startMs, lease);
      else hold.units += units;
      return;
    }
    if (units === unavailable && meter.onUnavailable === 'allow') return;
    throw units === refused ? refusal(meter, hold.units, this.#clock.now()) : unknownLimit(meter);
  }

  #undo(into: Hold[], first: number): void {
    for (const hold of into.splice(first)) giveUp(hold);
  }
}

/** What the record tells of a budget that was spent from. */
function reservationOf({ meter, startMs, lease }: Hold, used: number): ReservationRecord {
  const { spec, key } = meter.account;
  if (lease !== null) return { key, lease, startMs, units: used };
  return { key, lease, startMs, units: 0, ...(spec.kind === 'budget' ? { budget: rulesOf(spec) } : undefined) };
}

function rulesOf({ kind: _kind, key: _key, organisationId: _organisationId, ...rules }: BudgetSpec): BudgetRules {
  return rules;
}

function giveUp({ meter, units, startMs, lease }: Hold): void {
  meter.account.put(units, startMs, lease);
  if (meter.isBudget && lease !== null) meter.account.release(lease);
}
