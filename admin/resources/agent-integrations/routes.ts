import type { FilterQuery } from '@mikro-orm/core';
import { levelScopes } from '../../access/level-scopes.ts';
import { countWorkspaces, globalAccessOf, sharedWith } from '../../access/workspace-sharing.ts';
import { findPage } from '../../db/find-page.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { checkHost } from '../../http/gateways/check-host.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { type AgentIntegration, agentIntegrations, agentIntegrationWorkspaces } from './entity.ts';
import { createBody, createReply, listQuery, listReply, readReply, updateBody } from './schema.ts';
import { agentIntegrationAccess, archiveAgentIntegration, createAgentIntegration, updateAgentIntegration } from './service.ts';
import { toRow } from './to-reply.ts';

const scopes = levelScopes('agent_integrations');
const shared = { tenant: 'either', resource: 'agent_integrations', query: tenantQuery, body: null } as const;
const item = '/agent-integrations/:agentIntegrationId';

/** Routes of A2A agents of other parties. */
export const agentIntegrationRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/agent-integrations',
    summary: 'List agent integrations, newest first',
    scopes: scopes('list'),
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, workspaceId, query }) {
      const where: FilterQuery<AgentIntegration>[] = [{ organisationId, status: 'active' }];
      if (query.type !== 'all') where.push({ workspaceId: query.type === 'workspace' ? { $ne: null } : null });
      if (workspaceId !== null) {
        const shares = await sharedWith(em, agentIntegrationWorkspaces, organisationId, workspaceId);
        where.push({ $or: [{ workspaceId }, ...shares] });
      }
      where.push(searchIn(query.search, 'name', 'slug'));
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, agentIntegrations, { $and: where }, page);
      const counts =
        workspaceId === null ? await countWorkspaces(em, agentIntegrationWorkspaces, rows) : new Map<string, number>();
      const data = rows.map((row) => ({
        ...toRow(row, workspaceId === null || row.workspaceId === workspaceId),
        workspaces_count: counts.get(row.id) ?? null,
      }));
      return { object: 'list', total, has_more: page.offset + rows.length < total, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/agent-integrations',
    summary: 'Store an A2A agent of another party, of a workspace or of the organisation',
    scopes: scopes('create'),
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const { organisationId, workspaceId, actor, body, services } = call;
      agentIntegrationAccess.requireOwner(actor, workspaceId, 'create');
      checkHost(services.settings, body.url, 'url', true);
      const made = await call.write((change) =>
        createAgentIntegration(change, services.vault, { organisationId, workspaceId }, actor, body),
      );
      call.tag(made.revision);
      return { id: made.id, slug: made.slug, object: 'agent-integration' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: item,
    summary: 'Read an agent integration, its credentials masked',
    scopes: scopes('read'),
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await agentIntegrationAccess.findReadable(call.em, call, call.params.agentIntegrationId ?? '');
      call.tag(row.revision);
      const isOwner = call.workspaceId === null || row.workspaceId === call.workspaceId;
      return { ...toRow(row, isOwner), agent_card: row.agentCard ?? null, global_workspace_access: globalAccessOf(row) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: item,
    summary: 'Change an agent integration',
    scopes: scopes('update'),
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      const { body, services } = call;
      if (body.url !== undefined) checkHost(services.settings, body.url, 'url', true);
      await call.write(async (change) => {
        const row = await agentIntegrationAccess.findOwn(change.tx, call, call.params.agentIntegrationId ?? '', 'for update');
        agentIntegrationAccess.requireOwner(call.actor, row.workspaceId, 'update');
        call.match(row);
        requireUnchanged('slug', body.slug, row.slug);
        await updateAgentIntegration(change, services.vault, row, body);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: item,
    summary: 'Archive an agent integration; its servers stop working',
    scopes: scopes('delete'),
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await agentIntegrationAccess.findOwn(change.tx, call, call.params.agentIntegrationId ?? '', 'for update');
        agentIntegrationAccess.requireOwner(call.actor, row.workspaceId, 'delete');
        call.match(row);
        await archiveAgentIntegration(change, row);
      });
      return {};
    },
  }),
];
