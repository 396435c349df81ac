import * as v from 'valibot';
import { callerHeaderList, ownStoreOrigin, ownStoreProvider } from '../../contract/provider/own-store.ts';
import type { Operation, OperationCall, OperationName, ProviderAdapter } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { uncounted } from '../../formats/never-streams.ts';
import { providerError } from '../../formats/openai/provider-error.ts';

/**
 * The gateway's own store of files and batches. It is not in the provider list: stored providers, custom hosts and request
 * headers cannot select it, because its statements about the caller are trusted.
 */
export const ownStore: ProviderAdapter = {
  id: ownStoreProvider,
  settings: v.object({}),
  baseUrl: () => ownStoreOrigin,
  headers: () => [],
  proxyPath() {
    throw new GatewayError('unsupported_operation', { message: 'svc (the service’s own store) has no pass-through routes' });
  },
  operations: {
    uploadFile: stored((call) => `/files${queryOf(call)}`),
    listFiles: stored((call) => `/files${queryOf(call)}`),
    retrieveFile: stored((call) => `/files/${idOf(call)}`),
    retrieveFileContent: stored((call) => `/files/${idOf(call)}/content`),
    deleteFile: stored((call) => `/files/${idOf(call)}`),
    createBatch: {
      ...stored(() => '/batches'),
      toProvider: (params, call) => ({ batch: params, headers: call.caller?.headers() ?? {} }),
    },
    listBatches: stored((call) => `/batches${queryOf(call)}`),
    retrieveBatch: stored((call) => `/batches/${idOf(call)}${queryOf(call)}`),
    getBatchOutput: stored((call) => `/batches/${idOf(call)}/output`),
    cancelBatch: stored((call) => `/batches/${idOf(call)}/cancel`),
  } satisfies Partial<Record<OperationName, Operation>>,
  error: providerError(ownStoreProvider),
};

function stored(path: (call: OperationCall) => string): Operation {
  return {
    path: (call) => `/internal/v1/store${path(call)}`,
    headers: (call) => identity(call),
    passesBytes: true,
    passesJson: true,
    ...uncounted,
  };
}

function identity(call: OperationCall): HeaderList {
  const headers = callerHeaderList(call.caller);
  const purpose = call.gatewayHeader?.('file-purpose');
  return purpose === undefined ? headers : [...headers, 'svc-file-purpose', purpose];
}

function queryOf(call: OperationCall): string {
  return call.query ? `?${call.query}` : '';
}

/** Ids of the store are plain words. Other text is not an id. */
function idOf(call: OperationCall): string {
  const id = call.pathParams?.id ?? '';
  if (/^[\w-]{1,80}$/.test(id)) return id;
  throw new GatewayError('not_found', { message: 'No such file or batch' });
}
