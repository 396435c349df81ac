import { describe, expect, it } from 'vitest';
import type { SummedUntil } from '../../../../admin/analytics/sum-days.ts';
import { rangeOf } from '../../../../admin/resources/analytics/range.ts';
import { type DatedSelection, sourceOf } from '../../../../admin/resources/analytics/source.ts';

const nowMs = Date.parse('2026-11-20T15:47:12.345Z');
const hour = 3_600_000;
const summedUntil: SummedUntil = {
  ...{ daysMs: Date.parse('2026-11-20T00:00:00Z'), quartersMs: Date.parse('2026-11-20T12:00:00Z') },
  ...{ weeksFromMs: 0, weeksMs: Date.parse('2026-11-19T00:00:00Z') },
};
const selection = (hours: number, changes: Partial<DatedSelection> = {}): DatedSelection => {
  const times = { time_of_generation_min: new Date(nowMs - hours * hour), time_of_generation_max: new Date(nowMs) };
  const filters = { ...times, ...changes.filters };
  return { organisationId: 'o', workspaceId: null, ofUser: null, summedUntil, ...changes, filters, range: rangeOf(times, nowMs) };
};
/** Grains that a query reads; none if it reads the records. */
const grainsOf = (...of: Parameters<typeof sourceOf>) => {
  const { text, values } = sourceOf(...of);
  expect(text.split('?').length - 1).toBe(values.length);
  expect(text.includes('request_records')).toBe(!text.includes('usage_rollups'));
  return values.filter((one) => typeof one === 'string' && /^(minute|hour|quarter|day|week)/.test(one));
};

const none = { daysMs: 0, quartersMs: 0, weeksFromMs: 0, weeksMs: 0 };
const hoursOf = (hour: string, day: string) => [hour, day, hour];
const quartersOf = (hour: string, quarter: string, day: string) => [hour, quarter, day, quarter, hour];

describe('analytics read', () => {
  const byConfig = { filters: { configs: ['c'] } };
  const byKey = { filters: { api_key_ids: ['k'] } };
  it.each([
    ['totals of minutes for the last hours', selection(2), [], ['minute']],
    ['totals of hours for a few days', selection(48), [], ['hour']],
    ['totals of days, and of hours at their ends', selection(240), [], hoursOf('hour', 'day')],
    ['totals of hours if no day is summed', selection(240, { summedUntil: none }), [], ['hour']],
    ['rows of models', selection(240, { filters: { ai_model: ['m'] } }), ['provider'], hoursOf('hour_model', 'day_model')],
    ['rows of keys', selection(48, byKey), [], ['hour_key']],
    ['rows of keys for those who see only their own', selection(48, { ofUser: 'u' }), [], ['hour_key']],
    ['details of hours for another filter', selection(48, byConfig), [], ['hour_detail']],
    ['whole days and the hours at their ends', selection(240, byConfig), [], hoursOf('hour_detail', 'day_detail')],
    ['details for models and keys', selection(48, byKey), ['model'], ['hour_detail']],
    [
      'days of models and keys',
      selection(240, byKey),
      ['model'],
      quartersOf('hour_detail', 'quarter_key_model', 'day_key_model'),
    ],
    [
      'hours of models and keys if nothing is summed',
      selection(240, { ...byKey, summedUntil: none }),
      ['model'],
      ['hour_detail'],
    ],
    ['users by hour and day', selection(240), ['end_user'], quartersOf('hour_user', 'quarter_user', 'day_user')],
    ['records for filters within minutes', selection(2, byKey), [], []],
    ['records for users of one key', selection(240, byKey), ['end_user'], []],
    ['records for metadata', selection(240, { filters: { metadata: { team: ['a'] } } }), [], []],
    ['records for trace ids', selection(240, { filters: { trace_id: ['t'] } }), [], []],
  ] as const)('%s', (_what, of, groups, expected) => {
    expect(grainsOf(of, groups)).toEqual(expected);
  });

  it.each([
    ['quarters within a day', selection(20), ['api_key_id', 'model'], ['hour_detail', 'quarter_key_model', 'hour_detail']],
    ['the whole day of a short range', selection(48), ['model'], hoursOf('hour_model', 'day_model')],
    ['hours if a range contains nothing longer', selection(4), ['api_key_id', 'model'], ['hour_detail']],
    ['records for groups within minutes', selection(2), ['model'], []],
  ] as const)('for groups without buckets: %s', (_what, of, groups, expected) => {
    expect(grainsOf(of, groups, { inBuckets: false })).toEqual(expected);
  });

  const weeksOf = (name: string) => [`day_${name}`, `week_${name}`, `day_${name}`];
  it.each([
    ['whole weeks', {}, weeksOf('model')],
    ['days of weeks that are not summed', { weeksMs: Date.parse('2026-11-12T00:00:00Z') }, ['day_model']],
    ['days of weeks that are deleted', { weeksFromMs: Date.parse('2026-11-19T00:00:00Z') }, ['day_model']],
    ['hours of days that are not summed', { daysMs: Date.parse('2026-11-19T00:00:00Z') }, ['day_model', 'week_model']],
  ] as const)('for groups without buckets over more than a week: %s', (_what, until, expected) => {
    const of = selection(240, { summedUntil: { ...summedUntil, ...until } });
    expect(grainsOf(of, ['model'], { inBuckets: false })).toEqual(['hour_model', ...expected, 'hour_model']);
  });

  it('no weeks in a range of a week and a half that begins and ends within two weeks', () => {
    const to = new Date(nowMs - 4 * 24 * hour);
    const filters = { time_of_generation_min: new Date(nowMs - 14 * 24 * hour), time_of_generation_max: to };
    const of = { ...selection(240), filters, range: rangeOf(filters, nowMs) };
    expect(grainsOf(of, ['model'], { inBuckets: false })).toEqual(hoursOf('hour_model', 'day_model'));
  });

  it('each time once, in rows that lie within the range', () => {
    const { values } = sourceOf(selection(240), ['api_key_id', 'model'], { inBuckets: false });
    const times = values.filter((one) => one instanceof Date).map((one) => one.toISOString().slice(5, 16));
    expect(times).toEqual(
      ['11-10T15:00', '11-10T18:00', '11-10T18:00', '11-11T00:00', '11-11T00:00', '11-12T00:00'].concat([
        ...['11-12T00:00', '11-19T00:00', '11-19T00:00', '11-20T00:00'],
        '11-20T00:00',
        '11-20T12:00',
        '11-20T12:00',
        '11-20T16:00',
      ]),
    );
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
