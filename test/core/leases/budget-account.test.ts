import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { limitUnits } from '../../../core/contract/protocol/limits/budget-rules.ts';
import { type BudgetAsk, refused } from '../../../core/contract/protocol/limits/leases.ts';
import { budget, newAccount } from './new-account.ts';

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

  it('accepts no units of an earlier window for a lease that it has left', () => {
    const { account, grant } = start();
    account.hold();
    account.question();
    // The ledger has begun another window. The lease stays the same.
    grant(50, { startMs: 8, leaseMs: 300_000, isNew: true });
    account.hold();
    account.take(50, 50);
    account.spec = { ...budget, resetAt: '2027-01-01T00:00:00.000Z' };
    account.put(40, 7, 'lease-1');
    expect(account.isUnreported).toBe(false);
    account.put(40, 8, 'lease-1');
    expect(account.question()).toMatchObject({ left: [{ lease: 'lease-1', kept: 10 }] });
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
