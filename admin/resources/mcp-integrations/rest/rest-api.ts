import type { RestApi } from '../../../../core/contract/protocol/mcp/mcp-rest.ts';
import type { McpServerInfo, SyncedCapability } from '../../../../core/contract/protocol/mcp/mcp-sync.ts';
import type { EntityManager } from '../../../db/open-database.ts';
import { invalid } from '../../../http/errors.ts';
import type { Change } from '../../../publish/write-change.ts';
import { storeSync } from '../capabilities.ts';
import type { McpIntegration } from '../entity.ts';
import { documentField } from './document-field.ts';
import { type McpRestApi, mcpRestApis } from './entity.ts';
import type { OpenApiDocument } from './openapi-schema.ts';
import { runOpenApiTask } from './run-openapi-task.ts';
import type { SentOpenApi } from './sent-openapi.ts';
import { serverUrlOf } from './to-rest-api.ts';

type Owner = Pick<McpIntegration, 'id' | 'organisationId'>;

/** The API of an integration; null if its transport is another. */
export function findRestApi(em: EntityManager, { id, organisationId }: Owner): Promise<McpRestApi | null> {
  return em.findOne(mcpRestApis, { integrationId: id, organisationId });
}

/** A sent document after its checks. */
export interface ReadOpenApi {
  readonly document: OpenApiDocument | undefined;
  readonly operations: readonly string[] | undefined;
  /** The tools of `operations`; null: no document was sent. */
  readonly api: RestApi | null;
  /** URL of its first server; null: none. */
  readonly url: string | null;
}

/** Checks `configurations.openapi` of a request. Throws AB01. */
export async function checkOpenApi(sent: SentOpenApi | undefined): Promise<ReadOpenApi | undefined> {
  if (sent === undefined) return undefined;
  const { operations } = sent;
  if (sent.document === undefined) return { document: undefined, operations, api: null, url: null };
  // Runs before the transaction, because a large document takes seconds.
  const { document, api } = await runOpenApiTask('read', { sent: sent.document, operations: operations ?? [] });
  return { document, operations, api, url: serverUrlOf(document) };
}

/**
 * Stores the API of an integration that has been stored, with its tools as capabilities. An integration with another transport has none.
 * Throws AB01.
 */
export async function putRestApi(change: Change, row: McpIntegration, sent: ReadOpenApi | undefined): Promise<void> {
  const { tx } = change;
  const stored = await findRestApi(tx, row);
  const { openapi, ...others } = row.configurations;
  if (row.transport !== 'rest') {
    if (sent) throw invalid('configurations.openapi: only for the transport rest');
    if (!stored) return;
    tx.remove(stored);
    row.configurations = others;
    await storeSync(change, row, {}, []);
    return;
  }
  const document = sent?.document ?? stored?.document;
  if (!document) throw invalid(`${documentField}: required by the transport rest`);
  if (!sent) return;
  const operations = [...(sent.operations ?? openapi?.operations ?? [])];
  const isRead = sent.api !== null && (sent.operations !== undefined || operations.length === 0);
  const api = isRead ? (sent.api as RestApi) : await runOpenApiTask('select', { document, operations });
  row.configurations = { ...others, openapi: { operations } };
  if (stored) Object.assign(stored, { document, api });
  else tx.create(mcpRestApis, { integrationId: row.id, organisationId: row.organisationId, document, api });
  await storeSync(change, row, infoOf(document), capabilitiesOf(api));
}

/** The tools of an API as capabilities. */
export function capabilitiesOf({ operations }: RestApi): SyncedCapability[] {
  return operations.map(({ tool }) => ({ type: 'tool', name: tool.name, definition: tool }));
}

/** The facts that a document states about its API. */
export function infoOf({ info: { title, version, description } }: OpenApiDocument): McpServerInfo {
  return { name: title.slice(0, 2_048), version: version.slice(0, 2_048), ...(description === undefined ? {} : { description }) };
}
