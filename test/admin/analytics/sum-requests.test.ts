import { describe, expect, it } from 'vitest';
import { measureNames } from '../../../admin/analytics/measures.ts';
import { sumRequests } from '../../../admin/analytics/sum-requests.ts';
import { encodeSums } from '../../../admin/analytics/write-rollups.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const nowMs = Date.parse('2026-11-21T01:02:30.000Z');
const requestsAt = measureNames.indexOf('requests');
const request = (changes = {}) => ({ record: sampleRecord(changes), cost: 5 });
const ofGrain = (sums: ReturnType<typeof sumRequests>, grain: string) =>
  sums.changes.filter(({ span }) => span.grain.name === grain);
const countsOf = (sums: ReturnType<typeof sumRequests>, grain: string) =>
  ofGrain(sums, grain).map(({ amounts }) => amounts[requestsAt]);

describe('sums of requests', () => {
  it('have one change for each row, although several grains and times share a name', () => {
    const other = { createdAt: '2026-11-21T01:01:03.456Z' };
    const sums = sumRequests([request(), request(other), request(), request({ ...other, model: 'gpt-4o' })], nowMs);
    expect(countsOf(sums, 'minute')).toEqual([2, 2]);
    expect(countsOf(sums, 'hour')).toEqual([4]);
    expect(countsOf(sums, 'hour_model')).toEqual([3, 1]);
    expect(countsOf(sums, 'hour_detail')).toEqual([3, 1]);
  });

  it('keep organisations apart that have the same values', () => {
    const sums = sumRequests([request(), request({ organisationId: 'organisation-2' }), request()], nowMs);
    expect(countsOf(sums, 'hour')).toEqual([2, 1]);
    expect(ofGrain(sums, 'hour').map(({ span }) => span.organisationId)).toEqual(['organisation-1', 'organisation-2']);
  });

  it('do not include requests of an earlier batch, and reuse its names', () => {
    const [first, second] = [sumRequests([request(), request()], nowMs), sumRequests([request()], nowMs)];
    expect(countsOf(second, 'hour')).toEqual([1]);
    expect(ofGrain(second, 'hour_detail')[0]?.name).toBe(ofGrain(first, 'hour_detail')[0]?.name);
  });

  it('count users only if the request names one', () => {
    const sums = sumRequests([request(), request({ metadata: { _user: 'ada' } })], nowMs);
    expect(countsOf(sums, 'hour_user')).toEqual([1]);
    expect(countsOf(sums, 'hour_detail')).toEqual([2]);
  });

  it('forget names when there are many, because callers choose users', () => {
    const before = ofGrain(sumRequests([request()], nowMs), 'hour')[0]?.name;
    const users = Array.from({ length: 10_001 }, (_, at) => request({ metadata: { _user: `user-${at}` } }));
    expect(countsOf(sumRequests(users, nowMs), 'hour_user')).toHaveLength(users.length);
    const after = ofGrain(sumRequests([request()], nowMs), 'hour')[0]?.name;
    expect(after).toEqual(before);
    expect(after).not.toBe(before);
  });

  it('are sent as arrays in which quotes and backslashes are escaped, and columns without values are empty', () => {
    const sums = sumRequests([request({ model: 'a"b\\c', userId: null })], nowMs);
    const columns = encodeSums(sums);
    expect(columns.some((column) => column.includes('"a\\"b\\\\c"'))).toBe(true);
    expect(columns.filter((column) => column === '{}').length).toBeGreaterThan(5);
  });
});
