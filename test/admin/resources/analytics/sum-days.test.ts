import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sumDays, summedSpans, weeks } from '../../../../admin/analytics/sum-days.ts';
import { verifyLedger } from '../../../../admin/resources/ledger-entries/verify-ledger.ts';
import { readRetention } from '../../../../admin/resources/logs/retention.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';
import { randomUsage } from './random-usage.ts';

const nowMs = Date.parse('2099-11-20T15:47:12.345Z');

describe.each(databases)('days of roll-ups, their quarters and weeks, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, {}, { clock: { now: () => nowMs, elapsed: () => performance.now() } });
  });
  afterAll(() => plane?.close());

  const em = () => plane.control.services.database.em();
  /** Sums of each span of this length before a time, from rows of hours, of days or of longer spans. */
  const sumsOf = (grain: string, lengthMs: number, until: string) =>
    em().execute(
      `select date_bin(? * interval '1 millisecond', starts_at, 'epoch') as start, sum(requests)::int as requests, sum(cost_nano)::text as cost, min(first_at) as first,
         max(last_at) as last, sum((select sum(one - (((one + 2147483648) >> 32) << 32)) from unnest(latency) one))::int as counted
       from usage_rollups where grain = ? and starts_at < ? group by 1 having sum(requests) > 0 order by 1`,
      [lengthMs, grain, until],
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
    const text = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24') as ${column}`;
    const [until] = await em().execute<[Record<string, string>]>(
      `select ${text('days_until')}, ${text('quarters_until')}, ${text('weeks_until')} from rollup_days where organisation_id = ?`,
      [plane.organisationId],
    );
    expect(until).toEqual({ days_until: '2099-11-20 00', quarters_until: '2099-11-20 12', weeks_until: '2099-11-19 00' });
    for (const spans of summedSpans) {
      for (const [summed, sums] of spans.grains) {
        const sumsIn = (grain: string) => sumsOf(grain, spans.lengthMs, `${until[spans.until]}:00Z`);
        const expected = await sumsIn(summed.name);
        expect(expected.length).toBeGreaterThan(spans === weeks ? 1 : 3);
        expect([sums.name, await sumsIn(sums.name)]).toEqual([sums.name, expected]);
      }
    }
  });

  it('are compared by ledger:verify, weeks too', async () => {
    const { settings } = plane;
    const verify = async () => (await verifyLedger(em(), await readRetention(em(), settings, nowMs))).differences;
    expect(await verify()).toEqual([]);
    const change = (by: number) =>
      em().execute(`update usage_rollups set errors = errors + ? where grain = 'week_key' and starts_at = '2099-11-12T00:00Z'`, [
        by,
      ]);
    await change(1);
    const where = `roll-ups by week_key of organisation ${plane.organisationId}, 2099-11-12, errors`;
    expect(await verify()).toMatchObject([{ where }]);
    await change(-1);
    expect(await verify()).toEqual([]);
  });

  it('sum a week only after its days', async () => {
    const [week, lastDay] = ['2099-11-12T00:00Z', '2099-11-18T00:00Z'];
    await em().execute('update rollup_days set days_until = ?, weeks_until = ?', [lastDay, week]);
    await em().execute(`delete from usage_rollups where grain like 'week%' and starts_at >= ?`, [week]);
    const requestsOf = async (grain: string) =>
      (
        await em().execute(
          `select sum(requests)::int as n from usage_rollups where grain = ? and starts_at >= ? and starts_at < '2099-11-19T00:00Z'`,
          [grain, week],
        )
      )[0].n;
    // Housekeeping is stopped while days are summed, but not while weeks are.
    let asked = 0;
    await sumDays(plane.control.services.database, nowMs, { isClosing: () => ++asked === 1 });
    expect(asked).toBeGreaterThan(1);
    expect(await requestsOf('week')).toBeNull();
    await sumDays(plane.control.services.database, nowMs);
    expect(await requestsOf('week')).toBe(await requestsOf('hour'));
  });

  it.each([
    ['quarter_key_model', '2099-11-20T12:00:00Z', '2099-11-20T18:00:00Z'],
    ['day', '2099-11-20T00:00:00Z', '2099-11-21T00:00:00Z'],
    ['week_user', '2099-11-19T00:00:00Z', '2099-11-26T00:00:00Z'],
  ])('are not written until an hour after their end: %s', async (grain, start, end) => {
    const endMs = Date.parse(end);
    const rows = async () => {
      const sql = 'select count(*)::int as n from usage_rollups where grain = ? and starts_at >= ?';
      return (await em().execute<{ n: number }[]>(sql, [grain, start]))[0]?.n;
    };
    await sumDays(plane.control.services.database, endMs + 3_599_999);
    expect(await rows()).toBe(0);
    await sumDays(plane.control.services.database, endMs + 3_600_000);
    expect(await rows()).toBeGreaterThan(0);
  });
});
