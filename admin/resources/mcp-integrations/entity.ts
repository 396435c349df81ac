import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { CapabilityType, McpAuthType, McpTransport } from '../../../core/contract/protocol/mcp/mcp.ts';
import { sharingTable } from '../../db/access-tables.ts';
import type { McpSettings } from './schema.ts';

/**
 * An MCP server of another party: its URL, credentials and settings. With a workspace it belongs to that workspace; without one
 * the organisation shares it to workspaces through `mcpIntegrationWorkspaces`.
 */
export const mcpIntegrations = defineEntity({
  name: 'McpIntegration',
  tableName: 'mcp_integrations',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    url: p.text(),
    authType: p.text().$type<McpAuthType>(),
    transport: p.text().$type<McpTransport>(),
    /** Settings without header values, under their wire names. */
    configurations: p.json().$type<McpSettings>(),
    /** JSON of the headers, name to value, sealed by the organisation's data key; null when there are none. */
    customHeaders: p.text().nullable(),
    headerNames: p.json().$type<Record<string, string>>(),
    /** OAuth client secret, sealed by the organisation's data key. */
    clientSecret: p.text().nullable(),
    /** Client secret of the introspection endpoint, sealed by the organisation's data key; null: none. */
    tokenSecret: p.text().nullable(),
    globalWorkspaceAccess: p.boolean(),
    /** Reply of the server to `initialize` at the last synchronisation; null before the first. */
    serverInfo: p.json().$type<Record<string, unknown>>().nullable(),
    syncStatus: p.text().$type<'success' | 'failed'>().nullable(),
    syncError: p.text().nullable(),
    lastSyncedAt: p.datetime().nullable(),
    status: p.text().$type<'active' | 'archived'>(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

/** Access of one workspace to an integration of the organisation. */
export const mcpIntegrationWorkspaces = sharingTable('McpIntegrationWorkspace', 'mcp_integration_workspaces');

/** A tool, prompt, resource or resource template of an integration, as the server listed it. */
export const mcpCapabilities = defineEntity({
  name: 'McpCapability',
  tableName: 'mcp_capabilities',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    integrationId: p.uuid(),
    type: p.text().$type<CapabilityType>(),
    /** Name of a tool or prompt, URI of a resource, URI template of a template. */
    name: p.text(),
    enabled: p.boolean(),
    /** The definition as the server sent it; null if only the flag is known. */
    definition: p.json().$type<Record<string, unknown>>().nullable(),
    /** The definition that an administrator approved, of tools only. */
    approvedDefinition: p.json().$type<Record<string, unknown>>().nullable(),
    approvedAt: p.datetime().nullable(),
    /** User or key. */
    approvedBy: p.uuid().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
  },
});

/** A key that signs the identity of callers for MCP servers. All organisations share the newest one. */
export const mcpSigningKeys = defineEntity({
  name: 'McpSigningKey',
  tableName: 'mcp_signing_keys',
  properties: {
    number: p.integer().primary(),
    /** JWK. */
    publicKey: p.json().$type<Record<string, unknown>>(),
    /** Private key in PKCS #8, sealed with a key from CLUSTER_KEY. */
    sealed: p.text(),
    createdAt: p.datetime(),
  },
});

export type McpSigningKey = InferEntity<typeof mcpSigningKeys>;
export type McpIntegration = InferEntity<typeof mcpIntegrations>;
export type McpCapability = InferEntity<typeof mcpCapabilities>;
