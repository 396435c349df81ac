import type { OperationCall } from '../../contract/provider/provider.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { modelBesideLines } from '../../formats/stored/batch-plan.ts';

/** OpenAI's batch statuses for this provider's (https://docs.mistral.ai/api/#tag/batch). */
const statuses: Readonly<Record<string, string>> = byName({
  QUEUED: 'validating',
  RUNNING: 'in_progress',
  SUCCESS: 'completed',
  FAILED: 'failed',
  TIMEOUT_EXCEEDED: 'expired',
  CANCELLATION_REQUESTED: 'cancelling',
  CANCELLED: 'cancelled',
});

/**
 * Converts OpenAI's batch to a job. The model of all lines is one field: `provider_options.model`, `model`, or
 * `provider_model`.
 */
export function toJob(params: JsonObject, call: OperationCall): JsonObject {
  const more = isObject(params.provider_options) ? params.provider_options : {};
  const model = modelBesideLines(call);
  const hours = /^(\d{1,3})h$/.exec(String(params.completion_window ?? ''))?.[1];
  return {
    input_files: [params.input_file_id],
    endpoint: params.endpoint,
    ...(model === null ? {} : { model }),
    ...(params.metadata ? { metadata: params.metadata } : {}),
    ...(hours === undefined ? {} : { timeout_hours: Number(hours) }),
    ...more,
  };
}

/** Converts a job to OpenAI's batch. */
export function toBatch(job: JsonObject): JsonObject {
  const status = statuses[String(job.status)] ?? String(job.status ?? '').toLowerCase();
  const ended = job.completed_at ?? null;
  const errors = objectsIn(job.errors);
  return {
    id: job.id,
    object: 'batch',
    endpoint: job.endpoint ?? null,
    model: job.model ?? null,
    errors:
      errors.length === 0
        ? null
        : {
            object: 'list',
            data: errors.map((error) => ({ code: null, line: null, message: error.message ?? '', param: null })),
          },
    input_file_id: Array.isArray(job.input_files) ? (job.input_files[0] ?? null) : null,
    completion_window: '24h',
    status,
    output_file_id: job.output_file ?? null,
    error_file_id: job.error_file ?? null,
    created_at: job.created_at ?? null,
    in_progress_at: job.started_at ?? null,
    completed_at: status === 'completed' ? ended : null,
    failed_at: status === 'failed' ? ended : null,
    expired_at: status === 'expired' ? ended : null,
    cancelled_at: status === 'cancelled' ? ended : null,
    request_counts: {
      total: job.total_requests ?? 0,
      completed: job.succeeded_requests ?? 0,
      failed: job.failed_requests ?? 0,
    },
    metadata: job.metadata ?? null,
  };
}
