import { notFound } from '../../http/errors.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { listUsers } from '../users/list-users.ts';
import { listQuery, userListReply } from '../users/schema.ts';

/** The members of the organisation under its own path, in both spellings of the reference. */
export const organisationMemberRoutes: readonly AdminRoute[] = ['/organisation', '/organisations'].map((path) =>
  defineRoute({
    method: 'GET',
    path: `${path}/:organisationId/members`,
    scopes: ['organisation_users.list'],
    tenant: 'organisation',
    resource: 'users',
    action: 'list',
    summary: 'List the members of the organisation',
    reply: userListReply,
    query: listQuery,
    body: null,
    async handle(call) {
      if (call.params.organisationId?.toLowerCase() !== call.organisationId) throw notFound('Organisation');
      return listUsers(call.em, call.organisationId, call.query);
    },
  }),
);
