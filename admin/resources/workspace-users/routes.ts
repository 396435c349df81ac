import { findVisibleWorkspace } from '../../access/visible-workspaces.ts';
import type { AdminCall } from '../../http/admin-call.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { nothing } from '../../identity/schema.ts';
import { addBody, listQuery, memberQuery, updateBody, workspaceUserListReply, workspaceUserReply } from './schema.ts';
import { addWorkspaceUsers, findMembership, removeWorkspaceUser, updateWorkspaceUser } from './service.ts';
import { listWorkspaceUsers, toWorkspaceUsers } from './to-reply.ts';

const ofMembers = { tenant: 'either', resource: 'workspace_users' } as const;

const readRoute = (path: string) =>
  defineRoute({
    ...ofMembers,
    method: 'GET',
    path,
    scopes: ['workspace_users.read'],
    action: 'read',
    summary: 'Read a member of a workspace',
    reply: workspaceUserReply,
    query: memberQuery,
    body: null,
    async handle(call) {
      const workspace = await workspaceOf(call);
      const found = await findMembership(call.em, workspace, call.params.userId ?? '');
      call.tag(found.member.revision);
      const [reply] = await toWorkspaceUsers(call.em, workspace, [found]);
      return reply;
    },
  });

/** Routes of members of workspaces, under `/admin/workspaces` and `/workspaces`. */
export const workspaceUserRoutes: readonly AdminRoute[] = ['/admin/workspaces', '/workspaces'].flatMap((base) => [
  defineRoute({
    ...ofMembers,
    method: 'GET',
    path: `${base}/:workspaceId/users`,
    scopes: ['workspace_users.list'],
    action: 'list',
    summary: 'List the members of a workspace',
    reply: workspaceUserListReply,
    query: listQuery,
    body: null,
    async handle(call) {
      return listWorkspaceUsers(call.em, await workspaceOf(call), call.query, pageOf(call.query));
    },
  }),
  defineRoute({
    ...ofMembers,
    method: 'POST',
    path: `${base}/:workspaceId/users`,
    scopes: ['workspace_users.create'],
    action: 'create',
    summary: 'Add members of the organisation to a workspace',
    reply: nothing,
    query: memberQuery,
    body: addBody,
    async handle(call) {
      const { services } = call;
      const making = { apiKeyPepper: services.apiKeyPepper, now: services.clock.now() };
      await call.write(async (change) => {
        const workspace = await findVisibleWorkspace(change.tx, call.actor, call.params.workspaceId ?? '');
        await addWorkspaceUsers(change, call.actor, workspace, call.body.users, making);
        change.about({ id: workspace.id, workspaceId: workspace.id });
      });
      return {};
    },
  }),
  readRoute(`${base}/:workspaceId/users/:userId`),
  readRoute(`${base}/:workspaceId/members/:userId`),
  defineRoute({
    ...ofMembers,
    method: 'PUT',
    path: `${base}/:workspaceId/users/:userId`,
    scopes: ['workspace_users.update'],
    action: 'update',
    summary: 'Change the role of a member of a workspace',
    reply: nothing,
    query: memberQuery,
    body: updateBody,
    async handle(call) {
      await call.write(async (change) => {
        const workspace = await findVisibleWorkspace(change.tx, call.actor, call.params.workspaceId ?? '');
        const found = await findMembership(change.tx, workspace, call.params.userId ?? '');
        call.match(found.member);
        await updateWorkspaceUser(change, call.actor, found, call.body.role, call.services.clock.now());
      });
      return {};
    },
  }),
  defineRoute({
    ...ofMembers,
    method: 'DELETE',
    path: `${base}/:workspaceId/users/:userId`,
    scopes: ['workspace_users.delete'],
    action: 'delete',
    summary: 'Remove a member from a workspace; their API keys there end',
    reply: nothing,
    query: memberQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const workspace = await findVisibleWorkspace(change.tx, call.actor, call.params.workspaceId ?? '');
        const found = await findMembership(change.tx, workspace, call.params.userId ?? '');
        call.match(found.member);
        await removeWorkspaceUser(change, call.actor, found);
      });
      return {};
    },
  }),
]);

function workspaceOf(call: Pick<AdminCall<unknown, unknown>, 'em' | 'actor' | 'params'>) {
  return findVisibleWorkspace(call.em, call.actor, call.params.workspaceId ?? '');
}
