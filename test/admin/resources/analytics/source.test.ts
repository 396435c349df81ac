import { describe, expect, it } from 'vitest';
import { rangeOf } from '../../../../admin/resources/analytics/range.ts';
import { type DatedSelection, sourceOf } from '../../../../admin/resources/analytics/source.ts';

const nowMs = Date.parse('2026-11-20T15:47:12.345Z');
const hour = 3_600_000;
const selection = (hours: number, changes: Partial<DatedSelection> = {}): DatedSelection => {
  const times = { time_of_generation_min: new Date(nowMs - hours * hour), time_of_generation_max: new Date(nowMs) };
  const filters = { ...times, ...changes.filters };
  const tenant = { organisationId: 'o', workspaceId: null, ofUser: null, daysUntilMs: Date.parse('2026-11-20T00:00:00Z') };
  return { ...tenant, ...changes, filters, range: rangeOf(times, nowMs) };
};
/** Grains that a query reads; none if it reads the records. */
const grainsOf = (...of: Parameters<typeof sourceOf>) => {
  const { text, values } = sourceOf(...of);
  expect(text.split('?').length - 1).toBe(values.length);
  expect(text.includes('request_records')).toBe(!text.includes('usage_rollups'));
  return values.filter((one) => typeof one === 'string' && /^(minute|hour|day)/.test(one));
};

const hoursOf = (hour: string, day: string) => [hour, day, hour];

describe('analytics read', () => {
  const byConfig = { filters: { configs: ['c'] } };
  const byKey = { filters: { api_key_ids: ['k'] } };
  it.each([
    ['totals of minutes for the last hours', selection(2), [], ['minute']],
    ['totals of hours for a few days', selection(48), [], ['hour']],
    ['totals of days, and of hours at their ends', selection(240), [], hoursOf('hour', 'day')],
    ['totals of hours if no day is summed', selection(240, { daysUntilMs: 0 }), [], ['hour']],
    ['rows of models', selection(240, { filters: { ai_model: ['m'] } }), ['provider'], hoursOf('hour_model', 'day_model')],
    ['rows of keys', selection(48, byKey), [], ['hour_key']],
    ['rows of keys for those who see only their own', selection(48, { ofUser: 'u' }), [], ['hour_key']],
    ['details of hours for another filter', selection(48, byConfig), [], ['hour_detail']],
    ['whole days and the hours at their ends', selection(240, byConfig), [], hoursOf('hour_detail', 'day_detail')],
    ['details for models and keys', selection(48, byKey), ['model'], ['hour_detail']],
    ['days of models and keys', selection(240, byKey), ['model'], hoursOf('hour_detail', 'day_key_model')],
    ['users by hour and day', selection(240), ['end_user'], hoursOf('hour_user', 'day_user')],
    ['records for filters within minutes', selection(2, byKey), [], []],
    ['records for users of one key', selection(240, byKey), ['end_user'], []],
    ['records for metadata', selection(240, { filters: { metadata: { team: ['a'] } } }), [], []],
    ['records for trace ids', selection(240, { filters: { trace_id: ['t'] } }), [], []],
  ] as const)('%s', (_what, of, groups, expected) => {
    expect(grainsOf(of, groups)).toEqual(expected);
  });

  it('widen a range to whole minutes or hours', () => {
    const at = (ms: number) => new Date(ms).toISOString();
    expect([selection(2).range.fromMs, selection(2).range.toMs].map(at)).toEqual([
      '2026-11-20T13:47:00.000Z',
      '2026-11-20T15:48:00.000Z',
    ]);
    expect([selection(240).range.fromMs, selection(240).range.toMs].map(at)).toEqual([
      '2026-11-10T15:00:00.000Z',
      '2026-11-20T16:00:00.000Z',
    ]);
  });
});
