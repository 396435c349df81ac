import type { RestOperation } from '../../../../core/contract/protocol/mcp/mcp-rest.ts';
import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import type { OpenApiDocument } from './openapi-schema.ts';
import { followed } from './references.ts';

const methods = { get: 'GET', put: 'PUT', post: 'POST', delete: 'DELETE', patch: 'PATCH' } as const;

/** An operation of a document, as it is written there. */
export interface ListedOperation {
  /** `operationId`, or `<method> <path>` if it has none of its own. */
  readonly id: string;
  readonly method: RestOperation['method'];
  readonly path: string;
  readonly operation: unknown;
  /** Parameters of all operations of the path. */
  readonly shared: readonly unknown[];
}

/** Returns the operations of a document that have a method of tools, in its order. */
export function listOperations(document: OpenApiDocument): ListedOperation[] {
  const all = Object.entries(document.paths).flatMap(([path, sent]) => {
    const item = itemOf(document, sent);
    const shared = Array.isArray(item.parameters) ? item.parameters : [];
    return Object.entries(methods).flatMap(([name, method]) => {
      const operation = item[name];
      if (operation === undefined) return [];
      // Servers of a path are those of its operations.
      const own = isObject(operation) && item.servers !== undefined ? { servers: item.servers, ...operation } : operation;
      return [{ ...{ method, path, operation: own, shared }, named: isObject(operation) ? operation.operationId : undefined }];
    });
  });
  const counts = Map.groupBy(all, ({ named }) => named);
  return all.map(({ named, ...one }) => {
    const isOwn = typeof named === 'string' && named !== '' && counts.get(named)?.length === 1;
    return { id: isOwn ? named : `${one.method} ${one.path}`, ...one };
  });
}

/** An item of another document has no operations here. */
function itemOf(document: OpenApiDocument, sent: unknown): JsonObject {
  try {
    const found = followed(document, sent);
    return isObject(found) ? found : {};
  } catch {
    return {};
  }
}
