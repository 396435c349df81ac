import { isOwnId } from '../../../contract/provider/own-store.ts';
import type { OperationCall, StepServices } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { badParam } from '../../../formats/bad-param.ts';
import { requireOwnHost } from '../../../formats/stored/require-own-host.ts';
import { idOf } from '../../../formats/stored/stored-files.ts';
import { decoded, objectOfId } from '../../../formats/stored/stored-object.ts';
import { askForJson, limitOf } from '../../../formats/stored/stored-operation.ts';
import { callStorage } from './storage.ts';

/** The kinds of jobs of Bedrock's control plane, and how each is addressed there. */
export interface JobKind {
  readonly path: string;
  readonly listPath: string;
  /** Pattern of an id: an ARN, or a name for jobs that have names. */
  readonly id: RegExp;
  /** Query parameter that lists what is older than a time, and the field that time is in. */
  readonly before: string;
  readonly time: string;
}

export const requireAws = requireOwnHost('bedrock');

/** Returns the path of the job in the client's path. */
export function jobPath(kind: JobKind, call: OperationCall): string {
  return pathOfJob(kind, decoded(idOf(call)), 'id');
}

function pathOfJob(kind: JobKind, id: string, param: string): string {
  if (!kind.id.test(id)) throw badParam(param, 'expected the id of a job, as returned when the job was created');
  return `${kind.path}/${encodeURIComponent(id)}`;
}

/** Returns one page of jobs, newest first. An id does not identify a page, so `after` lists the jobs older than that one. */
export async function listJobs(
  kind: JobKind,
  call: OperationCall,
  services: StepServices,
): Promise<{ readonly jobs: readonly JsonObject[]; readonly hasMore: boolean }> {
  const asked = new URLSearchParams(call.query);
  const after = asked.get('after');
  const query = new URLSearchParams({ maxResults: `${limitOf(asked)}`, sortBy: 'CreationTime', sortOrder: 'Descending' });
  if (after !== null) {
    const job = await askForJson(services, 'GET', pathOfJob(kind, decoded(after), 'after'));
    if (typeof job[kind.time] === 'string') query.set(kind.before, job[kind.time] as string);
  }
  const reply = await askForJson(services, 'GET', `${kind.listPath}?${query}`);
  const jobs = Object.values(reply).find(Array.isArray) as unknown[] | undefined;
  return { jobs: (jobs ?? []).filter(isObject), hasMore: typeof reply.nextToken === 'string' };
}

/** Returns the bytes of an input file from the service's store or the account's bucket. */
export async function inputFile(
  id: unknown,
  param: string,
  call: OperationCall,
  services: StepServices,
): Promise<AsyncIterable<Uint8Array>> {
  if (isOwnId(id)) return services.ownFile(id as string);
  const bucket = call.settings.aws_s3_bucket;
  const location = objectOfId('s3', id, param, typeof bucket === 'string' ? bucket : null);
  return (await callStorage(call, services, { method: 'GET', ...location })).body;
}

/** Returns the role that the provider assumes for the job (`provider_options.role_arn`). */
export function roleOf(options: JsonObject): string {
  const role = options.role_arn ?? options.roleArn;
  if (typeof role === 'string' && /^arn:aws[\w-]*:iam::\d{12}:role\/.{1,512}$/.test(role)) return role;
  throw badParam('provider_options.role_arn', 'the ARN of the service role that reads and writes the bucket is expected');
}

/** Returns `provider_options` without the members that are read here. The rest is sent to the provider under its own names. */
export function optionsOf(call: OperationCall): JsonObject {
  return isObject(call.params.provider_options) ? call.params.provider_options : {};
}

export function withoutNames(options: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name)));
}
