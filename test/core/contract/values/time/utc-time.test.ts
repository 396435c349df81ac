import { afterEach, beforeEach, expect, it } from 'vitest';
import { utcMs } from '../../../../../core/contract/values/time/utc-time.ts';

const zone = process.env.TZ;
beforeEach(() => {
  process.env.TZ = 'America/New_York';
});
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

it.each([
  ['2026-11-22', '2026-11-22T00:00:00.000Z'],
  ['2026-11-22T10:00:00', '2026-11-22T10:00:00.000Z'],
  ['2026-11-22 10:00', '2026-11-22T10:00:00.000Z'],
  ['2026-11-22T10:00:00.5', '2026-11-22T10:00:00.500Z'],
  ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
  ['2026-11-22T10:00:00+05:45', '2026-11-22T04:15:00.000Z'],
  ['2026-11-22T10:00:00+0545', '2026-11-22T04:15:00.000Z'],
])('times without a zone are UTC on a machine in another zone: %s', (text, expected) => {
  expect(new Date(utcMs(text)).toISOString()).toBe(expected);
});

it.each(['', 'yesterday', '2026-13-01', '10:00'])('another text is not a time: %j', (text) => {
  expect(utcMs(text)).toBeNaN();
});
