import type { Operation, OperationCall, StepServices } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { listPages } from '../../formats/stored/list-pages.ts';
import { idOf } from '../../formats/stored/stored-files.ts';
import { jsonBody, secondsOf } from '../../formats/stored/stored-operation.ts';
import { accountOperation, accountPage, askAccount, lastOf } from './account.ts';

/**
 * Files are datasets of the account, for training. A dataset is created and then filled with the client's form, which has the
 * same field names. Files for batches (header `file-purpose` of the gateway) stay in the service's own store, because the service itself
 * runs batches for this provider. https://docs.fireworks.ai/api-reference/create-dataset,
 * https://docs.fireworks.ai/api-reference/upload-dataset-files
 */
export const uploadFile: Operation = {
  ...accountOperation(upload),
  ignoresPurpose: true,
  serves: (client) => client.gatewayHeader('file-purpose') !== 'batch',
};

export const listFiles: Operation = {
  ...accountOperation((call, services) => {
    const purpose = new URLSearchParams(call.query).get('purpose');
    return listPages(
      call,
      10_000,
      async (token) => {
        const { items, next } = await accountPage(call, services, '/datasets', 'datasets', token);
        return { items: items.map(toFile), next };
      },
      (file) => purpose === null || file.purpose === purpose,
    );
  }),
  serves: (client) => client.gatewayHeader('file-purpose') !== 'batch',
};

export const retrieveFile: Operation = accountOperation(async (call, services) =>
  toFile(await (await askAccount(call, services, { method: 'GET', path: `/datasets/${idOf(call)}` })).json()),
);

async function upload(call: OperationCall, services: StepServices): Promise<JsonObject> {
  const contentType = call.header?.('content-type') ?? '';
  if (!/^multipart\/form-data\b/i.test(contentType)) throw badParam('file', 'a form with the file is expected');
  const id = datasetId(call);
  const made = jsonBody({ datasetId: id, dataset: { userUploaded: {} } });
  (await askAccount(call, services, { method: 'POST', path: '/datasets', ...made })).cancel();
  const length = Number(call.header?.('content-length') ?? -1);
  let reply: JsonObject;
  try {
    const filled = await askAccount(call, services, {
      method: 'POST',
      path: `/datasets/${id}:upload`,
      headers: ['content-type', contentType],
      body: services.body,
      bodyBytes: Number.isSafeInteger(length) ? length : -1,
    });
    reply = await filled.json();
  } catch (error) {
    // A dataset without content is useless. The client sees the error of the upload; errors of the removal are ignored.
    await askAccount(call, services, { method: 'DELETE', path: `/datasets/${id}` }).then(
      (response) => response.cancel(),
      () => {},
    );
    throw error;
  }
  return {
    id,
    object: 'file',
    bytes: reply.bytes ?? null,
    created_at: reply.created_at ?? call.nowSeconds,
    filename: reply.filename ?? id,
    purpose: 'fine-tune',
    status: 'uploaded',
  };
}

/** Lower-case letters, digits and hyphens, at most 63 of them. */
function datasetId(call: OperationCall): string {
  return call
    .newId('file-')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/-$/, '');
}

function toFile(dataset: JsonObject): JsonObject {
  const id = lastOf(dataset.name);
  const status = isObject(dataset.status) ? dataset.status : {};
  const isBad = status.code !== undefined && status.code !== 'OK';
  return {
    id,
    object: 'file',
    // The provider counts examples, not bytes.
    bytes: null,
    created_at: secondsOf(dataset.createTime),
    filename: dataset.displayName || id,
    purpose: 'fine-tune',
    status: isBad ? 'error' : dataset.state === 'READY' ? 'processed' : 'uploaded',
    ...(isBad && typeof status.message === 'string' ? { status_details: status.message } : {}),
  };
}
