import { randomUUID } from 'node:crypto';
import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { callOfLine } from '../../formats/stored/batch-lines.ts';
import { jsonReply, secondsOf, storedOperation } from '../../formats/stored/stored-operation.ts';
import { supervisedHyperparameters, trainingLines } from '../../formats/stored/training.ts';
import { cancelJob, createJob, lastOf, listJobs, optionsOf, readJob, states } from './jobs.ts';
import { vertexModel } from './models.ts';
import { chatComplete } from './operations.ts';
import { bucketOf, inputFile, requireGoogle, writeObject } from './storage.ts';

const kind = 'tuningJobs';

/**
 * Supervised tuning of a Gemini. Lines of training data in OpenAI's form (`messages`) are converted to Gemini's contents while
 * they are written to the bucket. Lines in other forms stay unchanged.
 */
export const createFinetune = storedOperation(async (call, services) => {
  requireGoogle(call);
  const { params } = call;
  const bucket = bucketOf(call);
  const { model } = callOfLine(call, { model: params.model });
  const { family, name } = vertexModel(model);
  if (family !== 'gemini') throw badParam('model', `${model}: vertex-ai tunes Gemini models`);
  const parameters = hyperParameters(call);
  const folder = `svc-fine-tuning/${randomUUID()}/`;
  const written = async (id: unknown, param: string): Promise<string> => {
    const key = `${folder}${param}.jsonl`;
    const file = await inputFile(id, param, call, services);
    await writeObject(services, { bucket, key }, trainingLines(file, param, call, example));
    return `gs://${bucket}/${key}`;
  };
  const training = await written(params.training_file, 'training_file');
  const validation = params.validation_file ? await written(params.validation_file, 'validation_file') : null;
  const { supervisedTuningSpec: spec, ...options } = optionsOf(call);
  const given = isObject(spec) ? spec : {};
  const job = await createJob(kind, call, services, {
    baseModel: name,
    ...(params.suffix ? { tunedModelDisplayName: String(params.suffix) } : {}),
    supervisedTuningSpec: {
      trainingDatasetUri: training,
      ...(validation === null ? {} : { validationDatasetUri: validation }),
      ...given,
      hyperParameters: { ...parameters, ...(isObject(given.hyperParameters) ? given.hyperParameters : {}) },
    },
    ...options,
  });
  return jsonReply({
    ...toFinetune(job),
    training_file: params.training_file,
    validation_file: params.validation_file ?? null,
    metadata: params.metadata ?? null,
  });
});

export const retrieveFinetune = storedOperation(async (call, services) =>
  jsonReply(toFinetune(await readJob(kind, call, services))),
);

export const cancelFinetune = storedOperation(async (call, services) =>
  jsonReply(toFinetune(await cancelJob(kind, call, services))),
);

export const listFinetunes = storedOperation(async (call, services) => {
  const { jobs, hasMore } = await listJobs(kind, call, services);
  return jsonReply({ object: 'list', data: jobs.map(toFinetune), has_more: hasMore });
});

function example(line: OperationCall): JsonObject {
  const { contents, systemInstruction } = chatComplete.toProvider?.(line.params, line) ?? {};
  return { ...(systemInstruction === undefined ? {} : { systemInstruction }), contents };
}

function hyperParameters(call: OperationCall): JsonObject {
  const asked = supervisedHyperparameters(call.params, 'vertex-ai');
  const { n_epochs: epochs, learning_rate_multiplier: multiplier, batch_size: size } = asked;
  if (size !== undefined && size !== 'auto') noteOnce(call.dropped, 'batch_size');
  return {
    // Google's JSON has 64-bit numbers as text.
    ...(typeof epochs === 'number' ? { epochCount: String(epochs) } : {}),
    ...(typeof multiplier === 'number' ? { learningRateMultiplier: multiplier } : {}),
  };
}

function toFinetune(job: JsonObject): JsonObject {
  const status = states[String(job.state)]?.tuning ?? 'running';
  const spec = isObject(job.supervisedTuningSpec) ? job.supervisedTuningSpec : {};
  const { epochCount, learningRateMultiplier }: JsonObject = isObject(spec.hyperParameters) ? spec.hyperParameters : {};
  const tuned = isObject(job.tunedModel) ? job.tunedModel : {};
  const error = isObject(job.error) ? job.error : {};
  const file = (uri: unknown): string | null => (typeof uri === 'string' ? encodeURIComponent(uri) : null);
  return {
    id: lastOf(job.name),
    object: 'fine_tuning.job',
    created_at: secondsOf(job.createTime),
    finished_at: secondsOf(job.endTime),
    model: job.baseModel ?? '',
    fine_tuned_model: tuned.endpoint ?? tuned.model ?? null,
    organization_id: '',
    status,
    error: status === 'failed' ? { code: String(error.code ?? 'failed'), message: error.message ?? '', param: null } : null,
    hyperparameters: {
      n_epochs: epochCount === undefined ? 'auto' : Number(epochCount),
      batch_size: 'auto',
      learning_rate_multiplier: learningRateMultiplier ?? 'auto',
    },
    training_file: file(spec.trainingDatasetUri),
    validation_file: file(spec.validationDatasetUri),
    result_files: [],
    trained_tokens: null,
    seed: 0,
    estimated_finish: null,
    metadata: null,
  };
}
