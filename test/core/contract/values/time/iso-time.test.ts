import { expect, it } from 'vitest';
import { isoTime } from '../../../../../core/contract/values/time/iso-time.ts';

it('writes a time as Date.toISOString does, within a second, after it and before it', () => {
  for (const ms of [1_800_000_000_007, 1_800_000_000_123, 1_800_000_000_999, 1_800_000_001_000, 1_799_999_999_999, 0, -1]) {
    expect(isoTime(ms)).toBe(new Date(ms).toISOString());
  }
});
