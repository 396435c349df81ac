import * as v from 'valibot';
import { notFound } from '../../http/errors.ts';
import { time, uuid } from '../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { oauthGrants } from './entity.ts';
import { revokeGrant } from './token-routes.ts';

const shared = {
  tenant: 'organisation',
  signedIn: 'required',
  scopes: [],
  resource: 'oauth_grants',
  query: tenantQuery,
  body: null,
} as const;
const grantsMax = 1_000;

const listReply = v.strictObject({
  object: v.literal('list'),
  data: v.array(
    v.strictObject({
      id: uuid,
      client_id: v.string(),
      client_name: v.string(),
      resource: v.string(),
      mcp_server_id: uuid,
      created_at: time,
      last_used_at: time,
    }),
  ),
});

/** Routes with which users see and end the access that they gave to OAuth clients. */
export const oauthGrantRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/oauth/grants',
    summary: 'List the OAuth clients that can call MCP servers for the signed-in user',
    action: 'list',
    reply: listReply,
    async handle({ em, organisationId, actor }) {
      const own = { organisationId, userId: actor.userId as string, status: 'active' } as const;
      const rows = await em.find(oauthGrants, own, { orderBy: { createdAt: 'desc' }, limit: grantsMax });
      const data = rows.map((row) => ({
        ...{
          id: row.id,
          client_id: row.clientId,
          client_name: row.clientName,
          resource: row.resource,
          mcp_server_id: row.serverId,
        },
        ...{ created_at: row.createdAt.toISOString(), last_used_at: row.lastUsedAt.toISOString() },
      }));
      return { object: 'list', data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/oauth/grants/:grantId',
    hasNoVersion: true,
    summary: 'End the access of an OAuth client that the signed-in user gave',
    action: 'revoke',
    reply: v.strictObject({ success: v.literal(true) }),
    async handle(call) {
      const { organisationId, actor, params } = call;
      await call.write(async (change) => {
        const own = { organisationId, userId: actor.userId as string, status: 'active' } as const;
        const grant = (await change.tx.find(oauthGrants, own)).find(({ id }) => id === params.grantId?.toLowerCase());
        if (!grant) throw notFound('Grant');
        await revokeGrant(change, grant);
      });
      return { success: true };
    },
  }),
];
