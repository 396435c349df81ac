import type { CapabilityType, McpServerDocument } from '../../../core/contract/protocol/mcp/mcp.ts';
import { userExceptions } from '../../access/server-users.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type DocumentSource, splitDocumentId } from '../../define-resource.ts';
import { headersForGateways } from '../../secrets/sealed-headers.ts';
import { toolGuardrailsOf } from '../guardrails/tool-guardrails.ts';
import { mappedDocuments } from '../integrations/secret-mappings/mapped-documents.ts';
import { callPart } from '../mcp-integrations/call-settings.ts';
import { mcpCapabilities, mcpIntegrations } from '../mcp-integrations/entity.ts';
import { openMcpHeaders } from '../mcp-integrations/headers.ts';
import { findRestApi } from '../mcp-integrations/rest/rest-api.ts';
import { mcpMappingsOf } from '../mcp-integrations/secret-mappings.ts';
import { toForwardHeaders } from '../mcp-integrations/sent-headers.ts';
import { mcpIntegrationAccess } from '../mcp-integrations/service.ts';
import { pinsOf } from '../mcp-integrations/tool-approvals.ts';
import { isOpenTo } from '../secret-references/find-reference.ts';
import { type McpServer, mcpServerCapabilities, mcpServerGuardrails, mcpServers, mcpServerUsers } from './entity.ts';

type ToolGuardrails = NonNullable<McpServerDocument['guardrails']>;

/**
 * Returns the document of the server `<workspace id>/<slug>`, which merges the server and its integration. Null if there is no such
 * server, or if its integration is archived or not shared with the workspace.
 */
export async function toMcpServerDocument(source: DocumentSource, id: string): Promise<McpServerDocument | null> {
  const named = splitDocumentId(id);
  if (named === null) return null;
  const em = source.database.em();
  const row = await em.findOne(mcpServers, { ...named, status: 'active' });
  if (!row) return null;
  const { organisationId, workspaceId } = row;
  const integration = await em.findOne(mcpIntegrations, { id: row.integrationId, organisationId, status: 'active' });
  if (!integration || !(await mcpIntegrationAccess.mayUse(em, integration, workspaceId))) return null;
  const mapped = await mcpMappingsOf(em, integration);
  if (!mapped.every(({ reference }) => isOpenTo(reference, workspaceId))) return null;
  const headers = await openMcpHeaders(em, source.vault, integration);
  const { tools, forward_headers: forward } = integration.configurations;
  const disabled = await disabledOf(em, row);
  disabled.tool.push(...(tools?.blocked ?? []));
  return {
    id: row.id,
    slug: row.slug,
    organisationId,
    workspaceId,
    integrationId: integration.id,
    url: integration.url,
    transport: integration.transport,
    authType: integration.authType,
    headers: headersForGateways(source.clusterKey, `mcp-server/${row.id}`, headers),
    ...(mapped.length === 0 ? {} : { mappedSecrets: await mappedDocuments(em, source.vault, source.clusterKey, mapped) }),
    forwardHeaders: forward ? toForwardHeaders(forward) : null,
    toolsAllowed: tools?.allowed ?? null,
    disabled,
    ...(disabled.resource_template.length === 0 ? {} : { listedResources: await listedResourcesOf(em, row) }),
    rest: (await findRestApi(em, integration))?.api ?? null,
    pins: tools?.pinned ? await pinsOf(em, integration) : null,
    ...(await callPart(em, source, integration, row.id)),
    guardrails: [...toolGuardrailsOf(integration.configurations), ...(await guardrailsOf(em, row))],
    toolSearch: row.toolSearch,
    access: { default: row.defaultUserAccess, exceptions: await userExceptions(em, mcpServerUsers, row) },
  };
}

/** A capability is disabled if its integration or the server disables it. */
async function disabledOf(
  em: EntityManager,
  { id: serverId, organisationId, integrationId }: McpServer,
): Promise<Record<CapabilityType, string[]>> {
  const ofIntegration = await em.find(mcpCapabilities, { organisationId, integrationId, enabled: false });
  const ofServer = await em.find(mcpServerCapabilities, { organisationId, serverId, enabled: false });
  const disabled: Record<CapabilityType, string[]> = { tool: [], prompt: [], resource: [], resource_template: [] };
  for (const { type, name } of [...ofIntegration, ...ofServer]) if (!disabled[type].includes(name)) disabled[type].push(name);
  return disabled;
}

/** Returns the URIs of the resources that the server of the integration listed. */
async function listedResourcesOf(em: EntityManager, { organisationId, integrationId }: McpServer): Promise<string[]> {
  const rows = await em.find(mcpCapabilities, { organisationId, integrationId, type: 'resource', enabled: true });
  return rows.map(({ name }) => name).sort();
}

async function guardrailsOf(em: EntityManager, { id: serverId, organisationId }: McpServer): Promise<ToolGuardrails> {
  const rows = await em.find(mcpServerGuardrails, { organisationId, serverId }, { orderBy: { id: 'asc' } });
  return rows.map(({ guardrailId, runOn, capabilities }) => ({
    ...{ id: guardrailId, input: runOn.includes('input'), output: runOn.includes('output') },
    tools: capabilities.length === 0 ? null : capabilities.map(({ name }) => name),
  }));
}
