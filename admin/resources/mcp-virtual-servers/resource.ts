import { defineResource, slugOfReply } from '../../define-resource.ts';
import { mcpVirtualServers } from './entity.ts';
import { McpVirtualServers } from './migrations/202611230310-mcp-virtual-servers.ts';
import { VirtualPrompts } from './migrations/202611231850-virtual-prompts.ts';
import { mcpVirtualServerRoutes } from './routes.ts';
import { archiveVirtualServer } from './service.ts';
import { toMcpEndpointDocument } from './to-document.ts';

export const mcpVirtualServersResource = defineResource({
  name: 'mcp-virtual-servers',
  after: ['mcp-servers'],
  entities: [mcpVirtualServers],
  migrations: [
    { name: '202611230310-mcp-virtual-servers', class: McpVirtualServers },
    { name: '202611231850-virtual-prompts', class: VirtualPrompts },
  ],
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
        prompts: [{ mcp_server_id: made['/mcp-servers'], prompt: 'greet', name: `${mark}_greet`, arguments: { tone: 'kind' } }],
        resources: [{ mcp_server_id: made['/mcp-servers'], resource: `file:///${mark}`, name: `${mark} file` }],
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, description: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});
