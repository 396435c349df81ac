import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { limitUnits } from '../../../core/contract/protocol/limits/budget-rules.ts';
import {
  type BudgetAsk,
  type Grant,
  type LimitSpec,
  refused,
  unavailable,
} from '../../../core/contract/protocol/limits/leases.ts';
import { Account } from '../../../core/leases/account.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';

const organisationId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0001';
const rate: LimitSpec = { kind: 'rate', key: 'rate', organisationId, capacity: 100, lengthMs: 60_000 };
const budget: LimitSpec = {
  kind: 'budget',
  key: 'budget',
  organisationId,
  capacity: 1_000,
  scope: 'key',
  entityId: organisationId,
  unit: 'tokens',
  alertThreshold: null,
  periodicReset: null,
  periodicResetDays: null,
  nextUsageResetAt: null,
  resetAt: null,
};

function newAccount(spec: LimitSpec) {
  const time = newFakeTime(1_800_000_000_000);
  let woken = 0;
  let recalls = 0;
  let ids = 0;
  const delays: number[] = [];
  const account = new Account(spec, {
    clock: time.clock,
    newId: () => `lease-${++ids}`,
    wake(_account, delayMs) {
      woken++;
      delays.push(delayMs);
    },
    recall: () => void recalls++,
  });
  const grant = (units: number, rest: Partial<Grant> = {}): void =>
    account.granted({ key: spec.key, startMs: account.startMs, endMs: null, units, remaining: 50, leaseMs: null, ...rest });
  return { account, time, grant, delays, woken: () => woken, recalls: () => recalls };
}

