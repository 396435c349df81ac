import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sumDays } from '../../../../admin/analytics/sum-days.ts';
import { deleteOldRollups } from '../../../../admin/resources/analytics/delete-old-rollups.ts';
import { sampleRecord } from '../../../support/sample-record.ts';
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
    const records = [0, 3, 500].map((days) =>
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
    });
  });
});
