import type { OperationCall, StepServices } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { idOf } from '../../formats/stored/stored-files.ts';
import { decoded } from '../../formats/stored/stored-object.ts';
import { askForJson, exchange, jsonBody, limitOf } from '../../formats/stored/stored-operation.ts';
import { locationPath } from './address.ts';
import { requireGoogle } from './storage.ts';

/** Kinds of jobs, by the names of their collections. */
export type JobKind = 'batchPredictionJobs' | 'tuningJobs';

/** States of all jobs (`JobState`), with the corresponding statuses of a batch and of a fine-tuning job. */
export const states: Readonly<Record<string, { readonly batch: string; readonly tuning: string }>> = {
  JOB_STATE_QUEUED: { batch: 'validating', tuning: 'queued' },
  JOB_STATE_PENDING: { batch: 'validating', tuning: 'queued' },
  JOB_STATE_RUNNING: { batch: 'in_progress', tuning: 'running' },
  JOB_STATE_UPDATING: { batch: 'in_progress', tuning: 'running' },
  JOB_STATE_PAUSED: { batch: 'in_progress', tuning: 'running' },
  JOB_STATE_SUCCEEDED: { batch: 'completed', tuning: 'succeeded' },
  JOB_STATE_PARTIALLY_SUCCEEDED: { batch: 'completed', tuning: 'succeeded' },
  JOB_STATE_FAILED: { batch: 'failed', tuning: 'failed' },
  JOB_STATE_CANCELLING: { batch: 'cancelling', tuning: 'running' },
  JOB_STATE_CANCELLED: { batch: 'cancelled', tuning: 'cancelled' },
  JOB_STATE_EXPIRED: { batch: 'expired', tuning: 'failed' },
};

/** Creates a job in the project and location of the settings. Rejects with `upstream_status`. */
export async function createJob(
  kind: JobKind,
  call: OperationCall,
  services: StepServices,
  body: JsonObject,
): Promise<JsonObject> {
  return askForJson(services, 'POST', locationPath(call.settings, `/${kind}`), body);
}

/** Returns the job in the client's path. */
export function readJob(kind: JobKind, call: OperationCall, services: StepServices): Promise<JsonObject> {
  requireGoogle(call);
  return getJob(kind, idOf(call), 'id', call, services);
}

/** Cancels the job in the client's path, and returns it as it is then. */
export async function cancelJob(kind: JobKind, call: OperationCall, services: StepServices): Promise<JsonObject> {
  requireGoogle(call);
  const path = `${pathOf(kind, idOf(call), 'id', call)}:cancel`;
  (await exchange(services, { method: 'POST', path, ...jsonBody({}) })).cancel();
  return readJob(kind, call, services);
}

/** Returns one page of jobs. An id does not identify a page, so `after` lists the jobs older than that one. */
export async function listJobs(
  kind: JobKind,
  call: OperationCall,
  services: StepServices,
): Promise<{ readonly jobs: readonly JsonObject[]; readonly hasMore: boolean }> {
  requireGoogle(call);
  const asked = new URLSearchParams(call.query);
  const query = new URLSearchParams({ pageSize: `${limitOf(asked)}` });
  const after = asked.get('after');
  if (after !== null) {
    const { createTime } = await getJob(kind, after, 'after', call, services);
    if (typeof createTime === 'string') query.set('filter', `create_time<"${createTime}"`);
  }
  const path = locationPath(call.settings, `/${kind}?${query}`);
  const reply = await askForJson(services, 'GET', path);
  const jobs = reply[kind];
  return { jobs: objectsIn(jobs), hasMore: typeof reply.nextPageToken === 'string' };
}

/** Returns the last part of a resource's name. */
export function lastOf(name: unknown): string {
  return String(name ?? '')
    .split('/')
    .at(-1) as string;
}

/** `provider_options`: fields of the job under the provider's own names. */
export function optionsOf(call: OperationCall): JsonObject {
  return isObject(call.params.provider_options) ? call.params.provider_options : {};
}

async function getJob(
  kind: JobKind,
  id: string,
  param: string,
  call: OperationCall,
  services: StepServices,
): Promise<JsonObject> {
  return askForJson(services, 'GET', pathOf(kind, id, param, call));
}

function pathOf(kind: JobKind, id: string, param: string, call: OperationCall): string {
  const number = decoded(id);
  if (!/^\d{1,30}$/.test(number)) throw badParam(param, 'the number of a job is expected');
  return locationPath(call.settings, `/${kind}/${number}`);
}
