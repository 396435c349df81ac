import * as v from 'valibot';
import { findPage } from '../../db/find-page.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { nothing } from '../../identity/schema.ts';
import { organisationQuery } from '../users/schema.ts';
import { type UserInvite, userInvites } from './entity.ts';
import { mailInvite } from './mail-invite.ts';
import { createBody, inviteReply, type ListQuery, listQuery } from './schema.ts';
import { cancelInvite, createInvite, findInvite, type Inviting, inviteStatus, invitingScopes, resendInvite } from './service.ts';

const ofInvites = { tenant: 'organisation', resource: 'user_invites' } as const;

/** Routes of invitations to the organisation. */
export const userInviteRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...ofInvites,
    method: 'GET',
    path: '/admin/users/invites',
    scopes: ['organisation_users.list'],
    action: 'list',
    summary: 'List invites',
    reply: v.strictObject({ object: v.literal('list'), total: v.number(), data: v.array(inviteReply) }),
    query: listQuery,
    body: null,
    async handle(call) {
      const now = call.services.clock.now();
      const [rows, total] = await findPage(call.em, userInvites, whereOf(call.organisationId, call.query, new Date(now)), {
        ...pageOf(call.query),
        orderBy: { createdAt: 'desc', id: 'asc' },
      });
      return { object: 'list', total, data: rows.map((row) => toReply(row, now)) };
    },
  }),
  defineRoute({
    ...ofInvites,
    method: 'POST',
    path: '/admin/users/invites',
    scopes: ['organisation_users.create'],
    action: 'create',
    summary: 'Invite a user by e-mail; the reply contains the link, too',
    reply: v.strictObject({ id: v.string(), invite_link: v.string() }),
    query: organisationQuery,
    body: createBody,
    async handle(call) {
      const { row, link } = await call.write(async (change) => {
        const made = await createInvite(change, call.actor, call.body, invitingOf(call.services));
        await mailInvite(change.tx, call.services, made.row, made.link);
        return made;
      });
      call.services.mailer.wake();
      call.tag(row.revision);
      return { id: row.id, invite_link: link };
    },
  }),
  defineRoute({
    ...ofInvites,
    method: 'GET',
    path: '/admin/users/invites/:inviteId',
    scopes: ['organisation_users.read'],
    action: 'read',
    summary: 'Read an invite',
    reply: inviteReply,
    query: organisationQuery,
    body: null,
    async handle(call) {
      const row = await findInvite(call.em, call.organisationId, call.params.inviteId ?? '');
      call.tag(row.revision);
      return toReply(row, call.services.clock.now());
    },
  }),
  defineRoute({
    ...ofInvites,
    method: 'DELETE',
    path: '/admin/users/invites/:inviteId',
    scopes: ['organisation_users.delete'],
    action: 'delete',
    summary: 'Cancel an invite',
    reply: nothing,
    query: organisationQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findInvite(change.tx, call.organisationId, call.params.inviteId ?? '');
        call.match(row);
        await cancelInvite(change, call.actor, row);
      });
      return {};
    },
  }),
  defineRoute({
    ...ofInvites,
    method: 'POST',
    path: '/admin/users/invites/:inviteId/resend',
    scopes: invitingScopes,
    action: 'resend',
    summary: 'Send an invite again, with a new link and expiry',
    reply: v.strictObject({ inviteLink: v.string() }),
    query: organisationQuery,
    body: v.strictObject({ organisation_id: organisationQuery.entries.organisation_id }),
    async handle(call) {
      const link = await call.write(async (change) => {
        const found = await findInvite(change.tx, call.organisationId, call.params.inviteId ?? '');
        call.match(found);
        const link = await resendInvite(change, call.actor, found, invitingOf(call.services));
        await mailInvite(change.tx, call.services, found, link);
        return link;
      });
      call.services.mailer.wake();
      return { inviteLink: link };
    },
  }),
];

function invitingOf({ settings, clock }: AdminServices): Inviting {
  return { publicUrl: settings.publicUrl, inviteSeconds: settings.inviteSeconds, now: clock.now() };
}

function whereOf(organisationId: string, query: ListQuery, now: Date) {
  const { role, email, status, search } = query;
  const expired = { $or: [{ status: 'expired' as const }, { status: 'pending' as const, expiresAt: { $lte: now } }] };
  return {
    $and: [
      { organisationId },
      role === undefined ? {} : { role },
      email === undefined ? {} : { email },
      searchIn(search, 'email'),
      status === undefined ? {} : status === 'expired' ? expired : { status },
      status === 'pending' ? { expiresAt: { $gt: now } } : {},
    ],
  };
}

function toReply(row: UserInvite, now: number) {
  return {
    object: 'invite',
    id: row.id,
    email: row.email,
    role: row.role,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
    accepted_at: row.acceptedAt?.toISOString() ?? null,
    status: inviteStatus(row, now),
    invited_by: row.invitedBy ?? null,
  };
}
