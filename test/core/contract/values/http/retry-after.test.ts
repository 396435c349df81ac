import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../../../../core/contract/values/http/retry-after.ts';

const date = ['date', 'Mon, 30 Nov 2026 10:00:00 GMT'] as const;

describe('retryAfterMs', () => {
  it.each([
    ['7', 7000],
    ['1.5', 1500],
    ['0', 0],
    ['Mon, 30 Nov 2026 10:00:02 GMT', 2000],
    ['Monday, 30-Nov-26 10:00:02 GMT', 2000],
    ['Mon Nov 30 10:00:02 2026 GMT', 2000],
    ['2026-11-30T10:00:02Z', 2000],
    ['Sun, 29 Nov 2026 10:00:00 GMT', 0],
  ])('reads %s', (value, ms) => {
    expect(retryAfterMs([...date, 'retry-after', value])).toBe(ms);
  });

  it.each(['-5', '1, 2', '0x1', '1e1', 'soon', '', 'Infinity', 'Mon, soon'])('returns null for %j, which is no time', (value) => {
    expect(retryAfterMs([...date, 'retry-after', value])).toBeNull();
  });
});
