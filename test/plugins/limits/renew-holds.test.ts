import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { ReservationRecord } from '../../../core/contract/plugin/record/record.ts';
import type { Hold } from '../../../plugins/limits/hold.ts';
import type { Meter } from '../../../plugins/limits/meters.ts';
import { renewHolds } from '../../../plugins/limits/renew-holds.ts';
import { budget, newAccount } from '../../core/leases/new-account.ts';

/** A session with 10 tokens of a budget, all of them in its reservation, that has used `tokens`. */
async function start(tokens: number) {
  const { account, grant } = newAccount(budget);
  const taken = account.take(10, 10);
  account.question();
  grant(10, { startMs: 7, remaining: 990 });
  expect(await taken).toBe(10);
  account.hold();
  const meter: Meter = {
    ...{ scope: 'key', unit: 'tokens', isBudget: true, capacity: 1_000, period: null, onUnavailable: 'deny' },
    ...{ account, policy: null },
  };
  const hold: Hold = { meter, units: 10, startMs: account.startMs, lease: account.lease, counted: 0, used: 0 };
  const usage = { inputTokens: tokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const ctx = { ended: false, usage } as unknown as RequestContext;
  const left: ReservationRecord[] = [];
  const renew = (most: number) => renewHolds(ctx, [hold], left, null, () => most, 0);
  return { account, grant: (units: number, startMs = 7) => grant(units, { startMs, remaining: 500 }), hold, ctx, left, renew };
}

describe('the reservation of a session', () => {
  it('is renewed by as much as its last reply has used, if that is more than a usual reply', async () => {
    const { account, grant, hold, renew } = await start(60);
    const renewed = renew(20);
    account.question();
    grant(500);
    expect(await renewed).toBeNull();
    expect(hold).toMatchObject({ units: 60, counted: 60, used: 60 });
    expect(account.available).toBe(390);
  });

  it('gets no units that arrive after its end: they are free for other calls', async () => {
    const { account, grant, hold, ctx, renew } = await start(10);
    const renewed = renew(20);
    account.question();
    Object.assign(ctx, { ended: true });
    account.release(account.lease);
    grant(500);
    expect(await renewed).toBeNull();
    expect([hold.units, account.available, account.calls]).toEqual([0, 500, 0]);
  });

  it('is of the next lease after a restart of the budget, and the usage of the previous lease is reported', async () => {
    const { account, grant, hold, left, renew } = await start(10);
    const previous = account.lease;
    account.spec = { ...budget, resetAt: '2026-12-01T00:00:00.000Z' };
    const renewed = renew(20);
    account.question();
    grant(500, 8);
    expect(await renewed).toBeNull();
    expect(left).toEqual([{ key: 'budget', lease: previous, startMs: 7, units: 10 }]);
    expect(account.lease).not.toBe(previous);
    expect([hold, account.calls]).toEqual([expect.objectContaining({ lease: account.lease, startMs: 8, units: 20, used: 0 }), 1]);
    account.release(account.lease);
    account.question();
    grant(0, 8);
    expect(account.isNeeded).toBe(false);
  });
});
