import { defineResource } from '../../define-resource.ts';
import { mcpBrowserRoutes } from './browser-routes.ts';
import { mcpAuthorisations, mcpConnections, mcpOauthClients } from './entity.ts';
import { McpConnections } from './migrations/202611230245-mcp-connections.ts';
import { RequiredScopes } from './migrations/202611230930-required-scopes.ts';
import { mcpConnectionRoutes } from './routes.ts';
import { connectionEvent } from './store-tokens.ts';
import { toMcpConnectionDocument } from './to-document.ts';

export const mcpConnectionsResource = defineResource({
  name: 'mcp-connections',
  after: ['mcp-servers', 'users'],
  entities: [mcpConnections, mcpOauthClients, mcpAuthorisations],
  migrations: [
    { name: '202611230245-mcp-connections', class: McpConnections },
    { name: '202611230930-required-scopes', class: RequiredScopes },
  ],
  routes: mcpConnectionRoutes,
  publicRoutes: mcpBrowserRoutes,
  documents: [{ kind: 'mcp-connection', read: toMcpConnectionDocument }],
  dependents: {
    user: [
      {
        what: 'accounts at MCP servers',
        async remove(change, { id, organisationId }) {
          const own = { organisationId, userId: id };
          for (const row of await change.tx.find(mcpConnections, own)) {
            change.tx.remove(row);
            change.emit(connectionEvent(row, 'delete'));
          }
          await change.tx.nativeDelete(mcpAuthorisations, own);
        },
      },
    ],
  },
  housekeeping: [
    {
      name: 'tokens of archived MCP servers, and authorisations that were not finished',
      async run({ database, clock }) {
        const em = database.em();
        await em.nativeDelete(mcpAuthorisations, { expiresAt: { $lt: new Date(clock.now()) } });
        await em.execute(`delete from mcp_connections c using mcp_servers s where s.id = c.server_id and s.status = 'archived'`);
      },
    },
  ],
});
