import type { FilterQuery } from '@mikro-orm/core';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { usableRows } from '../../access/workspace-sharing.ts';
import { findPage } from '../../db/find-page.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { type AgentIntegration, agentIntegrations, agentIntegrationWorkspaces } from '../agent-integrations/entity.ts';
import { agentIntegrationAccess } from '../agent-integrations/service.ts';
import { type Workspace, workspaces } from '../workspaces/entity.ts';
import { type AgentServer, agentServers } from './entity.ts';
import { createBody, createReply, listQuery, listReply, readReply, updateBody } from './schema.ts';
import {
  archiveAgentServer,
  createAgentServer,
  findAgentServer,
  updateAgentServer,
  workspacesWithAgentServer,
} from './service.ts';
import { toDetail, toRow } from './to-reply.ts';

const shared = { resource: 'agent_servers', query: tenantQuery, body: null } as const;
const ofItem = {
  ...shared,
  tenant: 'workspace',
  path: '/agent-servers/:agentServerId',
  workspacesWith: workspacesWithAgentServer,
} as const;

/** Routes of the A2A agents of workspaces. */
export const agentServerRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    tenant: 'either',
    method: 'GET',
    path: '/agent-servers',
    summary: 'List agent servers, newest first',
    scopes: ['agent_servers.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, workspaceId, query, services }) {
      const where: FilterQuery<AgentServer>[] = [{ organisationId, status: 'active' }];
      if (workspaceId !== null) where.push({ workspaceId });
      if (query.id !== undefined) where.push(isUuid(query.id) ? { id: query.id } : { slug: query.id });
      where.push(searchIn(query.search, 'name', 'slug'));
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, agentServers, { $and: where }, page);
      const spaces = await em.find(workspaces, { organisationId, id: { $in: rows.map((row) => row.workspaceId) } });
      const sources = await em.find(agentIntegrations, { organisationId, id: { $in: rows.map((row) => row.integrationId) } });
      const byId = new Map(sources.map((one) => [one.id, one]));
      const usable = await usableRows(em, agentIntegrationWorkspaces, rows, byId);
      const data = rows.map((row) => {
        const workspace = spaces.find(({ id }) => id === row.workspaceId) as Workspace;
        const integration = byId.get(row.integrationId) as AgentIntegration;
        return toRow(services.settings, row, workspace, integration, usable.has(row.id));
      });
      return { object: 'list', total, data };
    },
  }),
  defineRoute({
    ...shared,
    tenant: 'workspace',
    method: 'POST',
    path: '/agent-servers',
    summary: 'Add an A2A agent of an integration to a workspace',
    scopes: ['agent_servers.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const tenant = { organisationId: call.organisationId, workspaceId: call.workspaceId as string };
      const made = await call.write((change) => createAgentServer(change, tenant, call.actor, call.body));
      call.tag(made.revision);
      return { id: made.id, slug: made.slug, object: 'agent-server' };
    },
  }),
  defineRoute({
    ...ofItem,
    method: 'GET',
    summary: 'Read an agent server and its integration',
    scopes: ['agent_servers.read'],
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await findAgentServer(call.em, call, call.params.agentServerId ?? '');
      call.tag(row.revision);
      const { organisationId, integrationId } = row;
      const integration = await call.em.findOneOrFail(agentIntegrations, { organisationId, id: integrationId });
      const isUsable = await agentIntegrationAccess.mayUse(call.em, integration, row.workspaceId);
      return toDetail(call.services.settings, row, integration, isUsable);
    },
  }),
  defineRoute({
    ...ofItem,
    method: 'PUT',
    summary: 'Change name and description of an agent server',
    scopes: ['agent_servers.update'],
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findAgentServer(change.tx, call, call.params.agentServerId ?? '', 'for update');
        call.match(row);
        requireUnchanged('slug', call.body.slug, row.slug);
        requireUnchanged('agent_integration_id', call.body.agent_integration_id, row.integrationId);
        updateAgentServer(change, row, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    ...ofItem,
    method: 'DELETE',
    summary: 'Archive an agent server; calls of it are refused at once',
    scopes: ['agent_servers.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findAgentServer(change.tx, call, call.params.agentServerId ?? '', 'for update');
        call.match(row);
        archiveAgentServer(change, row);
      });
      return {};
    },
  }),
];