describe('an account of a rate limit', () => {
  it('requests units for calls that take them soon, unless it has them', async () => {
    const { account, grant, woken } = newAccount(rate);
    account.prepare(20);
    expect(account.question()).toMatchObject({ need: 0, want: 20 });
    grant(20);
    account.prepare(20);
    account.prepare(101);
    expect(woken()).toBe(1);
    expect(account.take(20, 20)).toBe(20);
  });

  it('waits for the next reply with calls that were not part of a failed request, if the ledger is only slow', async () => {
    const { account, grant } = newAccount(rate);
    const first = account.take(1, 1);
    account.question();
    const second = account.take(1, 1);
    account.failed(true);
    expect(await first).toBe(unavailable);
    account.question();
    grant(8);
    expect(await second).toBe(1);
    const third = account.take(50, 50);
    account.failed();
    expect(await third).toBe(unavailable);
  });

  it('spends its lease without asking, and asks again before it is empty', async () => {
    const { account, grant, woken } = newAccount(rate);
    const first = account.take(1, 1);
    expect(woken()).toBe(1);
    account.question();
    grant(8);
    expect(await first).toBe(1);
    expect([account.take(1, 1), account.take(1, 1), account.take(1, 1)]).toEqual([1, 1, 1]);
    expect(woken()).toBe(1);
    expect(account.take(1, 1)).toBe(1);
    expect(woken()).toBe(2);
    expect(account.available).toBe(3);
  });

  it('rejects at once when the ledger has nothing left, and asks again later', async () => {
    const { account, grant, time } = newAccount(rate);
    const first = account.take(1, 1);
    account.question();
    grant(0, { remaining: 0 });
    expect(await first).toBe(refused);
    expect(account.take(1, 1)).toBe(refused);
    time.advance(200);
    expect(account.take(1, 1)).toBeInstanceOf(Promise);
  });

  it('asks once more for takes that arrived during a request', async () => {
    const { account, grant } = newAccount(rate);
    const first = account.take(1, 1);
    expect(account.question()).toMatchObject({ need: 1 });
    const second = account.take(5, 5);
    grant(1);
    expect(await first).toBe(1);
    expect(account.question()).toMatchObject({ need: 5 });
    grant(5, { remaining: 0 });
    expect(await second).toBe(5);
  });

  it('returns a grant at once that is too small for its request', async () => {
    const { account, grant, woken } = newAccount(rate);
    const first = account.take(30, 30);
    account.question();
    grant(20, { remaining: 0 });
    expect(await first).toBe(refused);
    expect([account.available, woken()]).toEqual([0, 2]);
    expect(account.question()).toMatchObject({ kept: 0, need: 0, want: 0 });
  });

  it('drops its lease when the window ends, and serves waiting takes from the next one', async () => {
    const { account, grant, time } = newAccount(rate);
    const first = account.take(1, 1);
    const asked = account.question();
    time.advance(60_000);
    account.granted({ key: 'rate', startMs: asked.startMs, endMs: null, units: 8, remaining: 50, leaseMs: null });
    expect(account.available).toBe(0);
    expect(account.question()).toMatchObject({ need: 1, startMs: asked.startMs + 60_000 });
    grant(8);
    expect(await first).toBe(1);
  });

  it('rejects a take that can never fit without asking', () => {
    const { account, woken } = newAccount({ ...rate, capacity: 0 });
    expect(account.take(1, 1)).toBe(refused);
    expect(woken()).toBe(0);
  });

  it('does not spend returned units again, and repeats the return if it was not confirmed', () => {
    const { account, grant } = newAccount(rate);
    void account.take(1, 1);
    account.question();
    grant(8);
    expect(account.giveBack()).toBe(true);
    expect(account.question()).toMatchObject({ kept: 1, need: 0, want: 0 });
    account.failed(false);
    expect([account.available, account.isUnreported]).toEqual([0, true]);
    expect(account.question()).toMatchObject({ kept: 1, need: 0, want: 0 });
  });

  it('keeps its lease from window to window, and begins each with no units', () => {
    const { account, grant, time } = newAccount(rate);
    void account.take(1, 1);
    expect(account.question()).toMatchObject({ lease: 'lease-1', seq: 1 });
    grant(8);
    time.advance(60_000);
    expect(account.take(1, 1)).toBeInstanceOf(Promise);
    expect(account.question()).toMatchObject({ lease: 'lease-1', seq: 2, kept: 0 });
  });

  it('reports to waiting takes if the ledger cannot be asked', async () => {
    const { account } = newAccount(rate);
    const waiting = account.take(1, 1);
    account.question();
    account.failed(false);
    expect(await waiting).toBe(unavailable);
  });

  it('rejects if the ledger is away and its last reply left nothing of the window', async () => {
    const { account, grant, time } = newAccount(rate);
    const first = account.take(2, 2);
    account.question();
    grant(1, { remaining: 0 });
    expect(await first).toBe(refused);
    account.question();
    grant(0, { remaining: 0 });
    const ask = () => {
      time.advance(200);
      const taken = account.take(1, 1);
      account.question();
      account.failed(false);
      return taken;
    };
    expect(await ask()).toBe(refused);
    account.spec = { ...rate, capacity: 101 };
    expect(await ask()).toBe(unavailable);
    time.advance(60_000);
    expect(await ask()).toBe(unavailable);
  });

  it('covers usage beyond its take with the next lease', async () => {
    const { account, grant } = newAccount(rate);
    const first = account.take(5, 5);
    account.question();
    grant(5);
    expect(await first).toBe(5);
    account.put(-20, account.startMs, account.lease);
    void account.take(1, 1);
    expect(account.question()).toMatchObject({ need: 21 });
  });
});

