import type { Outcome, RequestContext } from '../../core/contract/plugin/context.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import type { Clock } from '../../core/contract/plugin/plugin.ts';
import type { ReservationRecord } from '../../core/contract/plugin/record/record.ts';
import { type LeaseAccount, refused, unavailable } from '../../core/contract/protocol/limits/leases.ts';
import { type GatewayError, wasCalled } from '../../core/contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { sumUsage, type Usage } from '../../core/contract/values/models/usage.ts';
import { estimatedCost, estimateTokens, outputMembers, type TokenEstimate, usedUnits } from './estimate.ts';
import { counted, giveUp, type Hold, keep, reservationOf, use } from './hold.ts';
import type { CallRates } from './image-tool.ts';
import type { Meter } from './meters.ts';
import type { OpenOutputs } from './open-outputs.ts';
import { refusal, unknownLimit } from './refusal.ts';
import { renewHolds } from './renew-holds.ts';

/** The reservations of one request, until its usage is known. */
export class Reservations {
  /** Reservations of key and workspace, for the whole request. */
  readonly own: Hold[] = [];
  /** Reservations of the provider and integration of the current target. */
  readonly ofTarget: Hold[] = [];
  target: Target | null = null;
  rates: CallRates | null = null;
  /** The model of `rates`. */
  pricedModel: string | null = null;
  readonly #ctx: RequestContext;
  readonly #clock: Clock;
  readonly #outputs: OpenOutputs;
  /** Budgets that this call spends from, for `OpenOutputs`. */
  readonly #entered = new Set<LeaseAccount>();
  #tokens: TokenEstimate | null = null;
  /** Set if a budget has reserved output for a call without a stated maximum. */
  #output: number | null = null;
  /** Used units that are no longer held: from leases that a session has left, and from requests to earlier targets. */
  readonly #left: ReservationRecord[] = [];

  constructor(ctx: RequestContext, clock: Clock, outputs: OpenOutputs) {
    this.#ctx = ctx;
    this.#clock = clock;
    this.#outputs = outputs;
  }

