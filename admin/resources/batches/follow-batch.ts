import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { RecordWriter } from '../../define-resource.ts';
import { addJob } from '../../jobs/add-job.ts';

export const priceBatchKind = 'price-batch';

/** Adds a job for each batch that these requests created at a stored provider. The job records its cost once it has ended. */
export const followBatches: RecordWriter = async (tx, rows) => {
  // Nearly no request creates a batch, so only those that do are awaited.
  for (const { record } of rows) if (record.batch?.part === 'made') await followBatch(tx, record);
};

async function followBatch(tx: EntityManager, record: RequestRecord): Promise<void> {
  const { batch, providerSlug, workspaceId, organisationId } = record;
  if (batch?.part !== 'made' || providerSlug === null || workspaceId === null || organisationId === null) return;
  const { provider, traceId, apiKeyId, userId, configSlug, metadata, createdAt } = record;
  await addJob(tx, {
    kind: priceBatchKind,
    key: `${workspaceId}/${providerSlug}/${batch.id}`,
    organisationId,
    payload: {
      ...{ batchId: batch.id, settings: batch.settings ?? {} },
      ...{ workspaceId, provider, providerSlug, traceId, apiKeyId, userId, configSlug, metadata, createdAt },
    },
  });
}
