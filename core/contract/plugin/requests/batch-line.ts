import type { OperationName } from '../../provider/provider.ts';
import { isObject, type JsonObject } from '../../values/json/json.ts';
import type { Maybe } from '../../values/maybe.ts';
import type { Denial } from '../plugin.ts';

/** One request of a batch that a provider runs. */
export interface BatchLine {
  /** Null: the route of the line is not one of the gateway's, so the form of its body is unknown. */
  readonly operation: OperationName | null;
  readonly body: JsonObject;
  /** True: the provider reads the line from its own file, so that a change would have no effect. */
  readonly isFixed: boolean;
}

/** A line that is sent with another body. */
export interface ChangedLine {
  readonly action: 'change';
  readonly body: JsonObject;
}

/** Checks one line before a provider gets the batch. A Denial rejects the batch. */
export type CheckBatchLine = (line: BatchLine) => Maybe<Denial | ChangedLine | undefined>;

/** Fields of a request that name the file with the lines of a batch, in the names of different providers. */
export const batchFileFields = [
  'input_file_id',
  'input_files',
  'input_blob',
  'input_dataset_id',
  'inputDataConfig',
  'inputConfig',
] as const;

/** Returns true for the body of a pass-through request that creates a batch of a file. */
export function namesBatchFile(body: JsonObject): boolean {
  // Gemini has one level more.
  const parts = [body, body.batch].filter(isObject);
  return parts.some((part) => [...batchFileFields, 'input_config'].some((name) => Object.hasOwn(part, name)));
}

const operations: Readonly<Record<string, OperationName>> = {
  '/v1/chat/completions': 'chatComplete',
  '/v1/completions': 'complete',
  '/v1/embeddings': 'embed',
  '/v1/responses': 'createModelResponse',
  '/v1/moderations': 'moderate',
  '/v1/messages': 'messages',
  '/v1/images/generations': 'imageGenerate',
};

/**
 * Returns the `endpoint` of a batch, or the `url` of a line, as a route of the gateway. In Azure's dated API it has no version:
 * `/chat/completions`.
 */
export function routeOfLines<T>(url: T): T | string {
  return typeof url === 'string' && Object.hasOwn(operations, `/v1${url}`) ? `/v1${url}` : url;
}

/** Returns the operation of the lines of a batch by their `url`, or by the `endpoint` of the batch; null if it is unknown. */
export function operationOfLines(given: unknown): OperationName | null {
  const url = routeOfLines(given);
  return typeof url === 'string' && Object.hasOwn(operations, url) ? (operations[url] as OperationName) : null;
}
