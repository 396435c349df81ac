import { describe, expect, it } from 'vitest';
import { budgetWindow, nextResetMs, windowStartMs } from '../../../../../core/contract/protocol/limits/limit-window.ts';

const at = (iso: string): number => Date.parse(iso);
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
const none = { periodicReset: null, periodicResetDays: null, nextUsageResetAt: null };

describe('windows of rate limits', () => {
  it('begin on whole units since the epoch, in UTC', () => {
    expect(iso(windowStartMs(at('2026-03-29T01:59:59.999Z'), 60_000))).toBe('2026-03-29T01:59:00.000Z');
    expect(iso(windowStartMs(at('2026-03-29T23:59:59.999Z'), 86_400_000))).toBe('2026-03-29T00:00:00.000Z');
    expect(windowStartMs(0, 1_000)).toBe(0);
  });
});

describe('windows of budgets', () => {
  it.each([
    ['weekly', '2026-11-18T10:00:00Z', '2026-11-23T00:00:00.000Z'],
    ['weekly', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00.000Z'],
    ['weekly', '2026-11-22T23:59:59Z', '2026-11-23T00:00:00.000Z'],
    ['monthly', '2026-11-21T10:00:00Z', '2026-12-01T00:00:00.000Z'],
    ['monthly', '2026-12-31T23:59:59Z', '2027-01-01T00:00:00.000Z'],
    ['monthly', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00.000Z'],
  ] as const)('%s, begun at %s, ends at %s', (periodicReset, start, end) => {
    expect(iso(nextResetMs({ ...none, periodicReset }, at(start)))).toBe(end);
  });

  it('with a period of N days end at midnight, N days after the day they began', () => {
    expect(iso(nextResetMs({ ...none, periodicResetDays: 10 }, at('2026-11-21T17:30:00Z')))).toBe('2026-12-01T00:00:00.000Z');
  });

  it('never end without a period', () => {
    expect(budgetWindow(none, 5, at('2126-01-01T00:00:00Z'))).toEqual({ startMs: 5, endMs: null });
  });

  it('end at the configured time, and then by their period', () => {
    const rule = { ...none, periodicReset: 'monthly', nextUsageResetAt: '2026-12-15T08:00:00.000Z' } as const;
    const start = at('2026-11-21T00:00:00Z');
    expect(iso(budgetWindow(rule, start, at('2026-12-15T07:59:59Z')).endMs)).toBe('2026-12-15T08:00:00.000Z');
    const next = budgetWindow(rule, start, at('2026-12-15T08:00:00Z'));
    expect([iso(next.startMs), iso(next.endMs)]).toEqual(['2026-12-15T08:00:00.000Z', '2027-01-01T00:00:00.000Z']);
  });

  it('without any request are skipped', () => {
    const window = budgetWindow({ ...none, periodicReset: 'weekly' }, at('2025-01-01T00:00:00Z'), at('2026-11-21T05:00:00Z'));
    expect([iso(window.startMs), iso(window.endMs)]).toEqual(['2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z']);
  });
});
