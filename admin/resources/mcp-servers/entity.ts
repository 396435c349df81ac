import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { CapabilityType } from '../../../core/contract/protocol/mcp/mcp.ts';
import { serverUsersTable } from '../../db/access-tables.ts';

/** A workspace's use of an MCP integration; its slug is part of the path that clients call. */
export const mcpServers = defineEntity({
  name: 'McpServer',
  tableName: 'mcp_servers',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    integrationId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    /** Access of callers without a row in `mcp_server_users`. */
    /** Clients see `search_tools` and `call_tool` instead of all tools. */
    toolSearch: p.boolean(),
    defaultUserAccess: p.text().$type<'allow' | 'deny'>(),
    status: p.text().$type<'active' | 'archived'>(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

/** A capability that this server enables or disables, whatever its integration does. */
export const mcpServerCapabilities = defineEntity({
  name: 'McpServerCapability',
  tableName: 'mcp_server_capabilities',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    serverId: p.uuid(),
    type: p.text().$type<CapabilityType>(),
    name: p.text(),
    enabled: p.boolean(),
    lastUpdatedAt: p.datetime(),
  },
});

/** Access of one user to a server. */
export const mcpServerUsers = serverUsersTable('McpServerUser', 'mcp_server_users');

/** A guardrail that runs on calls of a server. */
export const mcpServerGuardrails = defineEntity({
  name: 'McpServerGuardrail',
  tableName: 'mcp_server_guardrails',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    serverId: p.uuid(),
    guardrailId: p.uuid(),
    runOn: p.json().$type<('input' | 'output')[]>(),
    /** Tools by id in `mcp_capabilities` and by name; empty: every tool. */
    capabilities: p.json().$type<{ id: string; name: string }[]>(),
    lastUpdatedAt: p.datetime(),
  },
});

export type McpServerGuardrail = InferEntity<typeof mcpServerGuardrails>;
export type McpServer = InferEntity<typeof mcpServers>;
