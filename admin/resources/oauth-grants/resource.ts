import * as v from 'valibot';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { defineResource } from '../../define-resource.ts';
import { definePublicRoute } from '../../http/public-route.ts';
import { RawReply } from '../../http/reply/raw-reply.ts';
import { authoriseRoutes } from './authorise-routes.ts';
import { oauthClients, oauthGrants } from './entity.ts';
import { serverMetadata } from './issuer.ts';
import { OAuthGrants } from './migrations/202611230320-oauth-grants.ts';
import { GrantsOfVirtualServers } from './migrations/202611230360-grants-of-virtual-servers.ts';
import { registerRoute } from './register-route.ts';
import { oauthGrantRoutes } from './routes.ts';
import { toOAuthGrantDocument } from './to-document.ts';
import { revokeGrant, tokenRoutes } from './token-routes.ts';

const metadataRoute = definePublicRoute({
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  resource: 'oauth_grants',
  action: 'read-metadata',
  summary: 'Read the metadata of the authorisation server for MCP clients (RFC 8414)',
  reply: v.looseObject({ issuer: v.string() }),
  body: null,
  handle: async ({ services }) => {
    const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=60' };
    return new RawReply(JSON.stringify(serverMetadata(services.settings)), headers);
  },
});

export const oauthGrantsResource = defineResource({
  name: 'oauth-grants',
  after: ['mcp-connections', 'mcp-virtual-servers', 'users'],
  entities: [oauthClients, oauthGrants],
  migrations: [
    { name: '202611230320-oauth-grants', class: OAuthGrants },
    { name: '202611230360-grants-of-virtual-servers', class: GrantsOfVirtualServers },
  ],
  routes: oauthGrantRoutes,
  publicRoutes: [metadataRoute, registerRoute, ...authoriseRoutes, ...tokenRoutes],
  documents: [{ kind: 'oauth-grant', read: toOAuthGrantDocument }],
  dependents: {
    user: [
      {
        what: 'access of OAuth clients',
        async remove(change, { id, organisationId }) {
          const own = { organisationId, userId: id };
          for (const grant of await change.tx.find(oauthGrants, { ...own, status: 'active' })) await revokeGrant(change, grant);
          await change.tx.nativeDelete(oauthGrants, own);
        },
      },
    ],
  },
  housekeeping: [
    {
      name: 'grants and clients of OAuth that have ended or were not used',
      async run({ database, clock }) {
        const em = database.em();
        const now = clock.now();
        await em.nativeDelete(oauthGrants, { expiresAt: { $lt: new Date(now - dayMs) } });
        await em.nativeDelete(oauthClients, { usedAt: null, createdAt: { $lt: new Date(now - dayMs) } });
        await em.nativeDelete(oauthClients, { usedAt: { $lt: new Date(now - 90 * dayMs) } });
      },
    },
  ],
});
