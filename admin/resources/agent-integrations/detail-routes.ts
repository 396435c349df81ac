import * as v from 'valibot';
import { listSharing, workspacesBody, workspacesReply } from '../../access/workspace-sharing.ts';
import { invalid } from '../../http/errors.ts';
import { checkHost } from '../../http/gateways/check-host.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import type { Headers } from '../../secrets/sealed-headers.ts';
import { sentHeaders } from '../mcp-integrations/sent-headers.ts';
import { agentIntegrationWorkspaces } from './entity.ts';
import { fetchAgentCard } from './fetch-card.ts';
import { fetchCardBody, fetchCardReply } from './schema.ts';
import { agentIntegrationAccess, shareAgentIntegration } from './service.ts';
import { integrationFlags, setIntegrationFlags, toSkillList } from './skills.ts';
import { skillsBody, skillsReply } from './skills-schema.ts';

const shared = { tenant: 'either', resource: 'agent_integrations', query: tenantQuery, body: null } as const;
const item = '/agent-integrations/:agentIntegrationId';

/** Routes of the skills and workspaces of agent integrations, and of cards. */
export const agentIntegrationDetailRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/agent-integrations/fetch-agent-card',
    runsAgain: true,
    summary: 'Fetch the card of an agent that is not stored yet',
    scopes: ['organisation_agent_integrations.create', 'workspace_agent_integrations.create'],
    action: 'fetch-card',
    body: fetchCardBody,
    reply: fetchCardReply,
    async handle(call) {
      const { body, services, organisationId } = call;
      checkHost(services.settings, body.endpoint, 'endpoint', true);
      const { error, url, card } = await fetchAgentCard(services, {
        ...{ organisationId, url: body.endpoint, headers: headersOf(body) },
      });
      if (card === null || url === null) throw invalid(`endpoint: ${error}`);
      return { object: 'agent-card', url, agent_card: card };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/skills`,
    summary: 'List the skills in the stored card of an agent integration',
    scopes: ['agent_integration_skills.list', 'agent_integration_skills.read'],
    action: 'list-skills',
    reply: skillsReply,
    async handle(call) {
      const row = await agentIntegrationAccess.findReadable(call.em, call, call.params.agentIntegrationId ?? '');
      return toSkillList(row, await integrationFlags(call.em, row), null);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `${item}/skills`,
    hasNoVersion: true,
    summary: 'Enable and disable skills in the cards of all servers of an agent integration',
    scopes: ['agent_integration_skills.update'],
    action: 'update-skills',
    body: skillsBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await agentIntegrationAccess.findOwn(change.tx, call, call.params.agentIntegrationId ?? '', 'for update');
        agentIntegrationAccess.requireOwner(call.actor, row.workspaceId, 'update');
        await setIntegrationFlags(change, row, call.body.skills);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/workspaces`,
    summary: 'List the workspaces that can use an agent integration',
    tenant: 'organisation',
    scopes: ['organisation_agent_integrations.read'],
    action: 'list-workspaces',
    reply: workspacesReply,
    async handle(call) {
      const row = await agentIntegrationAccess.findOwn(call.em, call, call.params.agentIntegrationId ?? '');
      call.tag(row.revision);
      return listSharing(call.em, agentIntegrationWorkspaces, row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `${item}/workspaces`,
    summary: 'Change which workspaces can use an agent integration',
    tenant: 'organisation',
    scopes: ['organisation_agent_integrations.update'],
    action: 'update-workspaces',
    body: workspacesBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await agentIntegrationAccess.findOwn(change.tx, call, call.params.agentIntegrationId ?? '', 'for update');
        call.match(row);
        await shareAgentIntegration(change, row, call.body);
      });
      return {};
    },
  }),
];

/** The header of a request for a card. Without a name the token is a bearer token. */
function headersOf({ authType, authToken, authHeader }: v.InferOutput<typeof fetchCardBody>): Headers {
  if (authType === 'none') return {};
  if (authToken === undefined) throw invalid('authToken: required by authType headers');
  const headers = authHeader === undefined ? { authorization: `Bearer ${authToken}` } : { [authHeader]: authToken };
  const parsed = v.safeParse(sentHeaders, headers);
  if (!parsed.success) throw invalid(`authHeader: ${parsed.issues[0].message}`);
  return headers;
}
