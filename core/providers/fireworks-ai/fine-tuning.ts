import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { listPages } from '../../formats/stored/list-pages.ts';
import { idOf } from '../../formats/stored/stored-files.ts';
import { jsonBody, secondsOf } from '../../formats/stored/stored-operation.ts';
import { supervisedHyperparameters } from '../../formats/stored/training.ts';
import { accountOperation, accountPage, accountPath, askAccount, lastOf } from './account.ts';

const jobs = '/supervisedFineTuningJobs';

/** Supervised fine-tuning (https://docs.fireworks.ai/api-reference/get-supervised-fine-tuning-job) in the form of OpenAI's jobs. */
export const createFinetune: Operation = accountOperation(async (call, services) => {
  const made = await askAccount(call, services, { method: 'POST', path: jobs, ...jsonBody(toProviderJob(call.params, call)) });
  return toJob(await made.json());
});

export const listFinetunes: Operation = accountOperation((call, services) =>
  listPages(call, 20, async (token) => {
    const { items, next } = await accountPage(call, services, jobs, 'supervisedFineTuningJobs', token);
    return { items: items.map(toJob), next };
  }),
);

export const retrieveFinetune: Operation = accountOperation(async (call, services) =>
  toJob(await (await askAccount(call, services, { method: 'GET', path: `${jobs}/${idOf(call)}` })).json()),
);

export const cancelFinetune: Operation = accountOperation(async (call, services) => {
  const path = `${jobs}/${idOf(call)}`;
  (await askAccount(call, services, { method: 'POST', path: `${path}:cancel`, ...jsonBody({}) })).cancel();
  return toJob(await (await askAccount(call, services, { method: 'GET', path })).json());
});

/**
 * Converts the parameters that the provider has. It lacks a learning rate multiplier and a batch size in examples: its own are
 * absolute and in tokens.
 */
function toProviderJob(params: JsonObject, call: OperationCall): JsonObject {
  const { model, training_file: file, validation_file: evaluation, suffix, method, hyperparameters, ...rest } = params;
  const { svc_options: _options, provider_options: more, ...others } = rest;
  if (typeof model !== 'string' || model === '') throw badParam('model', 'the model to start from is expected');
  if (typeof file !== 'string' || file === '') throw badParam('training_file', 'the id of a file is expected');
  const { n_epochs: epochs, ...unknown } = supervisedHyperparameters({ method, hyperparameters }, 'fireworks-ai');
  for (const [name, value] of Object.entries(unknown)) if (value !== 'auto') noteOnce(call.dropped, `hyperparameters.${name}`);
  for (const [name, value] of Object.entries(others)) if (value !== null && value !== undefined) noteOnce(call.dropped, name);
  return {
    baseModel: model,
    dataset: datasetName(call, file),
    ...(typeof evaluation === 'string' && evaluation !== '' ? { evaluationDataset: datasetName(call, evaluation) } : {}),
    ...(typeof suffix === 'string' && suffix !== '' ? { displayName: suffix } : {}),
    ...(typeof epochs === 'number' ? { epochs } : {}),
    ...(isObject(more) ? more : {}),
  };
}

function datasetName(call: OperationCall, file: string): string {
  return file.startsWith('accounts/') ? file : accountPath(call.settings, `/datasets/${file}`);
}

/** The provider's statuses of a job, without `JOB_STATE_`. All others mean that the job runs. */
const statuses: Readonly<Record<string, string>> = byName({
  CREATING: 'queued',
  PENDING: 'queued',
  VALIDATING: 'validating_files',
  COMPLETED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
});

function toJob(job: JsonObject): JsonObject {
  const status = statuses[String(job.state ?? '').replace(/^JOB_STATE_/, '')] ?? 'running';
  const jobStatus = isObject(job.status) ? job.status : {};
  const hyperparameters = { n_epochs: job.epochs ?? 'auto', batch_size: 'auto', learning_rate_multiplier: 'auto' };
  return {
    id: lastOf(job.name),
    object: 'fine_tuning.job',
    model: job.baseModel ?? job.warmStartFrom ?? null,
    fine_tuned_model: status === 'succeeded' ? (job.outputModel ?? null) : null,
    status,
    created_at: secondsOf(job.createTime),
    finished_at: secondsOf(job.completedTime),
    estimated_finish: null,
    training_file: lastOf(job.dataset),
    validation_file: lastOf(job.evaluationDataset),
    result_files: [],
    trained_tokens: null,
    organization_id: typeof job.name === 'string' ? (job.name.split('/')[1] ?? null) : null,
    hyperparameters,
    method: { type: 'supervised', supervised: { hyperparameters } },
    error: status === 'failed' ? { code: jobStatus.code ?? null, message: jobStatus.message ?? '', param: null } : null,
    seed: 0,
    metadata: null,
  };
}
