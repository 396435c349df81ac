import { listServerUsers, setServerUsers, userAccessBody, userAccessQuery } from '../../access/server-users.ts';
import { announceAgentServer } from '../../announce/agent-servers.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { AdminError } from '../../http/errors.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { type AgentIntegration, agentIntegrations } from '../agent-integrations/entity.ts';
import { fetchStoredCard } from '../agent-integrations/fetch-card.ts';
import { integrationFlags, toSkillList } from '../agent-integrations/skills.ts';
import { skillsBody, skillsReply } from '../agent-integrations/skills-schema.ts';
import { type AgentServer, agentServerUsers } from './entity.ts';
import { cardReply, testReply, userAccessReply } from './schema.ts';
import { findAgentServer, workspacesWithAgentServer } from './service.ts';
import { serverFlags, setServerFlags } from './skills.ts';

const shared = {
  resource: 'agent_servers',
  query: tenantQuery,
  body: null,
  tenant: 'workspace',
  workspacesWith: workspacesWithAgentServer,
} as const;
const item = '/agent-servers/:agentServerId';

/** Routes of the card, skills and users of agent servers, and of calls to them. */
export const agentServerDetailRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${item}/test`,
    runsAgain: true,
    summary: 'Fetch the card of an agent server once',
    scopes: ['agent_servers.update'],
    action: 'test',
    reply: testReply,
    async handle(call) {
      const row = await findAgentServer(call.em, call, call.params.agentServerId ?? '');
      const integration = await integrationOf(call.em, row);
      const { error, status, durationMs, url, card } = await fetchStoredCard(call.em, call.services, integration);
      return {
        ...{ success: error === null, status_code: status, response_time_ms: durationMs, url: url ?? integration.url },
        ...{ agent_name: typeof card?.name === 'string' ? card.name : null, error },
      };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/agent-card`,
    summary: 'Read the card of an agent server as the agent wrote it',
    scopes: ['agent_servers.read'],
    action: 'read-card',
    reply: cardReply,
    async handle(call) {
      const row = await findAgentServer(call.em, call, call.params.agentServerId ?? '');
      const integration = await integrationOf(call.em, row);
      if (integration.agentCard) return integration.agentCard;
      const { error, card } = await fetchStoredCard(call.em, call.services, integration);
      if (card !== null) return card;
      const hint = 'Check url of the agent integration, or store the card in its agent_card';
      throw new AdminError('AB10', `No card of the agent could be read: ${error}. ${hint}`);
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/skills`,
    summary: 'List the skills of an agent server, with the flags of both levels',
    scopes: ['agent_server_skills.list', 'agent_server_skills.read'],
    action: 'list-skills',
    reply: skillsReply,
    async handle(call) {
      const row = await findAgentServer(call.em, call, call.params.agentServerId ?? '');
      const integration = await integrationOf(call.em, row);
      return toSkillList(integration, await integrationFlags(call.em, integration), await serverFlags(call.em, row));
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `${item}/skills`,
    hasNoVersion: true,
    summary: 'Enable and disable skills in the card of an agent server',
    scopes: ['agent_server_skills.update'],
    action: 'update-skills',
    body: skillsBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findAgentServer(change.tx, call, call.params.agentServerId ?? '', 'for update');
        await setServerFlags(change, row, call.body.skills);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/user-access`,
    summary: 'List the users of the workspace with their access to an agent server',
    scopes: ['agent_server_user_access.list', 'agent_server_user_access.read'],
    action: 'list-user-access',
    query: userAccessQuery,
    reply: userAccessReply,
    async handle(call) {
      const row = await findAgentServer(call.em, call, call.params.agentServerId ?? '');
      return listServerUsers(call.em, agentServerUsers, row, call.query);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `${item}/user-access`,
    hasNoVersion: true,
    summary: 'Change which users can call an agent server',
    scopes: ['agent_server_user_access.update'],
    action: 'update-user-access',
    body: userAccessBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findAgentServer(change.tx, call, call.params.agentServerId ?? '', 'for update');
        await setServerUsers(change, agentServerUsers, row, call.body);
        announceAgentServer(change, row, 'upsert');
      });
      return {};
    },
  }),
];

function integrationOf(em: EntityManager, { organisationId, integrationId }: AgentServer): Promise<AgentIntegration> {
  return em.findOneOrFail(agentIntegrations, { organisationId, id: integrationId });
}
