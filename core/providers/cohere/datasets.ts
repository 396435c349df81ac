import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from '../../contract/errors.ts';
import { isObject, type JsonObject } from '../../contract/json.ts';
import type { Operation, OperationCall, StepServices } from '../../contract/provider.ts';
import { badParam } from '../shared/bad-param.ts';
import { idOf } from '../shared/kept-files.ts';
import { secondsOf } from '../shared/list-pages.ts';

/** Nothing is billed by the token. */
export const uncounted = {
  usage: () => null,
  streamReader: () => ({ push: () => {}, usage: () => null, complete: () => true }),
} satisfies Partial<Operation>;

/**
 * Datasets as files, by their ids (https://docs.cohere.com/reference/get-dataset). Uploads and lists are those of the service's own
 * store, which batches are made of.
 */
export const retrieveFile: Operation = {
  path: (call) => `/v1/datasets/${idOf(call)}`,
  fromProvider: (reply) => toFile(isObject(reply.dataset) ? reply.dataset : {}),
  ...uncounted,
};

export const deleteFile: Operation = {
  path: (call) => `/v1/datasets/${idOf(call)}`,
  fromProvider: (_reply, call) => ({ id: decodeURIComponent(idOf(call)), object: 'file', deleted: true }),
  ...uncounted,
};

/**
 * Makes a dataset of these lines and waits until the provider has looked through it, which it must have before a batch may name it.
 * Gives its id. What is refused leaves no dataset behind. Rejects with `upstream_status`, `bad_request`, `request_timeout`.
 */
export async function createDataset(
  call: OperationCall,
  services: StepServices,
  type: string,
  lines: AsyncIterable<Uint8Array>,
): Promise<string> {
  const query = new URLSearchParams({ name: call.newId('svc-batch-'), type, keep_fields: 'custom_id' });
  const boundary = call.newId('svc-form-');
  const response = await services.send({
    method: 'POST',
    path: `/v1/datasets?${query}`,
    headers: ['content-type', `multipart/form-data; boundary=${boundary}`],
    body: formOf(boundary, lines),
  });
  if (response.status >= 300) throw await services.fault(response);
  const { id } = await response.json();
  if (typeof id !== 'string') throw new GatewayError('upstream_invalid', { message: 'cohere made a dataset without an id' });
  try {
    await validated(services, id);
  } catch (error) {
    await services.send({ method: 'DELETE', path: `/v1/datasets/${encodeURIComponent(id)}` }).then(
      (reply) => reply.cancel(),
      () => {},
    );
    throw error;
  }
  return id;
}

/** A dataset of the provider. */
export async function readDataset(services: StepServices, id: string): Promise<JsonObject> {
  const response = await services.send({ method: 'GET', path: `/v1/datasets/${encodeURIComponent(id)}` });
  if (response.status >= 300) throw await services.fault(response);
  const { dataset } = await response.json();
  return isObject(dataset) ? dataset : {};
}

/** How long is waited between two looks, in milliseconds, and in all. */
const pausesMs = [250, 500, 1000, 2000];
const waitMsMax = 120_000;

async function validated(services: StepServices, id: string): Promise<void> {
  let waitedMs = 0;
  for (let look = 0; ; look++) {
    const { validation_status: status, validation_error: error } = await readDataset(services, id);
    if (status === 'validated' || status === 'skipped') return;
    if (status === 'failed') throw badParam('input_file_id', `cohere refuses the lines: ${String(error ?? '').slice(0, 500)}`);
    if (waitedMs >= waitMsMax) {
      throw new GatewayError('request_timeout', { message: `cohere has not looked through the file in ${waitMsMax} ms` });
    }
    const ms = pausesMs[Math.min(look, pausesMs.length - 1)] as number;
    await pause(ms);
    waitedMs += ms;
  }
}

async function* formOf(boundary: string, lines: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="data"; filename="batch.jsonl"\r\ncontent-type: application/jsonl\r\n\r\n`,
  );
  yield* lines;
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

function toFile(dataset: JsonObject): JsonObject {
  const parts = Array.isArray(dataset.dataset_parts) ? dataset.dataset_parts.filter(isObject) : [];
  const sizes = parts.map((part) => Number(part.size_bytes)).filter(Number.isFinite);
  const { validation_status: status } = dataset;
  return {
    id: dataset.id,
    object: 'file',
    bytes: sizes.length === 0 ? null : sizes.reduce((sum, size) => sum + size, 0),
    created_at: secondsOf(dataset.created_at),
    filename: dataset.name ?? dataset.id,
    purpose: dataset.dataset_type ?? null,
    status: status === 'validated' || status === 'skipped' ? 'processed' : status === 'failed' ? 'error' : 'uploaded',
    ...(dataset.validation_error ? { status_details: dataset.validation_error } : {}),
  };
}
