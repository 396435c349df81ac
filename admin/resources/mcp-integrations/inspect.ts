import type { McpServerDocument } from '../../../core/contract/protocol/mcp/mcp.ts';
import {
  type McpInspectionReply,
  mcpInspectionMs,
  mcpInspectionPath,
  mcpInspectionReply,
} from '../../../core/contract/protocol/mcp/mcp-sync.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { askGateway } from '../../http/gateways/ask-gateway.ts';
import { headersForGateways } from '../../secrets/sealed-headers.ts';
import { mappedDocuments } from '../integrations/secret-mappings/mapped-documents.ts';
import type { McpIntegration } from './entity.ts';
import { openMcpHeaders } from './headers.ts';
import { mcpMappingsOf } from './secret-mappings.ts';

/** Milliseconds that the reply may take longer than the inspection itself. */
const slackMs = 400;

/** Asks a gateway to call the server of an integration. `lists`: with its capabilities. Throws AB10 if no gateway replies. */
export async function inspectIntegration(
  em: EntityManager,
  services: Pick<AdminServices, 'settings' | 'log' | 'vault'>,
  row: McpIntegration,
  lists: boolean,
): Promise<McpInspectionReply> {
  const mapped = await mcpMappingsOf(em, row);
  const headers = await openMcpHeaders(em, services.vault, row);
  const document: McpServerDocument = {
    id: row.id,
    slug: row.slug,
    organisationId: row.organisationId,
    workspaceId: row.workspaceId ?? row.organisationId,
    integrationId: row.id,
    url: row.url,
    transport: row.transport,
    authType: row.authType,
    headers: headersForGateways(services.settings.clusterKey, `mcp-server/${row.id}`, headers),
    ...(mapped.length === 0
      ? {}
      : { mappedSecrets: await mappedDocuments(em, services.vault, services.settings.clusterKey, mapped) }),
    forwardHeaders: null,
    toolsAllowed: null,
    disabled: { tool: [], prompt: [], resource: [], resource_template: [] },
    pins: null,
    // The operations of a REST API are known. Only its host is called.
    rest: row.transport === 'rest' ? { title: row.name, operations: [] } : null,
    toolSearch: false,
    access: { default: 'allow', exceptions: [] },
  };
  return askGateway(services, {
    path: mcpInspectionPath,
    body: { document, lists },
    reply: mcpInspectionReply,
    timeoutMs: mcpInspectionMs + slackMs,
    what: 'call the MCP server',
  });
}

/** The reply to a test of the server at `url`. */
export function toTestReply({ error, status, durationMs, info }: McpInspectionReply, url: string) {
  return {
    success: error === null,
    status_code: status,
    response_time_ms: durationMs,
    url,
    server_name: info?.name ?? null,
    error,
  };
}
