import type { Operation, OperationCall, OperationName, ProviderAdapter } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { badParam } from '../bad-param.ts';
import { neverStreams } from '../never-streams.ts';
import { responsesUsage } from '../openai/responses.ts';

type StoredOperationName = Extract<
  OperationName,
  | 'getModelResponse'
  | 'deleteModelResponse'
  | 'listResponseInputItems'
  | 'cancelModelResponse'
  | 'countResponseInputTokens'
  | 'compactModelResponse'
>;

/** Method and path below `/v1` of each route. */
const routes: Readonly<Record<StoredOperationName, readonly [method: string, path: (id: string) => string]>> = {
  getModelResponse: ['GET', (id) => `/responses/${id}`],
  deleteModelResponse: ['DELETE', (id) => `/responses/${id}`],
  listResponseInputItems: ['GET', (id) => `/responses/${id}/input_items`],
  cancelModelResponse: ['POST', (id) => `/responses/${id}/cancel`],
  countResponseInputTokens: ['POST', () => '/responses/input_tokens'],
  compactModelResponse: ['POST', () => '/responses/compact'],
};

/**
 * The routes below `/responses` (https://platform.openai.com/docs/api-reference/responses). They are passed if the provider has
 * the Responses API itself. They are refused with 400 if chat completions replace it, because those store nothing.
 */
export function storedResponses(adapter: ProviderAdapter): Record<StoredOperationName, Operation> {
  const { createModelResponse: create } = adapter.operations;
  const names = Object.keys(routes) as StoredOperationName[];
  const operations = names.map((name) => [name, create ? passed(name, adapter, create) : refused(name, adapter.id)] as const);
  return Object.fromEntries(operations) as Record<StoredOperationName, Operation>;
}

function passed(name: StoredOperationName, adapter: ProviderAdapter, create: Operation): Operation {
  const [, path] = routes[name];
  return {
    path: (call) => {
      const below = path(idOf(call));
      const query = call.query ? `?${call.query}` : '';
      return (adapter.proxyPath?.(below, call.settings) ?? below) + query;
    },
    // If the path does not name the deployment, the body does, as for a new response.
    ...(create.toProvider ? { toProvider: create.toProvider } : {}),
    // A response that is fetched with `stream=true` is returned as its events.
    passesBytes: true,
    // The usage of a response was counted when it was created. Compacting a response is a separate call with usage of its own.
    usage: (reply) => (name === 'compactModelResponse' && isCounted(reply.usage) ? responsesUsage(reply.usage) : null),
    streamReader: neverStreams,
  };
}

function refused(name: StoredOperationName, id: string): Operation {
  const [method, path] = routes[name];
  // `POST /v1/responses` itself works at these providers.
  const route = method === 'POST' ? path('{id}') : '/responses';
  return {
    path() {
      throw new GatewayError('unsupported_operation', {
        message: `${method} /v1${route} is only supported for native Responses API providers: ${id} is not one (${name})`,
      });
    },
    usage: () => null,
    streamReader: neverStreams,
  };
}

/** The id of the client's path, unchanged. A dot segment would name another path. */
function idOf(call: OperationCall): string {
  const id = call.pathParams?.id ?? '';
  if (/^(\.|%2e){1,2}$/i.test(id)) throw badParam('id', 'the id of a response is expected');
  return id;
}

function isCounted(usage: unknown): usage is Record<string, unknown> {
  return typeof usage === 'object' && usage !== null;
}
