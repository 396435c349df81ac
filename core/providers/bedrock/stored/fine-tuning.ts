import { randomUUID } from 'node:crypto';
import type { OperationCall, StepServices } from '../../../contract/provider/provider.ts';
import { byName } from '../../../contract/values/json/by-name.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { callOfLine } from '../../../formats/stored/batch-lines.ts';
import { askForJson, jsonReply, secondsOf, storedOperation } from '../../../formats/stored/stored-operation.ts';
import { supervisedHyperparameters, trainingLines } from '../../../formats/stored/training.ts';
import { chatRequest } from '../converse/chat-request.ts';
import { makerOf, modelSegment } from '../model-id.ts';
import { inputFile, type JobKind, jobPath, listJobs, optionsOf, requireAws, roleOf, withoutNames } from './jobs.ts';
import { bucketOf, putObject } from './storage.ts';

/** docs.aws.amazon.com/bedrock/latest/APIReference/API_CreateModelCustomizationJob.html and its neighbours. */
const customizationJobs: JobKind = {
  path: '/model-customization-jobs',
  listPath: '/model-customization-jobs',
  id: /^(arn:aws[\w-]*:bedrock:[a-z0-9-]{1,20}:\d{12}:model-customization-job\/[\w.:/-]{1,200}|[a-zA-Z0-9][a-zA-Z0-9+.-]{0,62})$/,
  before: 'creationTimeBefore',
  time: 'creationTime',
};

const statuses: Readonly<Record<string, string>> = byName({
  InProgress: 'running',
  Completed: 'succeeded',
  Failed: 'failed',
  Stopping: 'running',
  Stopped: 'cancelled',
});

const readOptions = ['role_arn', 'roleArn', 'job_name', 'jobName', 'hyperParameters', 'output_data_config'];

/**
 * A fine-tuning job. Lines of training data in OpenAI's form (`messages`) are converted to the provider's conversations while
 * they are written to the bucket. Lines in other forms stay unchanged.
 */
export const createFinetune = storedOperation(async (call, services) => {
  requireAws(call);
  const { params } = call;
  const options = optionsOf(call);
  const roleArn = roleOf(options);
  const bucket = bucketOf(call);
  const { model } = callOfLine(call, { model: params.model });
  modelSegment(model);
  const parameters = hyperParameters(model, options, call);
  const folder = `svc-fine-tuning/${randomUUID()}/`;
  const written = async (id: unknown, param: string, name: string): Promise<string> => {
    const file = await inputFile(id, param, call, services);
    await putObject(call, services, { bucket, key: folder + name }, trainingLines(file, param, call, conversation));
    return `s3://${bucket}/${folder}${name}`;
  };
  const training = await written(params.training_file, 'training_file', 'training.jsonl');
  const validation = params.validation_file ? await written(params.validation_file, 'validation_file', 'validation.jsonl') : null;
  const suffix = String(params.suffix ?? 'tuned')
    .replace(/[^a-zA-Z0-9-]+/g, '-')
    .slice(0, 18);
  const given = options.job_name ?? options.jobName;
  const name = typeof given === 'string' ? given : `svc-${suffix}-${randomUUID()}`;
  const made = await askForJson(services, 'POST', customizationJobs.path, {
    jobName: name,
    customModelName: name,
    clientRequestToken: randomUUID(),
    roleArn,
    baseModelIdentifier: model,
    customizationType: 'FINE_TUNING',
    trainingDataConfig: { s3Uri: training },
    ...(validation === null ? {} : { validationDataConfig: { validators: [{ s3Uri: validation }] } }),
    outputDataConfig: { s3Uri: String(options.output_data_config ?? `s3://${bucket}/${folder}`) },
    hyperParameters: parameters,
    ...withoutNames(options, readOptions),
  });
  const job = await askForJson(services, 'GET', `${customizationJobs.path}/${encodeURIComponent(String(made.jobArn))}`);
  return jsonReply({
    ...toFinetune(job),
    training_file: params.training_file,
    validation_file: params.validation_file ?? null,
    metadata: params.metadata ?? null,
  });
});

