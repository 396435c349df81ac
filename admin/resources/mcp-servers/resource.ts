import { defineResource, slugOfReply } from '../../define-resource.ts';
import { mcpServerAccessRoutes } from './access-routes.ts';
import { mcpServerCapabilities, mcpServerGuardrails, mcpServers, mcpServerUsers } from './entity.ts';
import { mcpGuardrailRoutes } from './guardrail-routes.ts';
import { McpServers } from './migrations/202611222341-mcp-servers.ts';
import { McpServerGuardrails } from './migrations/202611230240-mcp-server-guardrails.ts';
import { ToolSearch } from './migrations/202611230300-tool-search.ts';
import { mcpServerRoutes } from './routes.ts';
import { archiveMcpServer } from './service.ts';
import { toSigningKeyDocument } from './signing-key.ts';

export const mcpServersResource = defineResource({
  name: 'mcp-servers',
  after: ['guardrails', 'mcp-integrations', 'users'],
  entities: [mcpServers, mcpServerCapabilities, mcpServerGuardrails, mcpServerUsers],
  migrations: [
    { name: '202611222341-mcp-servers', class: McpServers },
    { name: '202611230240-mcp-server-guardrails', class: McpServerGuardrails },
    { name: '202611230300-tool-search', class: ToolSearch },
  ],
  routes: [...mcpServerRoutes, ...mcpServerAccessRoutes, ...mcpGuardrailRoutes],
  documents: [{ kind: 'signing-key', read: toSigningKeyDocument }],
  dependents: {
    workspace: [
      {
        what: 'MCP servers',
        count: (em, { id, organisationId }) => em.count(mcpServers, { organisationId, workspaceId: id, status: 'active' }),
        async remove(change, { id, organisationId }) {
          const own = { organisationId, workspaceId: id, status: 'active' } as const;
          for (const row of await change.tx.find(mcpServers, own)) archiveMcpServer(change, row);
        },
      },
    ],
    user: [
      {
        what: 'access to MCP servers',
        remove: async ({ tx }, { id, organisationId }) => {
          await tx.nativeDelete(mcpServerUsers, { organisationId, userId: id });
        },
      },
    ],
  },
  samples: [
    {
      create: '/mcp-servers',
      item: '/mcp-servers/{mcpServerId}',
      list: '/mcp-servers',
      body: (tenant, made, n, mark) => ({
        workspace_id: tenant.workspaceId,
        mcp_integration_id: made['/mcp-integrations'],
        name: `${mark} MCP server ${n}`,
        slug: `${mark}-mcp-server-${n}`,
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, description: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});
