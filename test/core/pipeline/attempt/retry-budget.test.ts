import { beforeEach, describe, expect, it } from 'vitest';
import { createRetryBudget, type RetryAccount } from '../../../../core/pipeline/attempt/retry-budget.ts';
import { type FakeTime, newFakeTime } from '../../../support/fakes/fake-time.ts';

let time: FakeTime;
beforeEach(() => {
  time = newFakeTime();
});

const newBudget = (percent: number, floor: number) => createRetryBudget({ clock: time.clock, percent, floor });
function requests(account: RetryAccount, count: number): void {
  for (let i = 0; i < count; i++) account.request();
}
/** Number of retries before the first one is rejected. */
function allowed(account: RetryAccount): number {
  let count = 0;
  while (account.retry()) count++;
  return count;
}

describe('the retry budget', () => {
  it('is a share of the requests', () => {
    const account = newBudget(20, 0).of('tenant', 'https://one.example');
    requests(account, 100);
    expect(allowed(account)).toBe(20);
  });

  it('has a minimum for low traffic, which is not added to the share', () => {
    const budget = newBudget(20, 5);
    const quiet = budget.of('tenant', 'https://one.example');
    requests(quiet, 1);
    expect(allowed(quiet)).toBe(5);
    const busy = budget.of('tenant', 'https://two.example');
    requests(busy, 100);
    expect(allowed(busy)).toBe(20);
    expect(budget.counts).toEqual({ allowed: 25, refused: 2 });
  });

  it('drops requests and retries after ten seconds', () => {
    const account = newBudget(10, 0).of('tenant', 'https://one.example');
    requests(account, 50);
    time.advance(5000);
    requests(account, 50);
    expect(allowed(account)).toBe(10);
    time.advance(5000);
    expect(allowed(account)).toBe(0);
    requests(account, 100);
    expect(allowed(account)).toBe(5);
    time.advance(3_600_000);
    expect(allowed(account)).toBe(0);
    requests(account, 10);
    expect(allowed(account)).toBe(1);
  });

  it('is separate per tenant and origin', () => {
    const budget = newBudget(0, 1);
    const origins = ['https://one.example', 'https://two.example'];
    const accounts = ['a', 'b'].flatMap((tenant) => origins.map((origin) => budget.of(tenant, origin)));
    expect(accounts.map(allowed)).toEqual([1, 1, 1, 1]);
    expect(budget.of('a', 'https://one.example')).toBe(accounts[0]);
  });

  it('set to zero allows no retry', () => {
    const account = newBudget(0, 0).of('tenant', 'https://one.example');
    requests(account, 1000);
    expect(allowed(account)).toBe(0);
  });
});
