import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sumDays } from '../../../../admin/analytics/sum-days.ts';
import { fillGrains } from '../../../../admin/resources/analytics/migrations/202611231610-rollups-by-model.ts';
import { fillDays } from '../../../../admin/resources/analytics/migrations/202611231900-rollup-days.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';
import { randomUsage } from './random-usage.ts';

const nowMs = Date.parse('2099-11-20T15:47:12.345Z');
const grains = `grain in ('hour_model', 'day_model', 'hour_key', 'day_key', 'day', 'day_key_model')`;

describe.each(databases)('roll-ups of models and keys, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, {}, { clock: { now: () => nowMs, elapsed: () => performance.now() } });
  });
  afterAll(() => plane?.close());

  it('are filled by the migrations as if they had been written with the records', async () => {
    const { organisationId, workspaceId } = plane;
    // Records of these versions do not name the calls that cached replies repeat.
    const records = randomUsage(31, 300, nowMs, { organisationId, workspaceIds: [workspaceId] }).map(
      ({ saved: _, ...record }) => record,
    );
    expect((await plane.internal('POST', '/records', records)).body).toMatchObject({ inserted: 300 });
    const em = plane.control.services.database.em();
    const rows = () =>
      em.execute(
        `select to_jsonb(r) || jsonb_build_object('latency', add_packed_counts(latency, '{}'), 'retries', add_packed_counts(retries, '{}')) as row
         from usage_rollups r where ${grains} order by grain, starts_at, key`,
      );
    await sumDays(plane.control.services.database, nowMs);
    const written = await rows();
    expect(written.length).toBeGreaterThan(40);
    await em.execute(`delete from usage_rollups where ${grains}`);
    for (const statement of [...fillGrains, ...fillDays]) await em.execute(statement);
    expect(await rows()).toEqual(written);
  });
});
