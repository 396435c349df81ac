import { scopesOfKnownUser } from '../../access/user-scopes.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { mcpServers } from '../mcp-servers/entity.ts';
import { findUsableServer } from '../mcp-servers/find-usable-server.ts';
import type { User } from '../users/entity.ts';
import { mcpVirtualServers } from './entity.ts';

/** An MCP server or virtual server. */
export interface McpEndpoint {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
}

/** Returns the server or virtual server of this id; null if the user cannot use it. The tools of a virtual server have rules of their own. */
export async function findUsableEndpoint(em: EntityManager, user: User, id: string): Promise<McpEndpoint | null> {
  const usable = await findUsableServer(em, user, id);
  if (usable !== null) return usable.server;
  const virtual = await em.findOne(mcpVirtualServers, { id, organisationId: user.organisationId, status: 'active' });
  return virtual && (await scopesOfKnownUser(em, user, virtual.workspaceId))?.has('mcp.invoke') ? virtual : null;
}

/** Returns the servers and virtual servers with this slug in any workspace that the user can use. */
export async function usableEndpoints(em: EntityManager, user: User, slug: string): Promise<McpEndpoint[]> {
  const named = { organisationId: user.organisationId, slug, status: 'active' } as const;
  const rows = [...(await em.find(mcpServers, named)), ...(await em.find(mcpVirtualServers, named))];
  const found = await Promise.all(rows.map(({ id }) => findUsableEndpoint(em, user, id)));
  return found.filter((one) => one !== null);
}
