import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A client that has registered itself (RFC 7591). It belongs to no organisation, because it registers before a user signs in. */
export const oauthClients = defineEntity({
  name: 'OAuthClient',
  tableName: 'oauth_clients',
  properties: {
    id: p.uuid().primary(),
    clientId: p.text(),
    name: p.text(),
    redirectUris: p.json().$type<string[]>(),
    createdAt: p.datetime(),
    /** Time of the last consent; null: never used. */
    usedAt: p.datetime().nullable(),
  },
});

/** Consent of a user that a client uses one MCP server or virtual server for them. */
export const oauthGrants = defineEntity({
  name: 'OAuthGrant',
  tableName: 'oauth_grants',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    /** A server or a virtual server. */
    serverId: p.uuid(),
    userId: p.uuid(),
    clientId: p.text(),
    clientName: p.text(),
    /** Resource of the tokens: the address of the MCP server as the client named it. */
    resource: p.text(),
    redirectUri: p.text(),
    codeHash: p.text(),
    codeChallenge: p.text(),
    codeExpiresAt: p.datetime(),
    /** `pending` until the code is exchanged. */
    status: p.text().$type<'pending' | 'active' | 'revoked'>(),
    /** Number of the refresh token that is valid. */
    generation: p.integer(),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime(),
    /** The refresh token ends if it is not used until then. */
    expiresAt: p.datetime(),
  },
});

export type OAuthGrant = InferEntity<typeof oauthGrants>;
