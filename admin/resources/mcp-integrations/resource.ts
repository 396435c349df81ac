import { defineResource, slugOfReply } from '../../define-resource.ts';
import { toolApprovalRoutes } from './approval-routes.ts';
import { mcpCapabilityRoutes } from './capability-routes.ts';
import { mcpCapabilities, mcpIntegrations, mcpIntegrationWorkspaces, mcpSigningKeys } from './entity.ts';
import { mcpSecretMappings } from './mapping-entity.ts';
import { McpIntegrations } from './migrations/202611222340-mcp-integrations.ts';
import { ToolApprovals } from './migrations/202611230245-tool-approvals.ts';
import { McpCallSettings } from './migrations/202611230310-mcp-call-settings.ts';
import { McpRestApis } from './migrations/202611230920-mcp-rest-apis.ts';
import { McpSecretMappings } from './migrations/202611230950-mcp-secret-mappings.ts';
import { mcpReferenceUsers } from './reference-users.ts';
import { mcpRestApis } from './rest/entity.ts';
import { restOperationRoutes } from './rest/operation-routes.ts';
import { mcpIntegrationRoutes } from './routes.ts';
import { archiveMcpIntegration } from './service.ts';

export const mcpIntegrationsResource = defineResource({
  name: 'mcp-integrations',
  after: ['workspaces', 'webhooks', 'secret-references'],
  entities: [mcpIntegrations, mcpIntegrationWorkspaces, mcpCapabilities, mcpSigningKeys, mcpRestApis, mcpSecretMappings],
  migrations: [
    { name: '202611222340-mcp-integrations', class: McpIntegrations },
    { name: '202611230245-tool-approvals', class: ToolApprovals },
    { name: '202611230310-mcp-call-settings', class: McpCallSettings },
    { name: '202611230920-mcp-rest-apis', class: McpRestApis },
    { name: '202611230950-mcp-secret-mappings', class: McpSecretMappings },
  ],
  routes: [...mcpIntegrationRoutes, ...mcpCapabilityRoutes, ...toolApprovalRoutes, ...restOperationRoutes],
  dependents: {
    secretReference: [mcpReferenceUsers],
    workspace: [
      {
        what: 'MCP integrations',
        count: (em, { id, organisationId }) => em.count(mcpIntegrations, { organisationId, workspaceId: id, status: 'active' }),
        async remove(change, { id, organisationId }) {
          const own = { organisationId, workspaceId: id, status: 'active' } as const;
          for (const row of await change.tx.find(mcpIntegrations, own)) await archiveMcpIntegration(change, row);
        },
      },
      {
        what: 'shared MCP integrations',
        remove: async ({ tx }, { id, organisationId }) => {
          await tx.nativeDelete(mcpIntegrationWorkspaces, { organisationId, workspaceId: id });
        },
      },
    ],
  },
  samples: [
    {
      create: '/mcp-integrations',
      item: '/mcp-integrations/{mcpIntegrationId}',
      list: '/mcp-integrations',
      body: (tenant, _, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} MCP integration ${n}`,
        slug: `${mark}-mcp-integration-${n}`,
        url: 'https://mcp.example.com/mcp',
        auth_type: 'headers',
        transport: 'http',
        configurations: { headers: { authorization: `Bearer ${mark}-secret-${n}` } },
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, description: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});
