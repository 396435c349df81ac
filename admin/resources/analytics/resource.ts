import { recordCopies } from '../../analytics/clickhouse/entity.ts';
import { rollupDays, usageRollups } from '../../analytics/entity.ts';
import { sumDays } from '../../analytics/sum-days.ts';
import { writeRollups } from '../../analytics/write-rollups.ts';
import { defineResource } from '../../define-resource.ts';
import { deleteOldCopies } from './delete-old-copies.ts';
import { deleteOldRollups } from './delete-old-rollups.ts';
import { UsageRollups } from './migrations/202611222015-usage-rollups.ts';
import { RollupsByPrompt } from './migrations/202611222330-rollups-by-prompt.ts';
import { RecordCopies } from './migrations/202611230920-record-copies.ts';
import { RollupsByKey } from './migrations/202611231310-rollups-by-key.ts';
import { RefusedCopies } from './migrations/202611231315-refused-copies.ts';
import { RollupsByModel } from './migrations/202611231610-rollups-by-model.ts';
import { RollupDays } from './migrations/202611231900-rollup-days.ts';
import { SavedCostsOfRollups } from './migrations/202611232331-saved-costs-of-rollups.ts';
import { RollupQuarters } from './migrations/202611261945-rollup-quarters.ts';
import { RollupWeeks } from './migrations/202611262310-rollup-weeks.ts';
import { analyticsRoutes } from './routes.ts';

export const analyticsResource = defineResource({
  name: 'analytics',
  // Roll-ups are the rows that most batches share, so they are locked last.
  after: ['feedbacks', 'batches', 'logs'],
  entities: [usageRollups, rollupDays, recordCopies],
  migrations: [
    { name: '202611222015-usage-rollups', class: UsageRollups },
    { name: '202611222330-rollups-by-prompt', class: RollupsByPrompt },
    { name: '202611230920-record-copies', class: RecordCopies },
    { name: '202611231310-rollups-by-key', class: RollupsByKey },
    { name: '202611231315-refused-copies', class: RefusedCopies },
    { name: '202611231610-rollups-by-model', class: RollupsByModel },
    { name: '202611231900-rollup-days', class: RollupDays },
    { name: '202611232331-saved-costs-of-rollups', class: SavedCostsOfRollups },
    { name: '202611261945-rollup-quarters', class: RollupQuarters },
    { name: '202611262310-rollup-weeks', class: RollupWeeks },
  ],
  routes: analyticsRoutes,
  recordWriters: [writeRollups],
  housekeeping: [
    {
      name: 'sum ended days, quarters of days and weeks',
      run: ({ database, clock, isClosing }) => sumDays(database, clock.now(), { isClosing }),
    },
    {
      name: 'delete sums of requests older than ANALYTICS_RETENTION_DAYS',
      run: (services) => deleteOldRollups(services, services.clock.now()),
    },
    { name: 'delete records in ClickHouse older than ANALYTICS_RETENTION_DAYS', run: deleteOldCopies },
  ],
});
