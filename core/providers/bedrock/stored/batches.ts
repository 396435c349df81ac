import { randomUUID } from 'node:crypto';
import type { OperationCall, StepServices } from '../../../contract/provider/provider.ts';
import { withoutTrailingSlashes } from '../../../contract/values/addresses/trailing-slashes.ts';
import { byName } from '../../../contract/values/json/by-name.ts';
import type { JsonObject } from '../../../contract/values/json/json.ts';
import { badParam } from '../../../formats/bad-param.ts';
import { type BatchRequest, callOfLine, readBatchRequests } from '../../../formats/stored/batch-lines.ts';
import { fewAtOnce, noteBeside, noteBytes, noteIn, withNote } from '../../../formats/stored/batch-note.ts';
import { endpointOf, metadataOf, modelBesideLines } from '../../../formats/stored/batch-plan.ts';
import { notReady } from '../../../formats/stored/stored-files.ts';
import { idOfObject, objectOfId } from '../../../formats/stored/stored-object.ts';
import {
  askForJson,
  jsonReply,
  linesReply,
  listReply,
  secondsOf,
  storedOperation,
  wantsDetails,
} from '../../../formats/stored/stored-operation.ts';
import { modelSegment } from '../model-id.ts';
import { batchEndpoints, batchFolder, batchOfKey, inputName, outputLines } from './batch-output.ts';
import { inputFile, type JobKind, jobPath, listJobs, optionsOf, requireAws, roleOf, withoutNames } from './jobs.ts';
import { bucketOf, callStorage, putObject, readIfThere } from './storage.ts';

/** docs.aws.amazon.com/bedrock/latest/APIReference/API_CreateModelInvocationJob.html and its neighbours. */
const invocationJobs: JobKind = {
  path: '/model-invocation-job',
  listPath: '/model-invocation-jobs',
  id: /^(arn:aws[\w-]*:bedrock:[a-z0-9-]{1,20}:\d{12}:model-invocation-job\/)?[a-z0-9]{12}$/,
  before: 'submitTimeBefore',
  time: 'submitTime',
};

const statuses: Readonly<Record<string, string>> = byName({
  Submitted: 'validating',
  Validating: 'validating',
  Scheduled: 'validating',
  InProgress: 'in_progress',
  Completed: 'completed',
  PartiallyCompleted: 'completed',
  Failed: 'failed',
  Stopping: 'cancelling',
  Stopped: 'cancelled',
  Expired: 'expired',
});

const readOptions = ['model', 'modelId', 'role_arn', 'roleArn', 'job_name', 'jobName', 'output_data_config'];

/**
 * Creates a batch of chat completions or embeddings. The lines of the input file, from the service's store or the bucket, are
 * written to the bucket in the provider's form while they are read. The job is created afterwards.
 */
export const createBatch = {
  ...storedOperation(async (call, services) => {
    requireAws(call);
    const { completion_window: window, input_file_id: file } = call.params;
    const kind = batchEndpoints[String(endpointOf(call))];
    if (!kind) throw badParam('endpoint', `bedrock runs batches of ${Object.keys(batchEndpoints).join(' and ')}`);
    const options = optionsOf(call);
    const roleArn = roleOf(options);
    const bucket = bucketOf(call);
    const note = { input_file_id: String(file), metadata: metadataOf(call) };
    const folder = `${batchFolder}${randomUUID()}/`;
    const output = outputLocation(options.output_data_config) ?? `s3://${bucket}/${folder}`;
    const lines = readBatchRequests(await inputFile(file, 'input_file_id', call, services), call);
    const first = await lines.next();
    if (first.done) throw badParam('input_file_id', 'the file has no requests');
    const model = modelOf(call, options, first.value);
    modelSegment(model);
    const input = { bucket, key: `${folder}${inputName(kind.word, model)}` };
    await putObject(call, services, input, records(first.value, lines, model, call, kind.operation.toProvider));
    await putObject(call, services, noteIn(bucket, folder), noteBytes(note));
    const key = call.settings.amz_server_side_encryption_aws_kms_key_id;
    const hours = /^(\d{1,3})h$/.exec(String(window ?? ''))?.[1];
    const name = options.job_name ?? options.jobName;
    const made = await askForJson(services, 'POST', invocationJobs.path, {
      jobName: typeof name === 'string' ? name : `svc-batch-${randomUUID()}`,
      clientRequestToken: randomUUID(),
      modelId: model,
      modelInvocationType: kind.type,
      roleArn,
      inputDataConfig: { s3InputDataConfig: { s3InputFormat: 'JSONL', s3Uri: `s3://${bucket}/${input.key}` } },
      outputDataConfig: { s3OutputDataConfig: { s3Uri: output, ...(key ? { s3EncryptionKeyId: key } : {}) } },
      ...(hours === undefined ? {} : { timeoutDurationInHours: Math.max(24, Number(hours)) }),
      ...withoutNames(options, readOptions),
    });
    const job = await askForJson(services, 'GET', `${invocationJobs.path}/${encodeURIComponent(String(made.jobArn))}`);
    return jsonReply({ ...toBatch(job), ...note });
  }),
  takesOwnFiles: true as const,
  checksLines: true as const,
};

export const retrieveBatch = storedOperation(async (call, services) => {
  const job = await jobOf(call, services);
  const batch = await noted(job, call, services);
  return jsonReply({ ...batch, ...(wantsDetails(call) ? { provider_details: job } : {}) });
});

