import { defineResource } from '../../define-resource.ts';
import { batchJobKind } from './create-batch.ts';
import { batches, batchLines } from './entity.ts';
import { followBatches, priceBatchKind } from './follow-batch.ts';
import { TokenDetailsOfBatches } from './migrations/202611282110-token-details-of-batches.ts';
import { priceBatchJob } from './price-batch.ts';
import { batchRoutes } from './routes.ts';
import { batchJob } from './run-batch.ts';

export const batchesResource = defineResource({
  name: 'batches',
  after: ['files', 'api-keys'],
  entities: [batches, batchLines],
  migrations: [{ name: '202611282110-token-details-of-batches', class: TokenDetailsOfBatches }],
  routes: batchRoutes,
  recordWriters: [followBatches],
  jobs: [
    { kind: batchJobKind, handler: batchJob },
    { kind: priceBatchKind, handler: priceBatchJob },
  ],
});
