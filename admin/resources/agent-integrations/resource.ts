import { defineResource, slugOfReply } from '../../define-resource.ts';
import { agentIntegrationDetailRoutes } from './detail-routes.ts';
import { agentIntegrationSkills, agentIntegrations, agentIntegrationWorkspaces } from './entity.ts';
import { AgentIntegrations } from './migrations/202611230340-agent-integrations.ts';
import { agentIntegrationRoutes } from './routes.ts';
import { archiveAgentIntegration } from './service.ts';

export const agentIntegrationsResource = defineResource({
  name: 'agent-integrations',
  after: ['workspaces'],
  entities: [agentIntegrations, agentIntegrationWorkspaces, agentIntegrationSkills],
  migrations: [{ name: '202611230340-agent-integrations', class: AgentIntegrations }],
  routes: [...agentIntegrationRoutes, ...agentIntegrationDetailRoutes],
  dependents: {
    workspace: [
      {
        what: 'agent integrations',
        count: (em, { id, organisationId }) => em.count(agentIntegrations, { organisationId, workspaceId: id, status: 'active' }),
        async remove(change, { id, organisationId }) {
          const own = { organisationId, workspaceId: id, status: 'active' } as const;
          for (const row of await change.tx.find(agentIntegrations, own)) await archiveAgentIntegration(change, row);
        },
      },
      {
        what: 'shared agent integrations',
        remove: async ({ tx }, { id, organisationId }) => {
          await tx.nativeDelete(agentIntegrationWorkspaces, { organisationId, workspaceId: id });
        },
      },
    ],
  },
  samples: [
    {
      create: '/agent-integrations',
      item: '/agent-integrations/{agentIntegrationId}',
      list: '/agent-integrations',
      body: (tenant, _, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} agent integration ${n}`,
        slug: `${mark}-agent-integration-${n}`,
        url: 'https://agent.example.com/a2a',
        auth_type: 'headers',
        configurations: { headers: { authorization: `Bearer ${mark}-secret-${n}` } },
        agent_card: { name: `${mark} agent ${n}`, url: 'https://agent.example.com/a2a' },
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, description: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});
