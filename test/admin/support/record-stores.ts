import { clickhouseMissing, startClickHouse } from '../../support/processes/clickhouse.ts';
import { until } from '../../support/until.ts';
import { type Plane, startPlane } from './plane.ts';
import { type DatabaseName, databases } from './test-database.ts';

if (clickhouseMissing) console.warn(`skipped: ${clickhouseMissing}`);

export type RecordStoreName = DatabaseName | 'ClickHouse';

/** Stores from which logs and analytics are read: each database, and ClickHouse next to the embedded one. */
export const recordStores: readonly RecordStoreName[] = [...databases, ...(clickhouseMissing ? [] : (['ClickHouse'] as const))];

/** Starts a control plane that reads records from this store. */
export async function startPlaneOn(name: RecordStoreName, deps: Parameters<typeof startPlane>[2] = {}): Promise<Plane> {
  if (name !== 'ClickHouse') return startPlane(name, {}, deps);
  const clickhouse = await startClickHouse();
  const plane = await startPlane('PGlite', { ANALYTICS_URL: clickhouse.url }, deps);
  return {
    ...plane,
    async close() {
      await plane.close();
      await clickhouse.close();
    },
  };
}

/** Resolves when no copy of a record waits for ClickHouse. */
export async function copied(plane: Plane): Promise<void> {
  const isEmpty = async () =>
    (await plane.control.services.database.em().execute('select 1 from record_copies limit 1')).length === 0;
  await until(isEmpty, { what: 'the copies of records' });
}
