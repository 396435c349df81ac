import type { RequestRecord } from '../../../core/contract/plugin/record.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { addJob } from '../../jobs/add-job.ts';

export const priceBatchKind = 'price-batch';

/** True for the record of a request that created a batch at a stored provider. */
export function isMaking({ batch, providerSlug, workspaceId, organisationId }: RequestRecord): boolean {
  return batch?.part === 'made' && providerSlug !== null && workspaceId !== null && organisationId !== null;
}

/**
 * Adds the job that records the cost of the batch once it has ended. Call it in the transaction that stores the record, so that
 * no batch is missed or followed twice.
 */
export async function followBatch(tx: EntityManager, record: RequestRecord): Promise<void> {
  const { batch, providerSlug, workspaceId, organisationId } = record;
  if (!batch) return;
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