export const cancelBatch = storedOperation(async (call, services) => {
  requireAws(call);
  await askForJson(services, 'POST', `${jobPath(invocationJobs, call)}/stop`);
  return jsonReply(await noted(await jobOf(call, services), call, services));
});

export const listBatches = storedOperation(async (call, services) => {
  requireAws(call);
  const { jobs, hasMore } = await listJobs(invocationJobs, call, services);
  const data = await fewAtOnce(jobs, (job) => noted(job, call, services));
  return listReply(data, hasMore);
});

export const getBatchOutput = storedOperation(async (call, services) => {
  const job = await jobOf(call, services);
  const location = outputOf(job);
  if (!location || !['Completed', 'PartiallyCompleted', 'Stopped', 'Expired'].includes(String(job.status))) {
    throw notReady({ status: toBatch(job).status });
  }
  const response = await callStorage(call, services, { method: 'GET', ...location });
  const lines = outputLines(location.key, response.body, call);
  return linesReply(lines ?? response.body);
});

function jobOf(call: OperationCall, services: StepServices): Promise<JsonObject> {
  requireAws(call);
  return askForJson(services, 'GET', jobPath(invocationJobs, call));
}

/** A job has one model: that of the batch, of the settings, or of its first line. */
function modelOf(call: OperationCall, options: JsonObject, first: BatchRequest): string {
  const given = modelBesideLines(call, options.model, options.modelId, call.params.model, call.settings.aws_bedrock_model);
  return callOfLine(call, { model: given ?? first.body.model }).model;
}

/** Converts a job to a batch, with its note if the gateway created it. */
async function noted(job: JsonObject, call: OperationCall, services: StepServices): Promise<JsonObject> {
  const batch = toBatch(job);
  const { aws_s3_bucket: bucket } = call.settings;
  const location = noteBeside(uriIn(job.inputDataConfig, 's3InputDataConfig'), typeof bucket === 'string' ? bucket : null);
  return location === null ? batch : withNote(batch, await readIfThere(call, services, location));
}

async function* records(
  first: BatchRequest,
  rest: AsyncIterable<BatchRequest>,
  model: string,
  call: OperationCall,
  toProvider: (typeof batchEndpoints)[string]['operation']['toProvider'],
): AsyncGenerator<Uint8Array> {
  const record = ({ customId, body }: BatchRequest): Uint8Array => {
    const line = callOfLine(call, body.model === undefined ? { ...body, model } : body);
    if (line.model !== model)
      throw badParam('input_file_id', `${customId.slice(0, 64)}: a batch of bedrock has one model, ${model}`);
    return Buffer.from(`${JSON.stringify({ recordId: customId, modelInput: toProvider?.(line.params, line) ?? line.params })}\n`);
  };
  yield record(first);
  for await (const request of rest) yield record(request);
}

/** `output_data_config`, an address in S3 that the caller chose. */
function outputLocation(given: unknown): string | null {
  if (given === undefined || given === null) return null;
  const { bucket, key } = objectOfId('s3', given, 'provider_options.output_data_config');
  return `s3://${bucket}/${withoutTrailingSlashes(key)}/`;
}

/** `<output>/<job>/<input's name>.out`. */
function outputOf(job: JsonObject): { bucket: string; key: string } | null {
  const input = uriIn(job.inputDataConfig, 's3InputDataConfig');
  const output = uriIn(job.outputDataConfig, 's3OutputDataConfig');
  const id =
    String(job.jobArn ?? '')
      .split('/')
      .at(-1) ?? '';
  if (!input || !output || id === '') return null;
  return objectOfId('s3', `${withoutTrailingSlashes(output)}/${id}/${input.split('/').at(-1)}.out`, 'id');
}

function uriIn(config: unknown, name: string): string | null {
  const inner = (config as JsonObject | null | undefined)?.[name] as JsonObject | undefined;
  return typeof inner?.s3Uri === 'string' ? inner.s3Uri : null;
}

function toBatch(job: JsonObject): JsonObject {
  const status = statuses[String(job.status)] ?? 'in_progress';
  const input = uriIn(job.inputDataConfig, 's3InputDataConfig');
  const output = status === 'completed' ? outputOf(job) : null;
  const ended = secondsOf(job.endTime ?? job.lastModifiedTime);
  const message = status === 'failed' ? job.message : undefined;
  const count = (name: string): number => (typeof job[name] === 'number' ? (job[name] as number) : 0);
  return {
    id: encodeURIComponent(String(job.jobArn ?? '')),
    object: 'batch',
    endpoint: batchOfKey(input?.replace(/^s3:\/\/[^/]*\//, '') ?? '')?.endpoint ?? null,
    model: job.modelId ?? null,
    errors: message === undefined ? null : { object: 'list', data: [{ code: 'failed', message, line: null, param: null }] },
    input_file_id: input === null ? null : encodeURIComponent(input),
    completion_window: `${job.timeoutDurationInHours ?? 24}h`,
    status,
    output_file_id: output && idOfObject('s3', output),
    error_file_id: null,
    created_at: secondsOf(job.submitTime),
    in_progress_at: null,
    expires_at: secondsOf(job.jobExpirationTime),
    finalizing_at: null,
    completed_at: status === 'completed' ? ended : null,
    failed_at: status === 'failed' ? ended : null,
    expired_at: status === 'expired' ? ended : null,
    cancelling_at: null,
    cancelled_at: status === 'cancelled' ? ended : null,
    request_counts: {
      total: count('totalRecordCount'),
      completed: count('successRecordCount'),
      failed: count('errorRecordCount'),
    },
    metadata: null,
  };
}
