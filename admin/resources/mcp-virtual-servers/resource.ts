import { defineResource, slugOfReply } from '../../define-resource.ts';
import { mcpVirtualServers } from './entity.ts';
import { McpVirtualServers } from './migrations/202611230310-mcp-virtual-servers.ts';
import { mcpVirtualServerRoutes } from './routes.ts';
import { archiveVirtualServer } from './service.ts';
import { toMcpEndpointDocument } from './to-document.ts';

export const mcpVirtualServersResource = defineResource({
  name: 'mcp-virtual-servers',
  after: ['mcp-servers'],
  entities: [mcpVirtualServers],
  migrations: [{ name: '202611230310-mcp-virtual-servers', class: McpVirtualServers }],
  routes: mcpVirtualServerRoutes,
  documents: [{ kind: 'mcp-server', read: toMcpEndpointDocument }],
  dependents: {
    workspace: [
      {
        what: 'virtual MCP servers',
        count: (em, { id, organisationId }) => em.count(mcpVirtualServers, { organisationId, workspaceId: id, status: 'active' }),
        async remove(change, { id, organisationId }) {
          const own = { organisationId, workspaceId: id, status: 'active' } as const;
          for (const row of await change.tx.find(mcpVirtualServers, own)) archiveVirtualServer(change, row);
        },
      },
    ],
  },
  samples: [
    {
      create: '/mcp-virtual-servers',
      item: '/mcp-virtual-servers/{mcpVirtualServerId}',
      list: '/mcp-virtual-servers',
      body: (tenant, made, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} virtual server ${n}`,
        slug: `${mark}-virtual-server-${n}`,
        tools: [{ mcp_server_id: made['/mcp-servers'], tool: 'search', name: `${mark}_search`, arguments: { limit: 5 } }],
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, description: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});