describe('an account of a budget', () => {
  it('reports the smallest call that was rejected, once', () => {
    const { account, grant } = newAccount(budget);
    expect(account.question()).toMatchObject({ refused: undefined });
    grant(0);
    account.noteRefusal(30);
    account.noteRefusal(20);
    expect([account.hasRefusal, (account.question() as BudgetAsk).refused, account.hasRefusal]).toEqual([true, 20, false]);
  });

  const start = (spec = budget) => {
    const all = newAccount(spec);
    const first = all.account.take(100, 100);
    all.account.question();
    all.grant(400, { startMs: 7, leaseMs: 300_000 });
    return { ...all, first };
  };

  it('reports at most as many leases as a request can hold, because budgets share a request', async () => {
    const { account, grant } = newAccount({ ...budget, capacity: 1e15 });
    const first = account.take(1, 1);
    account.question();
    grant(5_000, { startMs: 1, remaining: 1e15 });
    await first;
    const { startMs, lease } = account;
    account.put(-2e15, startMs, lease);
    const told = () => account.question() as BudgetAsk;
    expect(v.is(limitUnits, told().need)).toBe(true);
    grant(1e15, { startMs: 1, remaining: 0 });
    expect(told().kept).toBe(1e15);
    grant(0, { startMs: 1, remaining: 0 });
    account.hold();
    account.spec = { ...budget, capacity: 1e15, resetAt: '2027-01-01T00:00:00.000Z' };
    expect(told().left).toMatchObject([{ kept: 1e15 }]);
  });

  it('reports in each request all units received and not returned', () => {
    const { account } = start();
    expect(account.question()).toMatchObject({ lease: 'lease-1', seq: 2, kept: 400, startMs: 7 });
    account.granted({ key: 'budget', startMs: 7, endMs: null, units: 0, remaining: 0, leaseMs: 300_000 });
    account.giveBack();
    expect(account.question()).toMatchObject({ seq: 3, kept: 100 });
  });

  it('takes the available units if a request does not state a maximum', async () => {
    const { account } = start();
    expect(account.available).toBe(300);
    expect(account.take(10, 1_000)).toBe(300);
  });

  it('stops spending before its lease ends in the ledger, and begins another', () => {
    const { account, time } = start();
    time.advance(294_999);
    expect(account.take(1, 1)).toBe(1);
    time.advance(1);
    expect(account.take(1, 1)).toBeInstanceOf(Promise);
    expect(account.question()).toMatchObject({ lease: 'lease-2', seq: 1, kept: 0 });
  });

  it('accepts no returned units for a lease or window that has ended', () => {
    const { account, time } = start();
    account.put(50, 7, 'lease-0');
    account.put(50, 6, 'lease-1');
    expect(account.available).toBe(300);
    time.advance(295_000);
    account.put(50, 7, 'lease-1');
    expect(account.available).toBe(0);
  });

  it('reports a former lease until none of it is in flight and the ledger has confirmed it', () => {
    const { account, grant } = start();
    account.hold();
    account.spec = { ...budget, resetAt: '2027-01-01T00:00:00.000Z' };
    // 300 are in hand and 100 are in flight.
    expect(account.question()).toMatchObject({ lease: 'lease-2', kept: 0, left: [{ lease: 'lease-1', seq: 2, kept: 100 }] });
    account.failed(false);
    expect(account.isUnreported).toBe(true);
    expect(account.question()).toMatchObject({ left: [{ lease: 'lease-1', seq: 3, kept: 100 }] });
    grant(0, { startMs: 8, leaseMs: 300_000 });
    expect([account.isUnreported, account.isNeeded]).toEqual([false, true]);
    // 60 of them are used.
    account.put(40, 7, 'lease-1');
    account.release('lease-1');
    expect(account.isUnreported).toBe(true);
    expect(account.question()).toMatchObject({ left: [{ lease: 'lease-1', seq: 4, kept: 60 }] });
    grant(0, { startMs: 8, leaseMs: 300_000 });
    expect([account.isUnreported, account.isNeeded, account.available]).toEqual([false, false, 0]);
    expect(account.question()).toMatchObject({ left: [] });
  });

  it('repeats a return whose arrival is unknown', () => {
    const { account, grant } = start();
    account.giveBack();
    expect(account.question()).toMatchObject({ kept: 100 });
    account.failed(false);
    expect(account.isUnreported).toBe(true);
    expect(account.question()).toMatchObject({ kept: 100, need: 0, want: 0 });
    grant(0, { startMs: 7, leaseMs: 300_000 });
    expect(account.isUnreported).toBe(false);
  });

  it('returns units granted to a former lease', () => {
    const { account, grant } = start();
    account.take(301, 301);
    account.question();
    account.spec = { ...budget, periodicReset: 'weekly' };
    grant(200, { startMs: 7, leaseMs: 300_000 });
    expect(account.available).toBe(0);
    expect(account.question()).toMatchObject({ need: 301, left: [{ lease: 'lease-1', kept: 100 }] });
  });

  it('begins with no units if the ledger has deleted the lease', () => {
    const { account, grant } = start();
    account.question();
    grant(50, { startMs: 7, leaseMs: 300_000, isNew: true });
    expect(account.available).toBe(50);
    account.giveBack();
    expect(account.question()).toMatchObject({ kept: 0 });
  });

  it('waits for units that other processes may return, without keeping a part', async () => {
    const { account, grant, delays, recalls, time } = start();
    const taken = account.take(500, 500);
    expect(account.question()).toMatchObject({ need: 200, kept: 400 });
    grant(50, { startMs: 7, remaining: 0, others: 600, pending: 600, leaseMs: 300_000 });
    expect([recalls(), account.available]).toEqual([1, 0]);
    // Returns units at once, and asks again after a pause.
    expect(delays.slice(-2)).toEqual([20, 0]);
    expect(account.question()).toMatchObject({ need: 0, want: 0, kept: 100 });
    grant(0, { startMs: 7, remaining: 350, leaseMs: 300_000 });
    time.advance(20);
    expect(account.question()).toMatchObject({ need: 500, want: 500, kept: 100, recalledMs: 20 });
    grant(500, { startMs: 7, remaining: 400, others: 0, leaseMs: 300_000 });
    expect(await taken).toBe(500);
  });

  it('rejects after other processes have replied to the recall with units of calls in flight only', async () => {
    const { account, grant, recalls, time } = start();
    const taken = account.take(500, 500);
    account.question();
    grant(0, { startMs: 7, remaining: 0, others: 600, pending: 600, leaseMs: 300_000 });
    account.question();
    grant(0, { startMs: 7, remaining: 300, leaseMs: 300_000 });
    time.advance(20);
    account.question();
    grant(300, { startMs: 7, remaining: 0, others: 600, pending: 0, leaseMs: 300_000 });
    expect(await taken).toBe(refused);
    expect(recalls()).toBe(1);
    // Calls may use less than they reserved, so the account asks again after a short pause.
    const next = account.take(500, 500);
    expect(next).toBeInstanceOf(Promise);
  });

  it('rejects after 900 ms if the holder of the missing units does not react, and does not wait for it again', async () => {
    const { account, grant, recalls, time } = start();
    const silent = { startMs: 7, remaining: 0, others: 600, pending: 600, leaseMs: 300_000 };
    const taken = account.take(500, 500);
    account.question();
    grant(0, silent);
    time.advance(900);
    account.question();
    grant(0, silent);
    expect(await taken).toBe(refused);
    expect(recalls()).toBe(1);
    time.advance(25);
    const next = account.take(500, 500);
    account.question();
    grant(0, silent);
    expect(await next).toBe(refused);
  });

  it('returns unused units when another process lacks them, and for a second takes only what it needs', () => {
    const { account, grant, woken, time } = start();
    account.hold();
    const before = woken();
    account.recall();
    expect(woken()).toBe(before + 1);
    expect(account.question()).toMatchObject({ kept: 100, need: 0, want: 0 });
    grant(0, { startMs: 7, leaseMs: 300_000 });
    void account.take(10, 10);
    expect(account.question()).toMatchObject({ need: 10, want: 10 });
    grant(10, { startMs: 7, leaseMs: 300_000 });
    // The rest of a call that used less than it reserved.
    account.put(60, 7, account.lease);
    expect(account.available).toBe(0);
    time.advance(1_000);
    void account.take(10, 10);
    expect(account.question()).toMatchObject({ need: 10, want: 1_000 });
  });

  it('keeps a lease whose window begins later by the ledger’s clock', () => {
    const all = newAccount(budget);
    void all.account.take(1, 1);
    all.account.question();
    all.grant(10, { startMs: 1_800_000_060_000, leaseMs: 300_000 });
    expect(all.account.take(1, 1)).toBe(1);
    expect(all.account.question()).toMatchObject({ lease: 'lease-1', seq: 2, kept: 10 });
  });
});
