import { randomUUID } from 'node:crypto';
import type { OperationCall, StepServices } from '../../contract/provider/provider.ts';
import { withoutTrailingSlashes } from '../../contract/values/addresses/trailing-slashes.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { type BatchRequest, callOfLine, readBatchRequests } from '../../formats/stored/batch-lines.ts';
import { fewAtOnce, noteBeside, noteBytes, noteIn, withNote } from '../../formats/stored/batch-note.ts';
import { endpointOf, metadataOf, modelBesideLines } from '../../formats/stored/batch-plan.ts';
import { notReady } from '../../formats/stored/stored-files.ts';
import { idOfObject, type ObjectLocation, objectOfId } from '../../formats/stored/stored-object.ts';
import {
  jsonReply,
  linesReply,
  listReply,
  secondsOf,
  storedOperation,
  wantsDetails,
} from '../../formats/stored/stored-operation.ts';
import { batchFolder, inputLine, modelOfOutput, outputFolder, outputLines } from './batch-lines.ts';
import { cancelJob, createJob, lastOf, listJobs, optionsOf, readJob, states } from './jobs.ts';
import { vertexModel } from './models.ts';
import { bucketIn, bucketOf, inputFile, listObjects, readIfThere, readObject, requireGoogle, writeObject } from './storage.ts';

const kind = 'batchPredictionJobs';

/**
 * A batch of chat completions of Gemini or Claude. The lines of the input file, from the service's store or the bucket, are
 * written to the bucket in the model's own form while they are read. The job is created afterwards.
 */
export const createBatch = {
  ...storedOperation(async (call, services) => {
    requireGoogle(call);
    if (endpointOf(call) !== '/v1/chat/completions') {
      throw badParam('endpoint', 'vertex-ai runs batches of /v1/chat/completions');
    }
    const bucket = bucketOf(call);
    const { input_file_id: file } = call.params;
    const note = { input_file_id: String(file), metadata: metadataOf(call) };
    const { model: chosen, ...options } = optionsOf(call);
    const folder = `${batchFolder}${randomUUID()}/`;
    const lines = readBatchRequests(await inputFile(file, 'input_file_id', call, services), call);
    const first = await lines.next();
    if (first.done) throw badParam('input_file_id', 'the file has no requests');
    const { model } = callOfLine(call, { model: modelBesideLines(call, chosen) ?? first.value.body.model });
    const { family, path } = vertexModel(model);
    if (family === 'chat' || !path.startsWith('/publishers/')) {
      throw badParam('model', `${model}: batches of vertex-ai are run by Gemini and Claude models of their publishers`);
    }
    const input = { bucket, key: `${folder}input.jsonl` };
    await writeObject(services, input, inputLines(first.value, lines, model, call));
    await writeObject(services, noteIn(bucket, folder), noteBytes(note));
    const job = await createJob(kind, call, services, {
      displayName: `svc-batch-${randomUUID()}`,
      model: path.slice(1),
      inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris: [`gs://${bucket}/${input.key}`] } },
      outputConfig: {
        predictionsFormat: 'jsonl',
        gcsDestination: { outputUriPrefix: `gs://${bucket}/${outputFolder(folder, model)}` },
      },
      ...options,
    });
    return jsonReply({ ...toBatch(job), ...note });
  }),
  takesOwnFiles: true as const,
  checksLines: true as const,
};

export const retrieveBatch = storedOperation(async (call, services) => {
  const job = await readJob(kind, call, services);
  const batch = await noted(job, call, services);
  return jsonReply({ ...batch, ...(wantsDetails(call) ? { provider_details: job } : {}) });
});

export const cancelBatch = storedOperation(async (call, services) =>
  jsonReply(await noted(await cancelJob(kind, call, services), call, services)),
);

export const listBatches = storedOperation(async (call, services) => {
  const { jobs, hasMore } = await listJobs(kind, call, services);
  const data = await fewAtOnce(jobs, (job) => noted(job, call, services));
  return listReply(data, hasMore);
});

