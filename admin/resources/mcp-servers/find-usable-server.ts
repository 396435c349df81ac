import { scopesOfKnownUser } from '../../access/user-scopes.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type McpIntegration, mcpIntegrations } from '../mcp-integrations/entity.ts';
import { mcpIntegrationAccess } from '../mcp-integrations/service.ts';
import type { User } from '../users/entity.ts';
import { type McpServer, mcpServers, mcpServerUsers } from './entity.ts';

/**
 * Returns an active server of the user's organisation with its integration. Null if the user cannot use the workspace or the server, or
 * the workspace cannot use the integration.
 */
export async function findUsableServer(
  em: EntityManager,
  user: User,
  serverId: string,
): Promise<{ readonly server: McpServer; readonly integration: McpIntegration } | null> {
  const { organisationId } = user;
  const server = await em.findOne(mcpServers, { id: serverId, organisationId, status: 'active' });
  if (!server) return null;
  if (!(await scopesOfKnownUser(em, user, server.workspaceId))?.has('mcp.invoke')) return null;
  const access = await em.findOne(mcpServerUsers, { organisationId, serverId, userId: user.id });
  if (!(access?.enabled ?? server.defaultUserAccess === 'allow')) return null;
  const integration = await em.findOne(mcpIntegrations, { id: server.integrationId, organisationId, status: 'active' });
  return integration && (await mcpIntegrationAccess.mayUse(em, integration, server.workspaceId)) ? { server, integration } : null;
}
