import type {
  Operation,
  OperationCall,
  OperationName,
  ProviderAdapter,
  StepReply,
  StepServices,
} from '../../contract/provider/provider.ts';
import { isText, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';
import { uncounted } from '../never-streams.ts';
import { askForJson, exchange, linesReply, storedOperation } from './stored-operation.ts';

export type StoredOperationName = Extract<
  OperationName,
  | 'uploadFile'
  | 'listFiles'
  | 'retrieveFile'
  | 'retrieveFileContent'
  | 'deleteFile'
  | 'createBatch'
  | 'listBatches'
  | 'retrieveBatch'
  | 'getBatchOutput'
  | 'cancelBatch'
  | 'createFinetune'
  | 'listFinetunes'
  | 'retrieveFinetune'
  | 'cancelFinetune'
>;

/**
 * Resources that a provider stores in OpenAI's form: the functions of each family, and their paths if they differ from OpenAI's.
 */
export interface StoredFamilies {
  readonly files?: readonly StoredOperationName[];
  readonly batches?: readonly StoredOperationName[];
  readonly finetunes?: readonly StoredOperationName[];
  /** Returns the path below the base URL for OpenAI's path below `/v1`. Absent: the adapter's `proxyPath`. */
  readonly path?: (path: string, call: OperationCall) => string;
  /** Converts a batch to OpenAI's form, if the provider has another one. */
  readonly toBatch?: (batch: JsonObject) => JsonObject;
}

export const allFiles = ['uploadFile', 'listFiles', 'retrieveFile', 'retrieveFileContent', 'deleteFile'] as const;
export const allBatches = ['createBatch', 'listBatches', 'retrieveBatch', 'getBatchOutput', 'cancelBatch'] as const;
export const allFinetunes = ['createFinetune', 'listFinetunes', 'retrieveFinetune', 'cancelFinetune'] as const;

/** Fields of a batch or fine-tuning job for the gateway. They are not sent to providers. */
const ownFields = ['svc_options', 'provider_options'] as const;

/**
 * Files, batches and fine-tuning jobs of a provider with OpenAI's API for them
 * (https://platform.openai.com/docs/api-reference/files). Bytes pass unchanged in both directions.
 */
export function storedOperations(
  adapter: ProviderAdapter,
  families: StoredFamilies,
): Partial<Record<StoredOperationName, Operation>> {
  const names = [...(families.files ?? []), ...(families.batches ?? []), ...(families.finetunes ?? [])];
  const toPath = families.path ?? ((path, call) => adapter.proxyPath?.(path, call.settings) ?? path);
  return Object.fromEntries(
    names.map((name) => [
      name,
      name === 'getBatchOutput' ? outputOf(toPath, families.toBatch ?? ((batch) => batch)) : passed(name, toPath),
    ]),
  );
}

type ToPath = NonNullable<StoredFamilies['path']>;
type ToBatch = NonNullable<StoredFamilies['toBatch']>;

const paths: Readonly<Record<Exclude<StoredOperationName, 'getBatchOutput'>, (id: string) => string>> = {
  uploadFile: () => '/files',
  listFiles: () => '/files',
  retrieveFile: (id) => `/files/${id}`,
  retrieveFileContent: (id) => `/files/${id}/content`,
  deleteFile: (id) => `/files/${id}`,
  createBatch: () => '/batches',
  listBatches: () => '/batches',
  retrieveBatch: (id) => `/batches/${id}`,
  cancelBatch: (id) => `/batches/${id}/cancel`,
  createFinetune: () => '/fine_tuning/jobs',
  listFinetunes: () => '/fine_tuning/jobs',
  retrieveFinetune: (id) => `/fine_tuning/jobs/${id}`,
  cancelFinetune: (id) => `/fine_tuning/jobs/${id}/cancel`,
};

function passed(name: Exclude<StoredOperationName, 'getBatchOutput'>, toPath: ToPath): Operation {
  const path = paths[name];
  const takesId = path('{id}').includes('{id}');
  return {
    path: (call) => withQuery(toPath(path(takesId ? idOf(call) : ''), call), call),
    ...(name === 'createBatch' || name === 'createFinetune' ? { toProvider: withoutOwnFields } : {}),
    ...(name === 'createBatch' ? { requestFiles: requestFilesAt(toPath) } : {}),
    passesBytes: true,
    // The reply is read whole to record the id of the batch, and is returned unchanged.
    passesJson: name !== 'createBatch',
    ...uncounted,
  };
}

/** Returns the paths of the files with the requests of a new batch: OpenAI's `input_file_id`, or a list `input_files`. */
function requestFilesAt(toPath: ToPath): NonNullable<Operation['requestFiles']> {
  return ({ input_file_id: one, input_files: many }, call) =>
    [one, many].flat().flatMap((id) => {
      if (id === undefined) return [];
      if (typeof id !== 'string' || !/^[\w-]{1,255}$/.test(id)) throw badParam('input_file_id', 'the id of a file is expected');
      return [toPath(`/files/${id}/content`, call)];
    });
}

/** The output file of a batch, then its error file. Their lines already have OpenAI's form. */
function outputOf(toPath: ToPath, toBatch: ToBatch): Operation {
  return storedOperation((call, services) => batchOutput(call, services, toPath, toBatch));
}

async function batchOutput(call: OperationCall, services: StepServices, toPath: ToPath, toBatch: ToBatch): Promise<StepReply> {
  const batch = toBatch(await askForJson(services, 'GET', toPath(`/batches/${idOf(call)}`, call)));
  const files = [batch.output_file_id, batch.error_file_id].filter(isText);
  if (files.length === 0) throw notReady(batch);
  return linesReply(
    contents(
      files.map((id) => toPath(`/files/${encodeURIComponent(id)}/content`, call)),
      services,
    ),
  );
}

async function* contents(filePaths: readonly string[], services: StepServices): AsyncGenerator<Uint8Array> {
  for (const path of filePaths) {
    const response = await exchange(services, { method: 'GET', path });
    let last = newline;
    for await (const chunk of response.body) {
      if (chunk.length > 0) last = chunk[chunk.length - 1] as number;
      yield chunk;
    }
    if (last !== newline) yield Buffer.from('\n');
  }
}

const newline = 10;

/** Error for a request for the output of a batch that has none yet. */
export function notReady(batch: JsonObject): Error {
  return badParam('id', `the batch is ${String(batch.status ?? 'not completed')} and has no output yet`);
}

/** Returns the body without the fields for the gateway. Returns the same object if it has none. */
function withoutOwnFields(params: JsonObject): JsonObject {
  if (!ownFields.some((field) => field in params)) return params;
  const { svc_options: _options, provider_options: given, ...rest } = params;
  return typeof given === 'object' && given !== null && !Array.isArray(given) ? { ...rest, ...given } : rest;
}

/** The id of the client's path, unchanged. A dot segment would name another path. */
export function idOf(call: OperationCall): string {
  const id = call.pathParams?.id ?? '';
  if (id === '' || /^(\.|%2e){1,2}$/i.test(id)) throw badParam('id', 'the id of a file, batch or job is expected');
  return id;
}

/** Adds the client's query, without the parameters for the gateway. */
function withQuery(path: string, call: OperationCall): string {
  const query = call.query?.replace(/(^|&)include_provider_details=[^&]*/g, '').replace(/^&/, '');
  return query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path;
}
