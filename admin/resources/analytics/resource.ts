import { usageRollups } from '../../analytics/entity.ts';
import { writeRollups } from '../../analytics/write-rollups.ts';
import { defineResource } from '../../define-resource.ts';
import { deleteOldRollups } from './delete-old-rollups.ts';
import { UsageRollups } from './migrations/202611222015-usage-rollups.ts';
import { RollupsByPrompt } from './migrations/202611222330-rollups-by-prompt.ts';
import { analyticsRoutes } from './routes.ts';

export const analyticsResource = defineResource({
  name: 'analytics',
  // Roll-ups are the rows that most batches share, so they are locked last.
  after: ['feedbacks', 'batches', 'logs'],
  entities: [usageRollups],
  migrations: [
    { name: '202611222015-usage-rollups', class: UsageRollups },
    { name: '202611222330-rollups-by-prompt', class: RollupsByPrompt },
  ],
  routes: analyticsRoutes,
  recordWriters: [writeRollups],
  housekeeping: [{ name: 'delete sums of requests older than ANALYTICS_RETENTION_DAYS', run: deleteOldRollups }],
});
