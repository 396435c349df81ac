import type { RequestRecord } from '../../../core/contract/plugin/record.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { addJob } from '../../jobs/add-job.ts';

export const priceBatchKind = 'price-batch';

/** True for the record of a request that has made a batch at a stored provider. */
export function isMaking({ batch, providerSlug, workspaceId, organisationId }: RequestRecord): boolean {
  return batch?.part === 'made' && providerSlug !== null && workspaceId !== null && organisationId !== null;
}

/**
 * Adds the job that records what the batch has cost once it is over. To be run in the transaction that stores the record, so that no
 * batch is forgotten and none is followed twice.
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
