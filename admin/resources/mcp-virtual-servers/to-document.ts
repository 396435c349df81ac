import type { McpEndpointDocument, McpVirtualServerDocument } from '../../../core/contract/protocol/mcp/mcp-virtual.ts';
import { type DocumentSource, splitDocumentId } from '../../define-resource.ts';
import { mcpServers } from '../mcp-servers/entity.ts';
import { toMcpServerDocument } from '../mcp-servers/to-document.ts';
import { mcpVirtualServers } from './entity.ts';

/** Returns the document of the server or virtual server `<workspace id>/<slug>`. Null if there is none. */
export async function toMcpEndpointDocument(source: DocumentSource, id: string): Promise<McpEndpointDocument | null> {
  return (await toMcpServerDocument(source, id)) ?? (await toVirtualServerDocument(source, id));
}

/** Returns the document of the virtual server `<workspace id>/<slug>`, without items of archived servers; null if there is none. */
async function toVirtualServerDocument(source: DocumentSource, id: string): Promise<McpVirtualServerDocument | null> {
  const named = splitDocumentId(id);
  if (named === null) return null;
  const em = source.database.em();
  const row = await em.findOne(mcpVirtualServers, { ...named, status: 'active' });
  if (!row) return null;
  const { organisationId, workspaceId } = row;
  const servers = await em.find(mcpServers, { organisationId, workspaceId, status: 'active' });
  const slugs = new Map(servers.map((one) => [one.id, one.slug]));
  const ofActive = <One extends { readonly serverId: string }>(items: readonly One[]) =>
    items.flatMap((one) => {
      const server = slugs.get(one.serverId);
      return server === undefined ? [] : [{ ...one, server }];
    });
  return {
    id: row.id,
    slug: row.slug,
    organisationId,
    workspaceId,
    name: row.name,
    description: row.description ?? null,
    tools: ofActive(row.tools),
    prompts: ofActive(row.prompts),
    resources: ofActive(row.resources),
    listTimeoutMs: row.listTimeoutMs,
    toolSearch: row.toolSearch,
  };
}
