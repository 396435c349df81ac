import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** Tokens of one user at an MCP server; without a user, those of all callers (client credentials). */
export const mcpConnections = defineEntity({
  name: 'McpConnection',
  tableName: 'mcp_connections',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    serverId: p.uuid(),
    userId: p.uuid().nullable(),
    /** URL of the MCP server that the tokens are for. They are not sent to another one. */
    url: p.text(),
    issuer: p.text(),
    /** Changes with every access token. */
    tokenId: p.uuid(),
    /** JSON of `ConnectionSecrets`, sealed by the organisation's data key. */
    secrets: p.text(),
    expiresAt: p.datetime().nullable(),
    /** Scopes that the server demanded for calls, separated by spaces. They are requested in addition. */
    requiredScope: p.text().nullable(),
    /** Another process refreshes the tokens until this time; null: none does. */
    claimedUntil: p.datetime().nullable(),
    createdAt: p.datetime(),
    /** Time at which the access token was issued. */
    lastUpdatedAt: p.datetime(),
  },
});

/** The gateway's registration as a client of an authorisation server, for one integration. */
export const mcpOauthClients = defineEntity({
  name: 'McpOauthClient',
  tableName: 'mcp_oauth_clients',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    integrationId: p.uuid(),
    issuer: p.text(),
    redirectUri: p.text(),
    /** JSON of the registration response, sealed by the organisation's data key. */
    secrets: p.text(),
    /** Time at which the client secret expires; null: never. */
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
});

/** An authorisation that a user has begun. It is deleted when the browser returns. */
export const mcpAuthorisations = defineEntity({
  name: 'McpAuthorisation',
  tableName: 'mcp_authorisations',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    serverId: p.uuid(),
    userId: p.uuid(),
    stateHash: p.text(),
    /** JSON of `PendingAuthorisation`, sealed by the organisation's data key. */
    secrets: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export type McpConnection = InferEntity<typeof mcpConnections>;
export type McpOauthClient = InferEntity<typeof mcpOauthClients>;
export type McpAuthorisation = InferEntity<typeof mcpAuthorisations>;
