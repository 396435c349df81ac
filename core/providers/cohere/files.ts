import type { Operation, OperationCall, StepServices } from '../../contract/provider/provider.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { uncounted } from '../../formats/never-streams.ts';
import { readBatchRequests } from '../../formats/stored/batch-lines.ts';
import { listPages } from '../../formats/stored/list-pages.ts';
import { idOf } from '../../formats/stored/stored-files.ts';
import { askForJson, jsonReply, linesReply, secondsOf, storedOperation } from '../../formats/stored/stored-operation.ts';
import { storedText } from '../../formats/stored/stored-settings.ts';
import { type UploadedFile, withUpload } from '../../formats/stored/uploaded-file.ts';
import { outputLines } from './batch-output.ts';
import { batchLines, kindOf, modelOf } from './batch-requests.ts';
import { datasetName, plainName, readDatasetName } from './dataset-name.ts';
import { createDataset, linesFile, readDataset } from './datasets.ts';

/**
 * Datasets in the form of files (https://docs.cohere.com/reference/create-dataset). Uploads for batches are converted to the
 * provider's form. Datasets of other types get the bytes unchanged.
 */
export const uploadFile: Operation = storedOperation((call, services) =>
  withUpload(call, services, async (file) => {
    let bytes = 0;
    const counted = async function* () {
      for await (const chunk of file.chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    const id = await (file.purpose === 'batch' ? forBatches : asItIs)({ ...file, chunks: counted() }, call, services);
    return jsonReply({
      id,
      object: 'file',
      bytes,
      created_at: call.nowSeconds,
      filename: file.filename,
      purpose: file.purpose,
      status: 'uploaded',
    });
  }),
);

const pageSize = 100;

export const listFiles: Operation = storedOperation(async (call, services) => {
  const purpose = new URLSearchParams(call.query).get('purpose');
  const page = async (token: string | null) => {
    const offset = Number(token ?? 0);
    const { datasets } = await askForJson(services, 'GET', `/v1/datasets?limit=${pageSize}&offset=${offset}`);
    const found = objectsIn(datasets);
    return { items: found.map(toFile), next: found.length < pageSize ? null : String(offset + pageSize) };
  };
  return jsonReply(await listPages(call, 10_000, page, (file) => purpose === null || file.purpose === purpose));
});

export const retrieveFile: Operation = {
  path: (call) => `/v1/datasets/${idOf(call)}`,
  fromProvider: (reply) => toFile(isObject(reply.dataset) ? reply.dataset : {}),
  ...uncounted,
};

/** Returns the output of a batch as OpenAI's lines. The provider does not return uploaded files in their original form. */
export const retrieveFileContent: Operation = storedOperation(async (call, services) => {
  const id = decodeURIComponent(idOf(call));
  const dataset = await readDataset(services, id);
  if (readDatasetName(dataset.name)) throw badParam('id', 'cohere gives back the content of batch output alone');
  return linesReply(outputLines(call, services, dataset, null));
});

export const deleteFile: Operation = {
  path: (call) => `/v1/datasets/${idOf(call)}`,
  fromProvider: (_reply, call) => ({ id: decodeURIComponent(idOf(call)), object: 'file', deleted: true }),
  ...uncounted,
};

/** OpenAI's purposes by dataset type. The type itself is accepted too. */
const typeOfPurpose: Readonly<Record<string, string>> = byName({ 'fine-tune': 'chat-finetune-input' });

async function forBatches(file: UploadedFile, call: OperationCall, services: StepServices): Promise<string> {
  const requests = readBatchRequests(file.chunks, call, 'file');
  const first = await requests.next();
  if (first.done) throw badParam('file', 'the file has no requests');
  const [endpoint, kind] = kindOf(storedText(call, 'provider_batch_endpoint'), first.value);
  const model = modelOf(call, storedText(call, 'provider_model'), first.value);
  const name = datasetName({ endpoint, model, filename: storedText(call, 'provider_file_name') ?? file.filename });
  const lines = batchLines(first.value, requests, kind, model, call);
  return createDataset(call, services, { name, type: kind.datasetType, ...linesFile }, lines);
}

function asItIs(file: UploadedFile, call: OperationCall, services: StepServices): Promise<string> {
  const type = typeOfPurpose[file.purpose] ?? file.purpose;
  if (!/^[a-z0-9]+(-[a-z0-9]+)*-input$/.test(type)) {
    throw badParam('purpose', 'batch, fine-tune or a type of dataset such as embed-input is expected');
  }
  const filename = plainName(file.filename);
  const name = plainName(storedText(call, 'provider_file_name') ?? filename);
  const contentType = /^[\w.+-]+\/[\w.+-]+$/.test(file.contentType) ? file.contentType : 'application/octet-stream';
  return createDataset(call, services, { name, type, filename, contentType }, file.chunks);
}

function toFile(dataset: JsonObject): JsonObject {
  const parts = objectsIn(dataset.dataset_parts);
  const sizes = parts.map((part) => Number(part.size_bytes)).filter(Number.isFinite);
  const { validation_status: status } = dataset;
  return {
    id: dataset.id,
    object: 'file',
    bytes: sizes.length === 0 ? null : sizes.reduce((sum, size) => sum + size, 0),
    created_at: secondsOf(dataset.created_at),
    filename: readDatasetName(dataset.name)?.filename ?? dataset.name ?? dataset.id,
    purpose: purposeOf(String(dataset.dataset_type ?? '')),
    status: status === 'validated' || status === 'skipped' ? 'processed' : status === 'failed' ? 'error' : 'uploaded',
    ...(dataset.validation_error ? { status_details: dataset.validation_error } : {}),
  };
}

function purposeOf(type: string): string {
  if (type.startsWith('batch-')) return type.endsWith('-input') ? 'batch' : 'batch_output';
  return Object.keys(typeOfPurpose).find((purpose) => typeOfPurpose[purpose] === type) ?? type;
}
