import type { AgentServerDocument } from '../../../core/contract/protocol/agents/agents.ts';
import { userExceptions } from '../../access/server-users.ts';
import { type DocumentSource, splitDocumentId } from '../../define-resource.ts';
import { headersForGateways } from '../../secrets/sealed-headers.ts';
import { usableInterfaces } from '../agent-integrations/card-schema.ts';
import { agentIntegrations } from '../agent-integrations/entity.ts';
import { openAgentHeaders } from '../agent-integrations/headers.ts';
import { agentIntegrationAccess } from '../agent-integrations/service.ts';
import { integrationFlags } from '../agent-integrations/skills.ts';
import { toolGuardrailsOf } from '../guardrails/tool-guardrails.ts';
import { circuitOf } from '../mcp-integrations/call-settings.ts';
import { toForwardHeaders } from '../mcp-integrations/sent-headers.ts';
import { agentServers, agentServerUsers } from './entity.ts';
import { serverFlags } from './skills.ts';

/**
 * Returns the document of the agent `<workspace id>/<slug>`, which merges the server and its integration. Null if there is no such
 * server, or if its integration is archived or not shared with the workspace.
 */
export async function toAgentServerDocument(source: DocumentSource, id: string): Promise<AgentServerDocument | null> {
  const named = splitDocumentId(id);
  if (named === null) return null;
  const em = source.database.em();
  const row = await em.findOne(agentServers, { ...named, status: 'active' });
  if (!row) return null;
  const { organisationId, workspaceId } = row;
  const integration = await em.findOne(agentIntegrations, { id: row.integrationId, organisationId, status: 'active' });
  if (!integration || !(await agentIntegrationAccess.mayUse(em, integration, workspaceId))) return null;
  const headers = await openAgentHeaders(em, source.vault, integration);
  const { forward_headers: forward } = integration.configurations;
  const flags = [...(await integrationFlags(em, integration)), ...(await serverFlags(em, row))];
  return {
    id: row.id,
    slug: row.slug,
    organisationId,
    workspaceId,
    integrationId: integration.id,
    url: integration.url,
    interfaces: usableInterfaces(integration.url, integration.agentCard),
    authType: integration.authType,
    headers: headersForGateways(source.clusterKey, `agent-server/${row.id}`, headers),
    forwardHeaders: forward ? toForwardHeaders(forward) : null,
    card: integration.agentCard ?? null,
    timeoutMs: integration.configurations.request_timeout ?? null,
    circuit: circuitOf(integration.configurations.cb_config),
    disabledSkills: [...new Set(flags.filter(([, enabled]) => !enabled).map(([skill]) => skill))],
    guardrails: toolGuardrailsOf(integration.configurations),
    access: { default: row.defaultUserAccess, exceptions: await userExceptions(em, agentServerUsers, row) },
  };
}
