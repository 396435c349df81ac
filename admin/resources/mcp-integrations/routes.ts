import type { FilterQuery } from '@mikro-orm/core';
import { levelScopes } from '../../access/level-scopes.ts';
import {
  countWorkspaces,
  globalAccessOf,
  listSharing,
  sharedWith,
  workspacesBody,
  workspacesReply,
} from '../../access/workspace-sharing.ts';
import { findPage } from '../../db/find-page.ts';
import { invalid } from '../../http/errors.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { checkHost } from '../../http/gateways/check-host.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { calledUrls } from './call-settings.ts';
import { type McpIntegration, mcpIntegrations, mcpIntegrationWorkspaces } from './entity.ts';
import { documentField } from './rest/document-field.ts';
import { checkOpenApi } from './rest/rest-api.ts';
import { openApiDeadlineMs } from './rest/run-openapi-task.ts';
import {
  createBody,
  createReply,
  listQuery,
  listReply,
  metadataReply,
  readReply,
  updateBody,
  workspacesQuery,
} from './schema.ts';
import { mcpMappingsOf, mcpMappingsOfAll } from './secret-mappings.ts';
import {
  archiveMcpIntegration,
  createMcpIntegration,
  mcpIntegrationAccess,
  shareMcpIntegration,
  updateMcpIntegration,
} from './service.ts';
import { toMetadata, toRow } from './to-reply.ts';

const scopes = levelScopes('mcp_integrations');
const shared = { tenant: 'either', resource: 'mcp_integrations', query: tenantQuery, body: null } as const;
const item = '/mcp-integrations/:mcpIntegrationId';

/** Routes of MCP servers of other parties. */
export const mcpIntegrationRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/mcp-integrations',
    summary: 'List MCP integrations, newest first',
    scopes: scopes('list'),
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, workspaceId, query }) {
      const where: FilterQuery<McpIntegration>[] = [{ organisationId, status: 'active' }];
      if (query.type !== 'all') where.push({ workspaceId: query.type === 'workspace' ? { $ne: null } : null });
      if (workspaceId !== null) {
        const shares = await sharedWith(em, mcpIntegrationWorkspaces, organisationId, workspaceId);
        where.push({ $or: [{ workspaceId }, ...shares] });
      }
      where.push(searchIn(query.search, 'name', 'slug'));
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, mcpIntegrations, { $and: where }, page);
      const counts = workspaceId === null ? await countWorkspaces(em, mcpIntegrationWorkspaces, rows) : new Map<string, number>();
      const mapped = await mcpMappingsOfAll(em, organisationId, rows);
      const data = rows.map((row) => ({
        ...toRow(row, workspaceId === null || row.workspaceId === workspaceId, mapped.get(row.id)),
        workspaces_count: counts.get(row.id) ?? null,
      }));
      return { object: 'list', total, has_more: page.offset + rows.length < total, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/mcp-integrations',
    summary: 'Store an MCP server of another party, of a workspace or of the organisation',
    scopes: scopes('create'),
    action: 'create',
    deadlineMs: openApiDeadlineMs,
    body: createBody,
    reply: createReply,
    async handle(call) {
      const { organisationId, workspaceId, actor, body, services } = call;
      mcpIntegrationAccess.requireOwner(actor, workspaceId, 'create');
      const openApi = await checkOpenApi(body.configurations?.openapi);
      const url = body.url ?? openApi?.url;
      if (!url) throw invalid('url: required, unless configurations.openapi.document names a server with its host');
      checkHost(services.settings, url, body.url ? 'url' : `${documentField}.servers[0].url`, body.transport !== 'rest');
      for (const [path, called] of calledUrls(body.configurations)) checkHost(services.settings, called, path, true);
      const made = await call.write((change) =>
        createMcpIntegration(change, services.vault, { organisationId, workspaceId }, actor, { ...body, url }, openApi),
      );
      call.tag(made.revision);
      return { id: made.id, slug: made.slug, object: 'mcp-integration' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: item,
    summary: 'Read an MCP integration, its credentials masked',
    scopes: scopes('read'),
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await mcpIntegrationAccess.findReadable(call.em, call, call.params.mcpIntegrationId ?? '');
      call.tag(row.revision);
      const isOwner = call.workspaceId === null || row.workspaceId === call.workspaceId;
      return { ...toRow(row, isOwner, await mcpMappingsOf(call.em, row)), global_workspace_access: globalAccessOf(row) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: item,
    summary: 'Change an MCP integration',
    scopes: scopes('update'),
    action: 'update',
    deadlineMs: openApiDeadlineMs,
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      const { body, services } = call;
      const openApi = await checkOpenApi(body.configurations?.openapi);
      if (body.url !== undefined) checkHost(services.settings, body.url, 'url', true);
      for (const [path, url] of calledUrls(body.configurations)) checkHost(services.settings, url, path, true);
      await call.write(async (change) => {
        const row = await mcpIntegrationAccess.findOwn(change.tx, call, call.params.mcpIntegrationId ?? '', 'for update');
        mcpIntegrationAccess.requireOwner(call.actor, row.workspaceId, 'update');
        call.match(row);
        requireUnchanged('slug', body.slug, row.slug);
        await updateMcpIntegration(change, services.vault, call.actor, row, body, openApi);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: item,
    summary: 'Archive an MCP integration; its servers stop working',
    scopes: scopes('delete'),
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await mcpIntegrationAccess.findOwn(change.tx, call, call.params.mcpIntegrationId ?? '', 'for update');
        mcpIntegrationAccess.requireOwner(call.actor, row.workspaceId, 'delete');
        call.match(row);
        await archiveMcpIntegration(change, row);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/workspaces`,
    query: workspacesQuery,
    summary: 'List the workspaces that can use an MCP integration',
    tenant: 'organisation',
    scopes: ['organisation_mcp_integrations.read'],
    action: 'list-workspaces',
    reply: workspacesReply,
    async handle(call) {
      const row = await mcpIntegrationAccess.findOwn(call.em, call, call.params.mcpIntegrationId ?? '');
      call.tag(row.revision);
      return listSharing(call.em, mcpIntegrationWorkspaces, row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `${item}/workspaces`,
    summary: 'Change which workspaces can use an MCP integration',
    tenant: 'organisation',
    scopes: ['organisation_mcp_integrations.update'],
    action: 'update-workspaces',
    body: workspacesBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await mcpIntegrationAccess.findOwn(change.tx, call, call.params.mcpIntegrationId ?? '', 'for update');
        call.match(row);
        await shareMcpIntegration(change, row, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/metadata`,
    summary: 'Read what an MCP integration reported about itself at its last synchronisation',
    scopes: scopes('read'),
    action: 'read-metadata',
    reply: metadataReply,
    async handle(call) {
      return toMetadata(await mcpIntegrationAccess.findReadable(call.em, call, call.params.mcpIntegrationId ?? ''));
    },
  }),
];
