import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { JobHandler } from '../../jobs/job-runner.ts';
import { storedFiles } from '../files/entity.ts';
import { managerOf } from '../files/find-file.ts';
import { seconds } from '../files/to-reply.ts';
import { type Batch, type BatchStatus, batches } from './entity.ts';
import { readLines } from './read-lines.ts';
import { runBucket } from './run-bucket.ts';
import { countsOf, isOver } from './to-reply.ts';
import { writeResults } from './write-results.ts';

/**
 * Job of one batch. Each run performs the next step of its state and may be interrupted at any point: state changes check the
 * current state, lines are added and completed once, files are rewritten.
 */
export function batchJob(services: AdminServices): JobHandler {
  return async ({ key, organisationId, signal }) => {
    const startedMs = performance.now();
    if (organisationId === null) return 'done';
    const newManager = managerOf(services, { organisationId });
    const batch = await newManager().findOne(batches, { id: key, organisationId });
    if (!batch) return 'done';
    if (isOver(batch)) {
      await forgetLines(newManager, batch);
      return 'done';
    }
    const inMs = await step(services, newManager, batch, signal);
    // Pause between two buckets.
    return { againInMs: inMs === 0 ? 0 : Math.max(0, inMs - (performance.now() - startedMs)) };
  };
}

/** Milliseconds until the next step is due. */
async function step(
  services: AdminServices,
  newManager: () => EntityManager,
  batch: Batch,
  signal: AbortSignal,
): Promise<number> {
  const isLate = batch.expiresAt.getTime() <= services.clock.now();
  if (batch.status === 'cancelling') return finish(services, newManager, batch, 'cancelled', signal);
  if (batch.status === 'finalizing') return finish(services, newManager, batch, 'completed', signal);
  if (isLate) return finish(services, newManager, batch, 'expired', signal);
  if (batch.status === 'validating') {
    const { total, issues } = await readLines(newManager, batch, signal);
    if (issues.length > 0) await enter(services, batch, 'failed', { errors: issues, total });
    else await enter(services, batch, 'in_progress', { total });
    return 0;
  }
  const left = await runBucket(services, batch, signal);
  if (left > 0) return services.settings.batchIntervalMs;
  await enter(services, batch, 'finalizing', {});
  return 0;
}

/** Writes the result files and ends the batch. Lines without a result become errors, unless the batch was cancelled. */
async function finish(
  services: AdminServices,
  newManager: () => EntityManager,
  batch: Batch,
  status: BatchStatus,
  signal: AbortSignal,
): Promise<number> {
  if (status === 'expired') await expireLines(newManager(), batch);
  const counts = await countsOf(newManager(), batch);
  const { outputBytes, errorBytes } = await writeResults(newManager, batch, signal);
  const files = { [batch.outputFileId]: outputBytes, [batch.errorFileId]: errorBytes };
  for (const [id, bytes] of Object.entries(files)) {
    await newManager().nativeUpdate(storedFiles, { id, organisationId: batch.organisationId }, { status: 'processed', bytes });
  }
  const { completed, failed, inputTokens, cachedTokens, outputTokens, reasoningTokens } = counts;
  const ended = { completed, failed, inputTokens, cachedTokens, outputTokens, reasoningTokens };
  await enter(services, batch, status, { ...ended, sealedHeaders: null });
  return 0;
}

async function expireLines(em: EntityManager, batch: Batch): Promise<void> {
  await em.execute(
    `update batch_lines set is_error = true, result = json_build_object('id', 'batch_req_' || gen_random_uuid(), 'custom_id', custom_id,
       'response', null, 'error', json_build_object('code', 'batch_expired', 'message', 'This request was not done within the time of the batch'))::text
     where batch_id = ? and organisation_id = ? and result is null`,
    [batch.id, batch.organisationId],
  );
}

/** Moves a batch to another state if it is still in the state it was read in. A concurrent change wins. */
async function enter(
  services: AdminServices,
  batch: Batch,
  status: BatchStatus,
  more: Partial<Batch>,
  em: EntityManager = managerOf(services, batch)(),
): Promise<void> {
  const times = { ...batch.times, [`${status}_at`]: seconds(new Date(services.clock.now())) };
  const where = { id: batch.id, organisationId: batch.organisationId, status: batch.status };
  await em.nativeUpdate(batches, where, { ...more, status, times });
}

/** Processed a few at a time, because each statement has a time limit. */
async function forgetLines(newManager: () => EntityManager, { id, organisationId }: Batch): Promise<void> {
  for (;;) {
    const gone = await newManager().execute<unknown[]>(
      `delete from batch_lines where organisation_id = ? and batch_id = ? and line_number in
         (select line_number from batch_lines where batch_id = ? order by line_number limit 500) returning line_number`,
      [organisationId, id, id],
    );
    if (gone.length === 0) return;
  }
}

/** Requests the cancellation of a batch. Resolves with its state afterwards. Safe to call twice. */
export async function cancelBatch(services: AdminServices, em: EntityManager, batch: Batch): Promise<void> {
  if (isOver(batch) || batch.status === 'cancelling') return;
  await enter(services, batch, 'cancelling', {}, em);
}
