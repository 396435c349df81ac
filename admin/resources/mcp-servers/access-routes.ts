import { userAccessBody, userAccessQuery } from '../../access/server-users.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import {
  capabilitiesBody,
  capabilitiesReply,
  capabilityQuery,
  successReply,
  testReply,
} from '../mcp-integrations/capability-schema.ts';
import { type McpIntegration, mcpIntegrations } from '../mcp-integrations/entity.ts';
import { inspectIntegration, toTestReply } from '../mcp-integrations/inspect.ts';
import { metadataReply } from '../mcp-integrations/schema.ts';
import { toCapabilityPage } from '../mcp-integrations/to-capability-page.ts';
import { toMetadata } from '../mcp-integrations/to-reply.ts';
import { listServerCapabilities, setServerFlags } from './capabilities.ts';
import type { McpServer } from './entity.ts';
import { findMcpServer, workspacesWithMcpServer } from './service.ts';
import { listUserAccess, setUserAccess } from './user-access.ts';
import { userAccessReply } from './user-access-schema.ts';

const shared = {
  resource: 'mcp_servers',
  query: tenantQuery,
  body: null,
  tenant: 'workspace',
  workspacesWith: workspacesWithMcpServer,
} as const;
const item = '/mcp-servers/:mcpServerId';

/** Routes of the capabilities and users of MCP servers, and of calls to them. */
export const mcpServerAccessRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${item}/test`,
    runsAgain: true,
    summary: 'Call an MCP server once',
    scopes: ['mcp_servers.update'],
    action: 'test',
    reply: testReply,
    async handle(call) {
      const row = await findMcpServer(call.em, call, call.params.mcpServerId ?? '');
      const integration = await integrationOf(call.em, row);
      return toTestReply(await inspectIntegration(call.em, call.services, integration, false), integration.url);
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/metadata`,
    summary: 'Read what an MCP server reported about itself at the last synchronisation of its integration',
    scopes: ['mcp_servers.read'],
    action: 'read-metadata',
    reply: metadataReply,
    async handle(call) {
      const row = await findMcpServer(call.em, call, call.params.mcpServerId ?? '');
      return toMetadata(await integrationOf(call.em, row));
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/capabilities`,
    summary: 'List the tools, prompts and resources of an MCP server, with the flags of both levels',
    scopes: ['mcp_servers.read'],
    action: 'list-capabilities',
    query: capabilityQuery,
    reply: capabilitiesReply,
    async handle(call) {
      const row = await findMcpServer(call.em, call, call.params.mcpServerId ?? '');
      return toCapabilityPage(await listServerCapabilities(call.em, row), call.query);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `${item}/capabilities`,
    hasNoVersion: true,
    summary: 'Enable and disable capabilities of an MCP server',
    scopes: ['mcp_servers.update'],
    action: 'update-capabilities',
    body: capabilitiesBody,
    reply: successReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findMcpServer(change.tx, call, call.params.mcpServerId ?? '', 'for update');
        await setServerFlags(change, row, call.body.capabilities);
      });
      return { success: true };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/user-access`,
    summary: 'List the users of the workspace with their access to an MCP server',
    scopes: ['mcp_servers.read'],
    action: 'list-user-access',
    query: userAccessQuery,
    reply: userAccessReply,
    async handle(call) {
      const row = await findMcpServer(call.em, call, call.params.mcpServerId ?? '');
      return listUserAccess(call.em, row, call.query);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `${item}/user-access`,
    hasNoVersion: true,
    summary: 'Change which users can call an MCP server',
    scopes: ['mcp_servers.update'],
    action: 'update-user-access',
    body: userAccessBody,
    reply: successReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findMcpServer(change.tx, call, call.params.mcpServerId ?? '', 'for update');
        await setUserAccess(change, row, call.body);
      });
      return { success: true };
    },
  }),
];

function integrationOf(em: EntityManager, { organisationId, integrationId }: McpServer): Promise<McpIntegration> {
  return em.findOneOrFail(mcpIntegrations, { organisationId, id: integrationId });
}
