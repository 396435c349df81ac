import { ownBatchPrefix, ownFilePrefix } from '../../../core/contract/provider/own-store.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { ReplyTokens } from '../../http/gateways/reply-tokens.ts';
import { seconds } from '../files/to-reply.ts';
import type { Batch } from './entity.ts';

/** Counts of lines and their usage. For a batch that has ended, as stored at its end. */
export async function countsOf(em: EntityManager, batch: Batch): Promise<Counts> {
  if (isOver(batch)) return batch;
  const [row] = await em.execute<[Record<string, string>]>(
    `select count(*) filter (where is_error = false) as completed, count(*) filter (where is_error) as failed,
       coalesce(sum(input_tokens), 0) as input_tokens, coalesce(sum(cached_tokens), 0) as cached_tokens,
       coalesce(sum(output_tokens), 0) as output_tokens, coalesce(sum(reasoning_tokens), 0) as reasoning_tokens
     from batch_lines where batch_id = ? and organisation_id = ? and result is not null`,
    [batch.id, batch.organisationId],
  );
  return {
    total: batch.total,
    completed: Number(row.completed),
    failed: Number(row.failed),
    inputTokens: Number(row.input_tokens),
    cachedTokens: Number(row.cached_tokens),
    outputTokens: Number(row.output_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
  };
}

export interface Counts extends ReplyTokens {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

/** True for a batch that has ended. */
export function isOver({ status }: Pick<Batch, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'expired' || status === 'cancelled';
}

/** A batch in OpenAI's form (https://platform.openai.com/docs/api-reference/batch/object). */
export function toBatchReply(batch: Batch, counts: Counts, withDetails = false) {
  const files = isOver(batch) && batch.status !== 'failed';
  const input = Number(counts.inputTokens);
  const output = Number(counts.outputTokens);
  return {
    id: ownBatchPrefix + batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: batch.errors ? { object: 'list', data: batch.errors } : null,
    input_file_id: ownFilePrefix + batch.inputFileId,
    completion_window: batch.completionWindow,
    status: batch.status,
    output_file_id: files && counts.completed > 0 ? ownFilePrefix + batch.outputFileId : null,
    error_file_id: files && counts.failed > 0 ? ownFilePrefix + batch.errorFileId : null,
    ...(batch.internalOutputFileId ? { internal_output_file_id: batch.internalOutputFileId } : {}),
    created_at: seconds(batch.createdAt),
    expires_at: seconds(batch.expiresAt),
    in_progress_at: batch.times.in_progress_at ?? null,
    finalizing_at: batch.times.finalizing_at ?? null,
    completed_at: batch.times.completed_at ?? null,
    failed_at: batch.times.failed_at ?? null,
    expired_at: batch.times.expired_at ?? null,
    cancelling_at: batch.times.cancelling_at ?? null,
    cancelled_at: batch.times.cancelled_at ?? null,
    request_counts: { total: counts.total, completed: counts.completed, failed: counts.failed },
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: Number(counts.cachedTokens) },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: Number(counts.reasoningTokens) },
      total_tokens: input + output,
    },
    metadata: batch.metadata ?? null,
    ...(withDetails ? { provider_details: { provider: 'svc', status: batch.status } } : {}),
  };
}
