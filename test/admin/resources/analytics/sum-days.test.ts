import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hoursAndDays } from '../../../../admin/analytics/grains.ts';
import { sumDays } from '../../../../admin/analytics/sum-days.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';
import { randomUsage } from './random-usage.ts';

const nowMs = Date.parse('2099-11-20T15:47:12.345Z');

describe.each(databases)('days of roll-ups, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, {}, { clock: { now: () => nowMs, elapsed: () => performance.now() } });
  });
  afterAll(() => plane?.close());

  const em = () => plane.control.services.database.em();
  /** Sums of the days before today, from rows of hours and from rows of days. */
  const sumsOf = (grain: string) =>
    em().execute(
      `select (starts_at at time zone 'UTC')::date::text as day, sum(requests)::int as requests, sum(cost_nano)::text as cost, min(first_at) as first,
         max(last_at) as last, sum((select sum(one - (((one + 2147483648) >> 32) << 32)) from unnest(latency) one))::int as counted
       from usage_rollups where grain = ? and starts_at < '2099-11-20' group by 1 having sum(requests) > 0 order by 1`,
      [grain],
    );

  it('equal their hours, also if records of these days arrive while they are summed', async () => {
    const tenant = { organisationId: plane.organisationId, workspaceIds: [plane.workspaceId] };
    const records = randomUsage(41, 400, nowMs, tenant);
    const batches = Array.from({ length: 20 }, (_, at) => records.slice(at * 20, at * 20 + 20));
    const send = async (some: readonly unknown[]) =>
      expect((await plane.internal('POST', '/records', some)).body).toMatchObject({ inserted: 20 });
    for (const batch of batches.slice(0, 5)) await send(batch);
    // Slices of ten rows, so that every grain needs several.
    const summing = sumDays(plane.control.services.database, nowMs, { rowsMax: 10 });
    await Promise.all([summing, ...batches.slice(5).map(send)]);
    const [{ until }] = await em().execute<[{ until: string }]>(
      `select to_char(days_until at time zone 'UTC', 'YYYY-MM-DD') as until from rollup_days where organisation_id = ?`,
      [plane.organisationId],
    );
    expect(until).toBe('2099-11-20');
    for (const [hours, days] of hoursAndDays) {
      const expected = await sumsOf(hours.name);
      expect(expected.length).toBeGreaterThan(3);
      expect([days.name, await sumsOf(days.name)]).toEqual([days.name, expected]);
    }
  });

  it('are not written for a day that has not ended an hour ago', async () => {
    const endMs = Date.parse('2099-11-21T00:00:00Z');
    const days = async () =>
      (
        await em().execute<{ n: number }[]>(
          `select count(*)::int as n from usage_rollups where grain = 'day' and starts_at >= '2099-11-20'`,
        )
      )[0]?.n;
    await sumDays(plane.control.services.database, endMs + 3_599_999);
    expect(await days()).toBe(0);
    await sumDays(plane.control.services.database, endMs + 3_600_000);
    expect(await days()).toBeGreaterThan(0);
  });
});
