import { announceMcpServers } from '../../announce/mcp-servers.ts';
import { mappingUsers } from '../integrations/secret-mappings/mapping-users.ts';
import { mcpIntegrations } from './entity.ts';
import { mcpSecretMappings } from './mapping-entity.ts';

/** MCP integrations with headers from a secret reference. */
export const mcpReferenceUsers = mappingUsers({
  what: 'MCP integrations',
  mappings: mcpSecretMappings,
  scopes: ['organisation_mcp_integrations.list', 'workspace_mcp_integrations.list'],
  find: (em, organisationId, ids) =>
    em.find(mcpIntegrations, { organisationId, id: { $in: ids }, status: 'active' }, { orderBy: { slug: 'asc' } }),
  announce: (change, id) => announceMcpServers(change, id, 'upsert'),
});
