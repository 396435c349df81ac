import { isObject, type JsonObject } from '../../contract/json.ts';
import { isOwnId } from '../../contract/own-store.ts';
import type { Operation, OperationCall, StepReply, StepServices } from '../../contract/provider.ts';
import { badParam } from '../shared/bad-param.ts';
import { idOf, notReady } from '../shared/kept-files.ts';
import { listPages, secondsOf } from '../shared/list-pages.ts';
import { outputLines } from './batch-output.ts';
import { batchKinds, batchLines } from './batch-requests.ts';
import { createDataset, uncounted } from './datasets.ts';

/**
 * Batches (https://docs.cohere.com/reference/create-batch) in the form of OpenAI's: made of a file of the service, which becomes a
 * dataset, or of a dataset that is there already; their output is chat completions or embeddings again.
 */
export const createBatch: Operation = {
  ...stepsOf(async (call, services) => {
    const { input_file_id: file, endpoint, model, metadata, provider_options: more } = call.params;
    const models = new Set<string>(typeof model === 'string' ? [model.replace(/^@[^/]+\//, '')] : []);
    const dataset = isOwnId(file) ? await datasetOf(call, services, models) : file;
    if (typeof dataset !== 'string') throw badParam('input_file_id', 'the id of a file is expected');
    const body = {
      name: call.newId('svc-batch-'),
      input_dataset_id: dataset,
      model: [...models][0],
      ...(isObject(more) ? more : {}),
    };
    if (body.model === undefined) throw badParam('model', 'a batch of a dataset needs one, beside it');
    call.allowModel?.(String(body.model));
    const batch = await ask(services, 'POST', '/v2/batches', body);
    return json({ ...toBatch(batch), endpoint: endpoint ?? null, input_file_id: file, metadata: metadata ?? null });
  }),
  takesOwnFiles: true,
  checksModels: true,
};

export const retrieveBatch: Operation = stepsOf(async (call, services) => {
  const batch = await ask(services, 'GET', `/v2/batches/${idOf(call)}`);
  const isAsked = new URLSearchParams(call.query).get('include_provider_details') === 'true';
  return json({ ...toBatch(batch), ...(isAsked ? { provider_details: batch } : {}) });
});

export const cancelBatch: Operation = stepsOf(async (call, services) => {
  const path = `/v2/batches/${idOf(call)}`;
  await ask(services, 'POST', `${path}:cancel`, {});
  return json(toBatch(await ask(services, 'GET', path)));
});

export const listBatches: Operation = stepsOf(async (call, services) =>
  json(
    await listPages(call, 20, async (token) => {
      const query = new URLSearchParams({ page_size: '200', ...(token === null ? {} : { page_token: token }) });
      const { batches, next_page_token: next } = await ask(services, 'GET', `/v2/batches?${query}`);
      const items = Array.isArray(batches) ? batches.filter(isObject).map(toBatch) : [];
      return { items, next: typeof next === 'string' && next !== '' ? next : null };
    }),
  ),
);

export const getBatchOutput: Operation = stepsOf(async (call, services) => {
  const batch = await ask(services, 'GET', `/v2/batches/${idOf(call)}`);
  const { output_dataset_id: output } = batch;
  const shown = toBatch(batch);
  if (typeof output !== 'string' || output === '' || !isOver.has(shown.status)) throw notReady(shown);
  return { status: 200, contentType: 'application/jsonl', body: await outputLines(call, services, output, batch.model) };
});

async function datasetOf(call: OperationCall, services: StepServices, models: Set<string>): Promise<string> {
  const { input_file_id: file, endpoint } = call.params;
  const kind = batchKinds[String(endpoint)];
  if (!kind) throw badParam('endpoint', `cohere runs batches of ${Object.keys(batchKinds).join(' and ')}`);
  return createDataset(call, services, kind.datasetType, batchLines(services.ownFile(file as string), kind, call, models));
}

/** One exchange about batches; a batch comes wrapped. */
async function ask(services: StepServices, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  const sent =
    body === undefined ? {} : { headers: ['content-type', 'application/json'], body: Buffer.from(JSON.stringify(body)) };
  const response = await services.send({ method, path, ...sent });
  if (response.status >= 300) throw await services.fault(response);
  const reply = await response.json();
  return isObject(reply.batch) ? reply.batch : reply;
}

function stepsOf(steps: (call: OperationCall, services: StepServices) => Promise<StepReply>): Operation {
  return { path: () => '', steps, ...uncounted };
}

function json(body: JsonObject): StepReply {
  return { status: 200, contentType: 'application/json', body };
}

/** Where a batch stays as it is. */
const isOver: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/** Their words for where a batch is, less `BATCH_STATUS_`. */
const statuses: Readonly<Record<string, string>> = {
  UNSPECIFIED: 'validating',
  QUEUED: 'validating',
  IN_PROGRESS: 'in_progress',
  CANCELING: 'cancelling',
  CANCELED: 'cancelled',
  COMPLETED: 'completed',
  FAILED: 'failed',
};

/** A batch as OpenAI's. What the provider does not keep (endpoint, metadata) is null; the time of its end is that of its last change. */
export function toBatch(given: JsonObject): JsonObject {
  const status = statuses[String(given.status ?? '').replace(/^BATCH_STATUS_/, '')] ?? 'in_progress';
  const at = (name: string): number | null => (status === name ? secondsOf(given.updated_at) : null);
  const input = Number(given.input_tokens ?? 0);
  const output = Number(given.output_tokens ?? 0);
  return {
    id: given.id,
    object: 'batch',
    endpoint: null,
    model: given.model ?? null,
    errors:
      status === 'failed'
        ? { object: 'list', data: [{ code: null, line: null, message: given.status_reason ?? '', param: null }] }
        : null,
    input_file_id: given.input_dataset_id ?? null,
    completion_window: '24h',
    status,
    output_file_id: given.output_dataset_id || null,
    error_file_id: null,
    created_at: secondsOf(given.created_at),
    completed_at: at('completed'),
    failed_at: at('failed'),
    cancelling_at: at('cancelling'),
    cancelled_at: at('cancelled'),
    request_counts: {
      total: given.num_records ?? 0,
      completed: given.num_successful_records ?? 0,
      failed: given.num_failed_records ?? 0,
    },
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
    metadata: null,
  };
}
