import { setTimeout as pause } from 'node:timers/promises';
import type { OperationCall, StepServices } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { askForJson, exchange } from '../../formats/stored/stored-operation.ts';

/** Creates a dataset from these bytes, which the provider validates later. Returns its id. Rejects with `upstream_status` or `bad_request`. */
export async function createDataset(
  call: OperationCall,
  services: StepServices,
  dataset: { readonly name: string; readonly type: string; readonly filename: string; readonly contentType: string },
  bytes: AsyncIterable<Uint8Array>,
): Promise<string> {
  const { name, type } = dataset;
  const query = new URLSearchParams({ name, type, ...(type.startsWith('batch-') ? { keep_fields: 'custom_id' } : {}) });
  const boundary = call.newId('svc-form-');
  const response = await exchange(services, {
    method: 'POST',
    path: `/v1/datasets?${query}`,
    headers: ['content-type', `multipart/form-data; boundary=${boundary}`],
    body: formOf(boundary, dataset, bytes),
  });
  const { id } = await response.json();
  if (typeof id !== 'string') throw new GatewayError('upstream_invalid', { message: 'cohere made a dataset without an id' });
  return id;
}

/** Deletes a dataset that is no longer needed. Errors are ignored. */
export async function dropDataset(services: StepServices, id: string): Promise<void> {
  await services.send({ method: 'DELETE', path: `/v1/datasets/${encodeURIComponent(id)}` }).then(
    (reply) => reply.cancel(),
    () => {},
  );
}

/** A dataset of the provider. */
export async function readDataset(services: StepServices, id: string): Promise<JsonObject> {
  const { dataset } = await askForJson(services, 'GET', `/v1/datasets/${encodeURIComponent(id)}`);
  return isObject(dataset) ? dataset : {};
}

/** Pauses between two polls, the last of which repeats, and the maximum wait, in milliseconds. */
const pausesMs = [250, 500, 1000, 2000];
const waitMsMax = 120_000;

/**
 * Returns the dataset after the provider has validated it, which batches require. Rejects with `bad_request` if the validation
 * fails, `request_timeout` after two minutes.
 */
export async function validatedDataset(services: StepServices, id: string): Promise<JsonObject> {
  let waitedMs = 0;
  for (let look = 0; ; look++) {
    const dataset = await readDataset(services, id);
    const { validation_status: status, validation_error: error } = dataset;
    if (status === 'validated' || status === 'skipped') return dataset;
    if (status === 'failed') throw badParam('input_file_id', `cohere rejected the lines: ${String(error ?? '').slice(0, 500)}`);
    if (waitedMs >= waitMsMax) {
      throw new GatewayError('request_timeout', { message: `cohere did not validate the file within ${waitMsMax} ms` });
    }
    const ms = pausesMs[Math.min(look, pausesMs.length - 1)] as number;
    await pause(ms);
    waitedMs += ms;
  }
}

async function* formOf(
  boundary: string,
  { filename, contentType }: { readonly filename: string; readonly contentType: string },
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const disposition = `content-disposition: form-data; name="data"; filename="${filename}"`;
  yield Buffer.from(`--${boundary}\r\n${disposition}\r\ncontent-type: ${contentType}\r\n\r\n`);
  yield* bytes;
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

/** Name and content type of the uploaded lines of a batch. */
export const linesFile = { filename: 'batch.jsonl', contentType: 'application/jsonl' };
