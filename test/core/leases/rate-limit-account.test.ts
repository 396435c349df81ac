import { describe, expect, it } from 'vitest';
import { refused, unavailable } from '../../../core/contract/protocol/limits/leases.ts';
import { newAccount, rate } from './new-account.ts';

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

  it('spends no unit of its lease after the limit was lowered, because all processes together may exceed it', () => {
    const { account, grant } = newAccount(rate);
    void account.take(1, 1);
    account.question();
    grant(30);
    account.spec = { ...rate, capacity: 20 };
    expect(account.take(1, 1)).toBeInstanceOf(Promise);
    expect(account.question()).toMatchObject({ capacity: 20, kept: 1, need: 1 });
  });

  it('covers usage beyond its take with the next lease, which it requests at once', async () => {
    const { account, grant, woken } = newAccount(rate);
    const first = account.take(5, 5);
    account.question();
    grant(5);
    expect(await first).toBe(5);
    const before = woken();
    account.put(-20, account.startMs, account.lease);
    expect(woken()).toBe(before + 1);
    void account.take(1, 1);
    expect(account.question()).toMatchObject({ need: 21 });
  });
});
