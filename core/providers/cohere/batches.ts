import { isOwnId } from '../../contract/provider/own-store.ts';
import type { Operation, OperationCall, StepServices } from '../../contract/provider/provider.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject, textOrNull } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { callOfLine, readBatchRequests } from '../../formats/stored/batch-lines.ts';
import { endpointOf, metadataOf, modelBesideLines } from '../../formats/stored/batch-plan.ts';
import { listPages } from '../../formats/stored/list-pages.ts';
import { idOf, notReady } from '../../formats/stored/stored-files.ts';
import {
  askForJson,
  jsonReply,
  linesReply,
  secondsOf,
  storedOperation,
  wantsDetails,
} from '../../formats/stored/stored-operation.ts';
import { outputLines } from './batch-output.ts';
import { batchLines, kindOf, modelOf } from './batch-requests.ts';
import { datasetName, endpointOfCode, readDatasetName, wordOf } from './dataset-name.ts';
import { createDataset, dropDataset, linesFile, readDataset, validatedDataset } from './datasets.ts';

/**
 * Batches (https://docs.cohere.com/reference/create-batch) in OpenAI's form. They are created from a dataset, or from a file of
 * the service, which is converted to one. Their output has the form of chat completions or embeddings.
 */
export const createBatch: Operation = {
  ...storedOperation(async (call, services) => {
    const { input_file_id: file, provider_options: more } = call.params;
    const metadata = metadataOf(call);
    const beside = modelBesideLines(call, isObject(more) ? more.model : null);
    if (typeof file !== 'string') throw badParam('input_file_id', 'the id of a file is expected');
    const input = isOwnId(file) ? await uploadInput(file, call, services, beside) : await findInput(file, call, services, beside);
    const name = call.newId(`svc-batch-${wordOf(input.endpoint)}-`);
    const body = { name, ...(isObject(more) ? more : {}), input_dataset_id: input.dataset, model: input.model };
    try {
      if (isOwnId(file)) await validatedDataset(services, input.dataset);
      const batch = toBatch(await ask(services, 'POST', '/v2/batches', body));
      return jsonReply({ ...batch, endpoint: input.endpoint, input_file_id: file, metadata });
    } catch (error) {
      // The dataset was created for this batch only.
      if (isOwnId(file)) await dropDataset(services, input.dataset);
      throw error;
    }
  }),
  takesOwnFiles: true,
  checksLines: true,
};

export const retrieveBatch: Operation = storedOperation(async (call, services) => {
  const batch = await ask(services, 'GET', `/v2/batches/${idOf(call)}`);
  return jsonReply({ ...toBatch(batch), ...(wantsDetails(call) ? { provider_details: batch } : {}) });
});

export const cancelBatch: Operation = storedOperation(async (call, services) => {
  const path = `/v2/batches/${idOf(call)}`;
  await ask(services, 'POST', `${path}:cancel`, {});
  return jsonReply(toBatch(await ask(services, 'GET', path)));
});

export const listBatches: Operation = storedOperation(async (call, services) =>
  jsonReply(
    await listPages(call, 20, async (token) => {
      const query = new URLSearchParams({ page_size: '200', ...(token === null ? {} : { page_token: token }) });
      const { batches, next_page_token: next } = await ask(services, 'GET', `/v2/batches?${query}`);
      const items = Array.isArray(batches) ? batches.filter(isObject).map(toBatch) : [];
      return { items, next: textOrNull(next) };
    }),
  ),
);

export const getBatchOutput: Operation = storedOperation(async (call, services) => {
  const batch = await ask(services, 'GET', `/v2/batches/${idOf(call)}`);
  const { output_dataset_id: output } = batch;
  const shown = toBatch(batch);
  if (typeof output !== 'string' || output === '' || !finalStatuses.has(shown.status)) throw notReady(shown);
  const dataset = await readDataset(services, output);
  return linesReply(outputLines(call, services, dataset, batch.model));
});

interface Input {
  readonly endpoint: unknown;
  /** Id of the dataset. */
  readonly dataset: string;
  readonly model: string;
}

/** Uploads a file of the service as a dataset, which the provider has not validated yet. */
async function uploadInput(file: string, call: OperationCall, services: StepServices, beside: string | null): Promise<Input> {
  const requests = readBatchRequests(services.ownFile(file), call);
  const first = await requests.next();
  if (first.done) throw badParam('input_file_id', 'the file has no requests');
  const [endpoint, kind] = kindOf(endpointOf(call), first.value);
  const model = modelOf(call, beside, first.value);
  const name = datasetName({ endpoint, model, filename: file });
  const lines = batchLines(first.value, requests, kind, model, call);
  return { endpoint, model, dataset: await createDataset(call, services, { name, type: kind.datasetType, ...linesFile }, lines) };
}

/** Finds an existing dataset. The gateway encodes the endpoint and the model of the batch in the name of a dataset. */
async function findInput(id: string, call: OperationCall, services: StepServices, beside: string | null): Promise<Input> {
  if (call.checkLine)
    throw badParam('input_file_id', 'guardrails cannot check a dataset. Create the batch from a file of the service');
  // A model that is not allowed is rejected before the provider is called.
  const named = beside === null ? null : callOfLine(call, { model: beside }).model;
  const dataset = readDatasetName((await validatedDataset(services, id)).name);
  if (named === null && !dataset)
    throw badParam('model', 'required for a batch of a dataset that was not uploaded through the gateway');
  const model = named ?? callOfLine(call, { model: dataset?.model }).model;
  return { endpoint: endpointOf(call) ?? dataset?.endpoint ?? null, dataset: id, model };
}

/** Makes one exchange about batches. The provider wraps a batch in an object. */
async function ask(services: StepServices, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  const reply = await askForJson(services, method, path, body);
  return isObject(reply.batch) ? reply.batch : reply;
}

/** Final statuses of a batch. */
const finalStatuses: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/** The provider's statuses of a batch, without `BATCH_STATUS_`. */
const statuses: Readonly<Record<string, string>> = byName({
  UNSPECIFIED: 'validating',
  QUEUED: 'validating',
  IN_PROGRESS: 'in_progress',
  CANCELING: 'cancelling',
  CANCELED: 'cancelled',
  COMPLETED: 'completed',
  FAILED: 'failed',
});

/**
 * Converts a batch to OpenAI's form. Its endpoint is in its name. Fields that the provider does not store (metadata) are null.
 * The time of its end is that of its last change.
 */
function toBatch(given: JsonObject): JsonObject {
  const status = statuses[String(given.status ?? '').replace(/^BATCH_STATUS_/, '')] ?? 'in_progress';
  const at = (name: string): number | null => (status === name ? secondsOf(given.updated_at) : null);
  const input = Number(given.input_tokens ?? 0);
  const output = Number(given.output_tokens ?? 0);
  return {
    id: given.id,
    object: 'batch',
    endpoint: endpointOfCode(/^svc-batch-([a-z]+)-/.exec(String(given.name ?? ''))?.[1]),
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
