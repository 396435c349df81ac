import { describe, expect, it } from 'vitest';
import { mergeUsageLimits } from '../../../admin/limits/schema.ts';

describe('budgets of another type', () => {
  const dollars = mergeUsageLimits(null, { type: 'cost', credit_limit: 10, alert_threshold: 9, periodic_reset: 'weekly' });

  it('do not read the threshold of dollars as tokens, and keep the reset', () => {
    const tokens = mergeUsageLimits(dollars, { type: 'tokens', credit_limit: 1_000 });
    expect(tokens).toMatchObject({ type: 'tokens', creditLimit: 1_000, alertThreshold: null, periodicReset: 'weekly' });
    expect(tokens.id).not.toBe(dollars.id);
  });

  it('need a limit of their own', () => {
    expect(() => mergeUsageLimits(dollars, { type: 'tokens' })).toThrow('usage_limits.credit_limit: required');
  });

  it('differ from a change within the type, which keeps what it does not name', () => {
    const raised = mergeUsageLimits(dollars, { type: 'cost', credit_limit: 20 });
    expect(raised).toEqual({ ...dollars, creditLimit: 20 });
  });
});
