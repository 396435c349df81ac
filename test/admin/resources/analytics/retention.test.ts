import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sumDays } from '../../../../admin/analytics/sum-days.ts';
import { deleteOldRollups } from '../../../../admin/resources/analytics/delete-old-rollups.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const day = 86_400_000;
// The housekeeping of the control plane runs at its start, by the same clock.
const nowMs = Date.now();

describe.each(ruleDatabases)('sums of requests, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('are deleted after ANALYTICS_RETENTION_DAYS, those of minutes after two days', async () => {
    const { settings, services } = { settings: plane.settings, ...plane.control };
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId, metadata: { _user: 'a' } };
    const records = [0, 8, 500].map((days) =>
      sampleRecord({ ...tenant, createdAt: new Date(nowMs - days * day).toISOString(), model: `${days}` }),
    );
    await plane.internal('POST', '/records', records);
    await sumDays(services.database, nowMs);
    await deleteOldRollups({ settings, database: services.database, isClosing: () => false }, nowMs);
    const rows = await services.database
      .em()
      .execute<{ grain: string; count: number }[]>(
        'select grain, count(*)::int as count from usage_rollups group by 1 order by 1',
      );
    expect(Object.fromEntries(rows.map(({ grain, count }) => [grain, count]))).toEqual({
      ...{ minute: 1, hour: 2, hour_detail: 2, hour_user: 2, hour_model: 2, hour_key: 2 },
      ...{ day: 1, day_detail: 1, day_key_model: 1, day_user: 1, day_model: 1, day_key: 1 },
      ...{ quarter_key_model: 1, quarter_user: 1 },
      ...{ week: 1, week_detail: 1, week_key_model: 1, week_user: 1, week_model: 1, week_key: 1 },
    });
  });

  it('a week is read by day once its first day is deleted', async () => {
    const { settings, services } = { settings: plane.settings, ...plane.control };
    const housekeeping = { settings, database: services.database, isClosing: () => false };
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
    // A week that has ended, and the model as its day.
    const weekMs = Math.floor(nowMs / (7 * day)) * 7 * day - 14 * day;
    const recordOf = (ofDay: number) =>
      sampleRecord({ ...tenant, createdAt: new Date(weekMs + ofDay * day + 1).toISOString(), model: `day ${ofDay}` });
    await plane.internal('POST', '/records', [recordOf(0), recordOf(6)]);
    const range = [weekMs - day, weekMs + 9 * day].map((ms) => new Date(ms).toISOString());
    const modelsIn = async () => {
      const path = `/analytics/groups/model?time_of_generation_min=${range[0]}&time_of_generation_max=${range[1]}&columns=requests&order_by=requests`;
      const { data } = (await plane.ask('GET', path)).body;
      const found = data.map(({ model, requests }: Record<string, unknown>) => [model, requests]);
      return found.filter(([model]: [string]) => model.startsWith('day'));
    };
    expect(new Map(await modelsIn())).toEqual(new Map([0, 6].map((of) => [`day ${of}`, 1])));
    await deleteOldRollups(housekeeping, weekMs + (settings.analyticsRetentionDays + 3) * day);
    expect(await modelsIn()).toEqual([['day 6', 1]]);
    // A late record is added to the day, and the week stays deleted.
    await plane.internal('POST', '/records', [recordOf(6)]);
    expect(await modelsIn()).toEqual([['day 6', 2]]);
    // Times of retention that are longer again do not bring the week back.
    await deleteOldRollups(housekeeping, nowMs);
    expect(await modelsIn()).toEqual([['day 6', 2]]);
  });
});
