import * as v from 'valibot';
import { requireMemberships, requireRank } from '../../access/require-rank.ts';
import { forbidden, notFound } from '../../http/errors.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { mailLink } from '../../identity/links.ts';
import { nothing, userReply } from '../../identity/schema.ts';
import { workspaceMembers } from '../workspace-users/entity.ts';
import { users } from './entity.ts';
import { listUsers } from './list-users.ts';
import { mayUsePassword } from './may-use-password.ts';
import { createBody, emailBody, listQuery, organisationQuery, updateBody, userListReply } from './schema.ts';
import { createUser, deleteUser, findUser, updateUser } from './service.ts';
import { toUserDetail } from './to-reply.ts';

const ofUsers = { tenant: 'organisation', resource: 'users' } as const;

/** Routes of the members of the organisation. Register them after the invites, whose paths have the same prefix. */
export const userRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...ofUsers,
    method: 'GET',
    path: '/admin/users',
    scopes: ['organisation_users.list'],
    action: 'list',
    summary: 'List the members of the organisation',
    reply: userListReply,
    query: listQuery,
    body: null,
    handle: (call) => listUsers(call.em, call.organisationId, call.query),
  }),
  ...['/users', '/admin/users'].map((path) =>
    defineRoute({
      ...ofUsers,
      method: 'POST',
      path,
      scopes: ['organisation_users.create'],
      action: 'create',
      summary: 'Add a member without an invite; the reply contains a link to set a password',
      reply: v.strictObject({ id: v.string(), set_password_link: v.string(), object: v.literal('user') }),
      query: organisationQuery,
      body: createBody,
      async handle(call) {
        const { services, body } = call;
        const now = services.clock.now();
        const made = await call.write(async (change) => {
          const user = await createUser(change, call.actor, body, { apiKeyPepper: services.apiKeyPepper, now });
          return { user, link: await mailLink(change.tx, services, user, 'set-password') };
        });
        services.mailer.wake();
        call.tag(made.user.revision);
        return { id: made.user.id, set_password_link: made.link, object: 'user' };
      },
    }),
  ),
  defineRoute({
    ...ofUsers,
    method: 'POST',
    path: '/users/send-verification-email',
    scopes: ['organisation_users.update'],
    action: 'send_verification_email',
    summary: 'Mail a member a link to confirm the e-mail address; the reply contains it, too',
    reply: v.strictObject({ verification_link: v.string() }),
    query: organisationQuery,
    body: emailBody,
    async handle(call) {
      const { services, body, organisationId } = call;
      const link = await call.write(async (change) => {
        const user = await change.tx.findOne(users, { organisationId, email: body.email });
        if (!user) throw notFound('User');
        change.about(user);
        return mailLink(change.tx, services, user, 'verify-email');
      });
      services.mailer.wake();
      return { verification_link: link };
    },
  }),
  defineRoute({
    ...ofUsers,
    method: 'GET',
    path: '/admin/users/:userId',
    scopes: ['organisation_users.read'],
    action: 'read',
    summary: 'Read a member',
    reply: userReply,
    query: organisationQuery,
    body: null,
    async handle(call) {
      const user = await findUser(call.em, call.organisationId, call.params.userId ?? '');
      call.tag(user.revision);
      return toUserDetail(call.em, user);
    },
  }),
  defineRoute({
    ...ofUsers,
    method: 'PUT',
    path: '/admin/users/:userId',
    scopes: ['organisation_users.update'],
    action: 'update',
    summary: 'Change the role, the name or the workspaces of a member',
    reply: nothing,
    query: organisationQuery,
    body: updateBody,
    async handle(call) {
      const making = { apiKeyPepper: call.services.apiKeyPepper, now: call.services.clock.now() };
      await call.write(async (change) => {
        const user = await findUser(change.tx, call.organisationId, call.params.userId ?? '');
        call.match(user);
        await updateUser(change, call.actor, user, call.body, making);
      });
      return {};
    },
  }),
  defineRoute({
    ...ofUsers,
    method: 'DELETE',
    path: '/admin/users/:userId',
    scopes: ['organisation_users.delete'],
    action: 'delete',
    summary: 'Remove a member; their API keys and sessions end',
    reply: nothing,
    query: organisationQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const user = await findUser(change.tx, call.organisationId, call.params.userId ?? '');
        call.match(user);
        await deleteUser(change, call.actor, user, call.services.dependents);
      });
      return {};
    },
  }),
  defineRoute({
    ...ofUsers,
    method: 'POST',
    path: '/admin/users/:userId/password-reset',
    scopes: ['organisation_users.update'],
    action: 'reset_password',
    summary: 'Create a link for a member to set a new password',
    reply: v.strictObject({ reset_link: v.string() }),
    query: organisationQuery,
    body: v.strictObject({ organisation_id: organisationQuery.entries.organisation_id }),
    async handle(call) {
      const { services } = call;
      const link = await call.write(async (change) => {
        const user = await findUser(change.tx, call.organisationId, call.params.userId ?? '');
        // The link lets its holder become this user.
        requireRank(call.actor, user.role);
        const { organisationId, id: userId } = user;
        const memberships = await change.tx.find(workspaceMembers, { organisationId, userId });
        await requireMemberships(
          change.tx,
          call.actor,
          memberships.map(({ workspaceId: id, role }) => ({ id, role })),
        );
        if (!(await mayUsePassword(change.tx, user)))
          throw forbidden('This organisation requires single sign-on (require_sso). Only owners may have a new password');
        change.about(user);
        return mailLink(change.tx, services, user, 'set-password');
      });
      services.mailer.wake();
      return { reset_link: link };
    },
  }),
];