/** Returns all files of results. The model sets their names and number. */
export const getBatchOutput = storedOperation(async (call, services) => {
  const job = await readJob(kind, call, services);
  const folder = folderOf(job);
  if (folder === null) throw notReady({ status: toBatch(job).status });
  const { objects } = await listObjects(services, folder.bucket, { prefix: `${folder.key}/`, limit: 1000 });
  const keys = objects.map(({ name }) => String(name)).filter((name) => name.endsWith('.jsonl'));
  if (keys.length === 0) throw notReady({ status: toBatch(job).status });
  return linesReply(contents(folder.bucket, keys, call, services));
});

async function* contents(
  bucket: string,
  keys: readonly string[],
  call: OperationCall,
  services: StepServices,
): AsyncGenerator<Uint8Array> {
  for (const key of keys) {
    const { body } = await readObject(services, { bucket, key });
    yield* outputLines(key, body, call) ?? body;
  }
}

async function* inputLines(
  first: BatchRequest,
  rest: AsyncIterable<BatchRequest>,
  model: string,
  call: OperationCall,
): AsyncGenerator<Uint8Array> {
  yield inputLine(first, model, call);
  for await (const request of rest) yield inputLine(request, model, call);
}

/** Returns the location of the results; null if there are none yet. */
function folderOf(job: JsonObject): ObjectLocation | null {
  const directory = isObject(job.outputInfo) ? job.outputInfo.gcsOutputDirectory : null;
  if (typeof directory !== 'string') return null;
  return objectOfId('gs', withoutTrailingSlashes(directory), 'id');
}

/** Converts a job to a batch, with its note if the gateway created it. */
async function noted(job: JsonObject, call: OperationCall, services: StepServices): Promise<JsonObject> {
  const batch = toBatch(job);
  const location = noteBeside(inputOf(job), bucketIn(call));
  return location === null ? batch : withNote(batch, await readIfThere(services, location));
}

/** Returns the address of the first input file. Null for other kinds of input. */
function inputOf(job: JsonObject): string | null {
  const uris = isObject(job.inputConfig) && isObject(job.inputConfig.gcsSource) ? job.inputConfig.gcsSource.uris : null;
  return Array.isArray(uris) && typeof uris[0] === 'string' ? uris[0] : null;
}

function toBatch(job: JsonObject): JsonObject {
  const status = states[String(job.state)]?.batch ?? 'in_progress';
  const stats = isObject(job.completionStats) ? job.completionStats : {};
  const count = (name: string): number => Math.max(0, Number(stats[name] ?? 0));
  const uri = inputOf(job);
  const folder = status === 'completed' ? folderOf(job) : null;
  const ended = secondsOf(job.endTime);
  const error = isObject(job.error) ? job.error : null;
  const data = error ? [{ code: String(error.code ?? 'failed'), message: error.message ?? '', line: null, param: null }] : null;
  return {
    id: lastOf(job.name),
    object: 'batch',
    endpoint: folder && modelOfOutput(folder.key) === null ? null : '/v1/chat/completions',
    model: lastOf(job.model),
    errors: data && { object: 'list', data },
    input_file_id: uri === null ? null : encodeURIComponent(uri),
    completion_window: '24h',
    status,
    output_file_id: folder && idOfObject('gs', { ...folder, key: `${folder.key}/predictions.jsonl` }),
    error_file_id: null,
    created_at: secondsOf(job.createTime),
    in_progress_at: secondsOf(job.startTime),
    expires_at: null,
    finalizing_at: null,
    completed_at: status === 'completed' ? ended : null,
    failed_at: status === 'failed' ? ended : null,
    expired_at: status === 'expired' ? ended : null,
    cancelling_at: null,
    cancelled_at: status === 'cancelled' ? ended : null,
    request_counts: {
      total: count('successfulCount') + count('failedCount') + count('incompleteCount'),
      completed: count('successfulCount'),
      failed: count('failedCount'),
    },
    metadata: null,
  };
}