export const retrieveFinetune = storedOperation(async (call, services) => jsonReply(toFinetune(await jobOf(call, services))));

export const listFinetunes = storedOperation(async (call, services) => {
  requireAws(call);
  const { jobs, hasMore } = await listJobs(customizationJobs, call, services);
  return jsonReply({ object: 'list', data: jobs.map(toFinetune), has_more: hasMore });
});

export const cancelFinetune = storedOperation(async (call, services) => {
  requireAws(call);
  await askForJson(services, 'POST', `${jobPath(customizationJobs, call)}/stop`);
  return jsonReply(toFinetune(await jobOf(call, services)));
});

function jobOf(call: OperationCall, services: StepServices): Promise<JsonObject> {
  requireAws(call);
  return askForJson(services, 'GET', jobPath(customizationJobs, call));
}

function conversation(line: OperationCall): JsonObject {
  const { system, messages } = chatRequest(line.params, line);
  return { schemaVersion: 'bedrock-conversation-2024', ...(system === undefined ? {} : { system }), messages };
}

/**
 * All values are texts. Only Claude has a multiplier for the learning rate. The other models have a rate (`provider_options`).
 */
function hyperParameters(model: string, options: JsonObject, call: OperationCall): JsonObject {
  const asked = supervisedHyperparameters(call.params, 'bedrock');
  const result: JsonObject = {};
  const set = (name: string, value: unknown): void => {
    if (typeof value === 'number' || (typeof value === 'string' && value !== 'auto')) result[name] = String(value);
  };
  set('epochCount', asked.n_epochs);
  set('batchSize', asked.batch_size);
  const multiplier = asked.learning_rate_multiplier;
  if (makerOf(model) === 'anthropic') set('learningRateMultiplier', multiplier);
  else if (multiplier !== undefined && multiplier !== 'auto') noteOnce(call.dropped, 'learning_rate_multiplier');
  return { ...result, ...(isObject(options.hyperParameters) ? options.hyperParameters : {}) };
}

function toFinetune(job: JsonObject): JsonObject {
  const status = statuses[String(job.status)] ?? 'running';
  const file = (config: unknown): string | null =>
    isObject(config) && typeof config.s3Uri === 'string' ? encodeURIComponent(config.s3Uri) : null;
  const validators = isObject(job.validationDataConfig) ? job.validationDataConfig.validators : null;
  const ended = secondsOf(job.endTime);
  return {
    id: encodeURIComponent(String(job.jobArn ?? '')),
    object: 'fine_tuning.job',
    created_at: secondsOf(job.creationTime),
    finished_at: status === 'running' ? null : ended,
    model:
      String(job.baseModelArn ?? '')
        .split('/')
        .at(-1) ?? '',
    fine_tuned_model: job.outputModelArn ?? job.customModelArn ?? null,
    organization_id: '',
    status,
    error: status === 'failed' ? { code: 'failed', message: job.failureMessage ?? 'the job failed', param: null } : null,
    hyperparameters: openAiHyperparameters(job.hyperParameters),
    training_file: file(job.trainingDataConfig),
    validation_file: Array.isArray(validators) ? file(validators[0]) : null,
    result_files: [],
    trained_tokens: null,
    seed: 0,
    estimated_finish: null,
    metadata: null,
  };
}

function openAiHyperparameters(given: unknown): JsonObject {
  const { epochCount, batchSize, learningRateMultiplier: multiplier }: JsonObject = isObject(given) ? given : {};
  const number = (text: unknown): unknown => (text === undefined ? 'auto' : Number(text));
  return { n_epochs: number(epochCount), batch_size: number(batchSize), learning_rate_multiplier: number(multiplier) };
}
