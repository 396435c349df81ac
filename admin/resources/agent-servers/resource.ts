import { defineResource, slugOfReply } from '../../define-resource.ts';
import { agentServerDetailRoutes } from './detail-routes.ts';
import { agentServerSkills, agentServers, agentServerUsers } from './entity.ts';
import { AgentServers } from './migrations/202611230341-agent-servers.ts';
import { agentServerRoutes } from './routes.ts';
import { archiveAgentServer } from './service.ts';
import { toAgentServerDocument } from './to-document.ts';

export const agentServersResource = defineResource({
  name: 'agent-servers',
  after: ['agent-integrations', 'users'],
  entities: [agentServers, agentServerSkills, agentServerUsers],
  migrations: [{ name: '202611230341-agent-servers', class: AgentServers }],
  routes: [...agentServerRoutes, ...agentServerDetailRoutes],
  documents: [{ kind: 'agent-server', read: toAgentServerDocument }],
  dependents: {
    workspace: [
      {
        what: 'agent servers',
        count: (em, { id, organisationId }) => em.count(agentServers, { organisationId, workspaceId: id, status: 'active' }),
        async remove(change, { id, organisationId }) {
          const own = { organisationId, workspaceId: id, status: 'active' } as const;
          for (const row of await change.tx.find(agentServers, own)) archiveAgentServer(change, row);
        },
      },
    ],
    user: [
      {
        what: 'access to agent servers',
        remove: async ({ tx }, { id, organisationId }) => {
          await tx.nativeDelete(agentServerUsers, { organisationId, userId: id });
        },
      },
    ],
  },
  samples: [
    {
      create: '/agent-servers',
      item: '/agent-servers/{agentServerId}',
      list: '/agent-servers',
      body: (tenant, made, n, mark) => ({
        workspace_id: tenant.workspaceId,
        agent_integration_id: made['/agent-integrations'],
        name: `${mark} agent server ${n}`,
        slug: `${mark}-agent-server-${n}`,
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, description: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});