  get #workspaceId(): string {
    return this.#ctx.identity?.workspaceId ?? '';
  }

  get hasCost(): boolean {
    return this.own.some(({ meter }) => meter.unit === 'cost');
  }

  /** True if a budget of cost applies. */
  get isPriced(): boolean {
    return this.hasCost || this.ofTarget.some(({ meter }) => meter.unit === 'cost');
  }

  /**
   * Takes from each of these meters in turn. If one has too few units, everything taken in this call is returned and its error
   * thrown: a rejected request consumes nothing. If one has to ask the ledger, the request includes the others, so that a call whose
   * limits are all new waits for one reply.
   */
  admit(meters: readonly Meter[], into: Hold[], from = 0, first = into.length): Maybe<undefined> {
    for (let at = from; at < meters.length; at++) {
      const meter = meters[at] as Meter;
      if (this.#isCounted(meter)) continue;
      const [least, most] = this.#amounts(meter, into === this.ofTarget);
      const taken = this.#take(meter, least, most);
      if (isPromise(taken)) {
        for (const later of meters.slice(at + 1)) {
          if (!this.#isCounted(later))
            later.account.prepare(this.#amounts(later, into === this.ofTarget)[later.isBudget ? 1 : 0]);
        }
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
      if (most <= hold.units) continue;
      const taken = this.#take(hold.meter, Math.max(1, least - hold.units), most - hold.units);
      if (isPromise(taken)) {
        return taken.then((units) => {
          this.#grow(hold, units, least);
          return this.growCost(i + 1);
        });
      }
      this.#grow(hold, taken, least);
    }
    return undefined;
  }

  /**
   * Takes `most` of a budget, so that calls without a stated maximum do not exceed it together. A call that is alone takes what is left,
   * but at least `least`. A rate limit gives up to `most`.
   */
  #take(meter: Meter, least: number, most: number): Maybe<number> {
    const { account, isBudget, unit } = meter;
    if (!isBudget || unit === 'requests' || this.#tokens === null) return account.take(least, most);
    const rest = (): Maybe<number> => {
      if (least >= most || !this.#isAlone(account)) return refused;
      this.#enter(account);
      return account.take(least, most);
    };
    const wanted = Math.max(least, most);
    const taken = account.take(wanted, wanted);
    const check = (units: number): Maybe<number> => {
      if (units === refused) return rest();
      if (units >= 0) this.#enter(account);
      return units;
    };
    return isPromise(taken) ? taken.then(check) : check(taken);
  }

  #enter(account: LeaseAccount): void {
    if (this.#ctx.ended || this.#entered.has(account)) return;
    this.#outputs.enter(account);
    this.#entered.add(account);
  }

  /** True if no other call spends from this account. */
  #isAlone(account: LeaseAccount): boolean {
    return this.#outputs.callsOf(account) === (this.#entered.has(account) ? 1 : 0);
  }

  /** Leaves the budgets of which this call holds nothing, because another call may use their rest. */
  #leaveUnheld(): void {
    const held = new Set([...this.own, ...this.ofTarget].map(({ meter }) => meter.account));
    for (const account of this.#entered) {
      if (held.has(account)) continue;
      this.#outputs.leave(account);
      this.#entered.delete(account);
    }
  }

  /**
   * Returns the units taken for a target that is left. Requests count if their provider was called, and usage if another target replaces its
   * response.
   */
  leaveTarget(): void {
    const isCalled = this.#isTargetCalled();
    const usage = this.#discardedUsage();
    for (const hold of this.ofTarget.splice(0)) {
      const { unit, isBudget } = hold.meter;
      if (unit === 'requests') {
        if (isBudget ? usage !== null : isCalled) this.#left.push(...keep(hold));
        else giveUp(hold);
        continue;
      }
      if (usage !== null) {
        use(hold, usedUnits(unit, this.#ctx, this.rates, usage));
        this.#left.push(reservationOf(hold));
      }
      giveUp(hold);
    }
    this.#leaveUnheld();
  }

  /** Notes the units that the record reports if this process is killed during the call. Everything taken counts as used. */
  noteTaken(): void {
    const records = [...this.#left];
    for (const hold of [...this.own, ...this.ofTarget]) records.push(reservationOf(hold, hold.used + hold.units));
    this.#ctx.reservations = records.length === 0 ? null : records;
    this.#ctx.reservedTokens = this.#tokens && { input: this.#tokens.input, output: this.#reservedOutput(this.#tokens) };
  }

  /** Returns the output that budgets hold for the call. A budget of tokens may hold less, if the call uses its rest. */
  #reservedOutput({ input, output }: TokenEstimate): number {
    const rests = [...this.own, ...this.ofTarget]
      .filter(({ meter, lease }) => meter.isBudget && meter.unit === 'tokens' && lease !== null)
      .map((hold) => Math.max(0, hold.used + hold.units - input));
    return Math.min(this.#output ?? output, ...rests);
  }

  /** Output that budgets reserve if the call states no maximum. */
  #openOutput(model: string | null): number {
    this.#output = this.#outputs.sizeOf(this.#workspaceId, model);
    return this.#output;
  }

  /** Adds the usage of an open session so far: see `renewHolds`. */
  renew(): Maybe<GatewayError | null> {
    const most = (meter: Meter): number => this.#amounts(meter, true)[1];
    const holds = [...this.own, ...this.ofTarget];
    return renewHolds(this.#ctx, holds, this.#left, this.rates, most, this.#clock.now());
  }

  /** Notes the units that a session has used so far, for the record. */
  note(): void {
    const records = [...this.#left];
    for (const hold of [...this.own, ...this.ofTarget])
      records.push(hold.meter.unit === 'requests' ? counted(hold) : reservationOf(hold));
    this.#ctx.reservations = records.length === 0 ? null : records;
  }

  /** Returns all unused units to their leases, and adds the used ones to the record. */
  settle(outcome: Outcome): void {
    const ctx = this.#ctx;
    for (const account of this.#entered) this.#outputs.leave(account);
    this.#entered.clear();
    const openModel = this.#tokens?.openModel;
    if (openModel !== undefined && outcome.kind === 'success' && ctx.usage !== null)
      this.#outputs.note(this.#workspaceId, openModel, ctx.usage.outputTokens);
    const isHit = /hit/i.test(ctx.cacheStatus ?? '');
    // A failed request is charged if its provider had begun to reply, because it then has usage.
    const isFree = isHit || outcome.kind === 'refused' || outcome.kind === 'failed';
    const isCharged = !isFree || ctx.discarded !== null || (outcome.kind === 'failed' && ctx.usage !== null);
    const records = [...this.#left];
    // A request whose targets were all rejected by the gateway has used nothing.
    const { attempts } = ctx;
    if (outcome.kind === 'refused' && attempts.length > 0 && !attempts.some(wasCalled)) giveBackRequests(this.own);
    if (this.ofTarget.length > 0 && !this.#isTargetCalled()) giveBackRequests(this.ofTarget);
    for (const hold of [...this.own.splice(0), ...this.ofTarget.splice(0)]) {
      const { unit, isBudget } = hold.meter;
      if (unit === 'requests') {
        // A budget counts requests that succeeded, a rate limit every request.
        if (!isBudget || isCharged) records.push(...keep(hold));
        else giveUp(hold);
        continue;
      }
      if (isCharged) {
        use(hold, usedUnits(unit, ctx, this.rates));
        records.push(reservationOf(hold));
      }
      giveUp(hold);
    }
    ctx.reservations = records.length === 0 ? null : records;
  }

  /** Returns the usage of responses of the current target that no client receives; null if there is none. */
  #discardedUsage(): Usage | null {
    const { target } = this;
    const ofTarget = this.#ctx.discarded?.filter(({ targetPath }) => targetPath === target?.path) ?? [];
    return ofTarget.length === 0 ? null : sumUsage(ofTarget.map(({ usage }) => usage));
  }

  /** True if a call of an earlier target of this request counts in this rate limit of a policy: a request counts once. */
  #isCounted({ unit, policy, account }: Meter): boolean {
    return policy !== null && unit === 'requests' && this.#left.some(({ key }) => key === account.key);
  }

  /** False if every attempt at the current target was rejected before its provider was called. */
  #isTargetCalled(): boolean {
    const { target } = this;
    const ofTarget = this.#ctx.attempts.filter(({ targetIndex }) => targetIndex === target?.index);
    return ofTarget.length === 0 || ofTarget.some(wasCalled);
  }

  /** Returns the least and most units to take from a meter before the call. */
  #amounts({ unit, capacity, isBudget }: Meter, isPriced: boolean): readonly [number, number] {
    if (unit === 'requests') return [1, 1];
    if (unit === 'cost' && !isPriced) return [1, 1];
    this.#tokens ??= estimateTokens(this.#ctx);
    const { input, isStated, openModel } = this.#tokens;
    const output = isBudget && openModel !== undefined ? this.#openOutput(openModel) : this.#tokens.output;
    if (unit === 'tokens') {
      const most = Math.max(1, input + output);
      return [isStated ? most : Math.min(most, Math.max(1, input + 1)), Math.min(most, Math.max(1, capacity))];
    }
    // A model without a price costs nothing, so it does not block. A budget that is used up still blocks.
    if (this.rates === null) return [1, 1];
    const most = Math.max(1, estimatedCost(this.#ctx, { input, output }, this.rates));
    return [isStated ? most : Math.max(1, estimatedCost(this.#ctx, { input, output: 1 }, this.rates)), most];
  }

  #note(meter: Meter, units: number, needed: number, into: Hold[], first: number): void {
    const { account } = meter;
    if (units >= 0) return this.#hold(meter, units, into, first);
    if (units === unavailable && meter.onUnavailable === 'allow') {
      if (meter.isBudget) into.push({ meter, units: 0, startMs: 0, lease: null, counted: 0, used: 0 });
      else {
        // The next reply of the ledger covers the overdraft, so that the call counts in its window.
        account.put(-needed, account.startMs, account.lease);
        this.#hold(meter, needed, into, first);
      }
      return;
    }
    this.#undo(into, first);
    if (units === refused && meter.isBudget) account.noteRefusal(needed);
    throw units === refused ? refusal(meter, needed, this.#clock.now(), null, outputMembers(this.#ctx)) : unknownLimit(meter);
  }

  #hold(meter: Meter, units: number, into: Hold[], first: number): void {
    // The account may have another lease when the request ends, so the lease is noted now.
    const { startMs, lease } = meter.account;
    into.push({ meter, units, startMs, lease, counted: 0, used: 0 });
    meter.account.hold();
    // The client disconnected during the request to the ledger, so `settle` has already run.
    if (this.#ctx.ended) this.#undo(into, first);
  }

  #grow(hold: Hold, units: number, needed: number): void {
    const { meter } = hold;
    if (units >= 0) {
      const { lease, startMs } = meter.account;
      // The units come from another lease than the previous hold, which one record cannot express, or the client has
      // disconnected.
      if (hold.lease !== lease || hold.startMs !== startMs || this.#ctx.ended) meter.account.put(units, startMs, lease);
      else hold.units += units;
      return;
    }
    if (units === unavailable && meter.onUnavailable === 'allow') return;
    throw units === refused ? refusal(meter, needed, this.#clock.now(), hold, outputMembers(this.#ctx)) : unknownLimit(meter);
  }

  #undo(into: Hold[], first: number): void {
    for (const hold of into.splice(first)) giveUp(hold);
    this.#leaveUnheld();
  }
}

function giveBackRequests(holds: readonly Hold[]): void {
  for (const hold of holds) {
    if (hold.meter.unit !== 'requests') continue;
    giveUp(hold);
    // The units are neither held nor counted any more.
    hold.lease = null;
  }
}
