import type { RestApi, RestOperation } from '../../../../core/contract/protocol/mcp/mcp-rest.ts';
import { invalid } from '../../../http/errors.ts';
import { type ListedOperation, listOperations } from './list-operations.ts';
import type { OpenApiDocument } from './openapi-schema.ts';
import { OperationError } from './references.ts';
import { toOperation } from './to-operation.ts';

const operationsField = 'configurations.openapi.operations';

/** Maximum length of all tools as JSON: gateways hold them in memory. */
const lengthMax = 1_048_576;

/** Returns the selected operations of a document as tools. Throws AB01 with the field of the first one that cannot be a tool. */
export function toRestApi(document: OpenApiDocument, selected: readonly string[]): RestApi {
  const known = byAnyName(listOperations(document));
  const taken = new Set<string>();
  const operations = selected.map((name, index) => {
    const field = `${operationsField}[${index}]`;
    const listed = known.get(name);
    if (!listed)
      throw invalid(
        `${field}: the document has no such operation. Send an operationId, or a method and a path as in "GET /pets"`,
      );
    const made = attempt(document, listed);
    if (typeof made === 'string') throw invalid(`${field}: ${name} cannot be a tool: ${made}`);
    if (taken.has(made.tool.name)) throw invalid(`${field}: another selected operation is named ${made.tool.name} too`);
    taken.add(made.tool.name);
    return made;
  });
  if (JSON.stringify(operations).length > lengthMax)
    throw invalid(`${operationsField}: the tools have more than ${lengthMax} characters. Select fewer`);
  return { title: document.info.title.slice(0, 255), operations };
}

/** Returns the tool of an operation, or the reason why it cannot be one. */
export function attempt(document: OpenApiDocument, listed: ListedOperation): RestOperation | string {
  try {
    return toOperation(document, listed);
  } catch (thrown) {
    if (thrown instanceof OperationError) return thrown.message;
    throw thrown;
  }
}

/** Operations by their id, and by method and path. */
function byAnyName(all: readonly ListedOperation[]): ReadonlyMap<string, ListedOperation> {
  return new Map([...all.map((one) => [`${one.method} ${one.path}`, one] as const), ...all.map((one) => [one.id, one] as const)]);
}

/** Returns the URL of the first server; null if there is none or it is relative. */
export function serverUrlOf({ servers = [] }: OpenApiDocument): string | null {
  const [server] = servers;
  const url = server?.url.replace(/\{([^{}]*)\}/g, (whole, name: string) => server.variables?.[name]?.default ?? whole);
  return url !== undefined && /^https?:\/\//i.test(url) ? url.replace(/\/$/, '') : null;
}
