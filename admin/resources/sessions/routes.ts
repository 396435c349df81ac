import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { AdminCall } from '../../http/admin-call.ts';
import { hashingDeadlineMs } from '../../http/caller/hashing-deadline.ts';
import { isToken } from '../../http/caller/require-scope.ts';
import { invalid, notFound } from '../../http/errors.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { type Session, sessions } from '../../identity/entity.ts';
import { changePasswordBody, nothing, userReply } from '../../identity/schema.ts';
import { endedCookie } from '../../identity/session-cookie.ts';
import { endSessions, isOver } from '../../identity/sessions.ts';
import { providerLogoutUrl } from '../../sign-in/provider-logout.ts';
import { organisations } from '../organisations/entity.ts';
import { ssoConnections } from '../sso-connections/entity.ts';
import { users } from '../users/entity.ts';
import { toUserDetail } from '../users/to-reply.ts';
import { workspaces } from '../workspaces/entity.ts';
import { changePassword } from './change-password.ts';
import { selfOfToken } from './self-of-token.ts';

const sessionEntries = {
  id: v.string(),
  created_at: v.string(),
  last_seen_at: v.string(),
  expires_at: v.string(),
  client_ip: v.string(),
  user_agent: v.nullable(v.string()),
  /** 1: the session of this request. */
  is_current: v.picklist([0, 1]),
  object: v.literal('session'),
};

const selfReply = v.strictObject({
  /** Null for a token without a user here. */
  user: v.nullable(userReply),
  /** 0: the user signs in at an identity provider only. Null for a JWT. */
  has_password: v.nullable(v.picklist([0, 1])),
  organisation: v.strictObject({ id: v.string(), name: v.string() }),
  workspaces: v.array(
    v.strictObject({
      id: v.string(),
      slug: v.string(),
      name: v.string(),
      /** Null for a token without a user here; its scopes define its rights. */
      role: v.nullable(v.picklist(['admin', 'manager', 'member', 'viewer'])),
      scopes: v.array(v.string()),
    }),
  ),
  scopes: v.array(v.string()),
  /** Null for a JWT. */
  session: v.nullable(v.strictObject({ id: v.string(), created_at: v.string(), expires_at: v.string() })),
  object: v.literal('self'),
});

/** Options common to these routes: sessions only, acting on their own user. */
const ofOneself = {
  scopes: [],
  signedIn: 'required',
  tenant: 'organisation',
  resource: 'sessions',
  query: tenantQuery,
} as const;

/** Maximum number of workspaces in `GET /auth/self`. Users of more workspaces list them separately. */
const workspacesMax = 500;

/** Routes of users and their sessions. */
export const sessionRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...ofOneself,
    tokensToo: true,
    method: 'GET',
    path: '/auth/self',
    action: 'read',
    summary: 'Read the signed-in user or the user of a token, with roles and scopes',
    reply: selfReply,
    body: null,
    async handle(call) {
      const { em, organisationId, actor } = call;
      if (isToken(actor)) return selfOfToken(em, actor);
      const { userId, role, memberships, createdAt, expiresAt } = mustBeSignedIn(actor.session);
      const organisation = await em.findOneOrFail(organisations, { id: organisationId });
      const user = await em.findOneOrFail(users, { id: userId, organisationId }, { populate: ['passwordHash'] });
      const reach = role === 'member' ? { id: { $in: [...memberships.keys()] } } : {};
      const rows = await em.find(
        workspaces,
        { organisationId, status: 'active', ...reach },
        { limit: workspacesMax, orderBy: { createdAt: 'asc', id: 'asc' } },
      );
      return {
        user: await toUserDetail(em, user),
        has_password: user.passwordHash ? 1 : 0,
        organisation: { id: organisation.id, name: organisation.name },
        workspaces: rows.map(({ id, slug, name }) => {
          const membership = memberships.get(id) ?? { role: 'admin' as const, scopes: actor.scopes };
          return { id, slug, name, role: membership.role, scopes: [...membership.scopes] };
        }),
        scopes: role === 'member' ? [] : [...actor.scopes],
        session: { id: actor.keyId, created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() },
        object: 'self',
      };
    },
  }),
  defineRoute({
    ...ofOneself,
    method: 'POST',
    path: '/auth/logout',
    action: 'logout',
    summary: 'Sign out; the reply names the address that ends the session at the identity provider, if there is one',
    reply: v.strictObject({ logout_url: v.optional(v.string()) }),
    body: v.strictObject({}),
    async handle(call) {
      const url = await logoutUrlOf(call);
      await call.write(async ({ tx, about }) => {
        await tx.nativeDelete(sessions, { id: call.actor.keyId, organisationId: call.organisationId });
        about({ id: call.actor.keyId });
      });
      call.header('set-cookie', endedCookie(call.services.settings));
      return url === null ? {} : { logout_url: url };
    },
  }),
  defineRoute({
    ...ofOneself,
    method: 'GET',
    path: '/auth/sessions',
    action: 'list',
    summary: 'List your sessions',
    reply: v.strictObject({ object: v.literal('list'), total: v.number(), data: v.array(v.strictObject(sessionEntries)) }),
    body: null,
    async handle(call) {
      const { userId } = mustBeSignedIn(call.actor.session);
      const { clock, settings } = call.services;
      const where = { organisationId: call.organisationId, userId };
      const rows = await call.em.find(sessions, where, { orderBy: { createdAt: 'desc', id: 'asc' }, limit: 1_000 });
      const rules = { idleTtlSeconds: settings.sessionIdleSeconds };
      const data = rows.filter((row) => !isOver(row, rules, clock.now())).map((row) => toReply(row, call.actor.keyId));
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...ofOneself,
    method: 'DELETE',
    path: '/auth/sessions',
    hasNoVersion: true,
    action: 'delete',
    summary: 'End all your sessions, this one included',
    reply: nothing,
    body: null,
    async handle(call) {
      const { userId } = mustBeSignedIn(call.actor.session);
      const { organisationId } = call;
      await call.write(async ({ tx, about }) => {
        await endSessions(tx, { id: userId, organisationId }, null);
        about({ id: userId });
      });
      call.header('set-cookie', endedCookie(call.services.settings));
      return {};
    },
  }),
  defineRoute({
    ...ofOneself,
    method: 'DELETE',
    path: '/auth/sessions/:sessionId',
    hasNoVersion: true,
    action: 'delete',
    summary: 'End one of your sessions',
    reply: nothing,
    body: null,
    async handle(call) {
      const { userId } = mustBeSignedIn(call.actor.session);
      const id = call.params.sessionId ?? '';
      await call.write(async ({ tx, about }) => {
        const where = { id, organisationId: call.organisationId, userId };
        const ended = isUuid(id) ? await tx.nativeDelete(sessions, where) : 0;
        if (ended === 0) throw notFound('Session');
        about({ id });
      });
      return {};
    },
  }),
  defineRoute({
    ...ofOneself,
    method: 'POST',
    path: '/auth/password',
    deadlineMs: hashingDeadlineMs,
    resource: 'users',
    action: 'change_password',
    summary: 'Change your password; ends your other sessions',
    reply: nothing,
    body: changePasswordBody,
    async handle(call) {
      await changePassword(call, mustBeSignedIn(call.actor.session).userId);
      return {};
    },
  }),
];

/** Address that ends the session at its identity provider; null if it has none. */
async function logoutUrlOf(call: Pick<AdminCall<unknown, unknown>, 'em' | 'actor' | 'organisationId' | 'services'>) {
  const { em, actor, organisationId, services } = call;
  const row = await em.findOne(sessions, { id: actor.keyId, organisationId });
  const connection = row?.connectionId ? await em.findOne(ssoConnections, { id: row.connectionId, organisationId }) : null;
  return row && connection ? providerLogoutUrl(em, services, connection, row) : null;
}

function mustBeSignedIn<Value>(session: Value | undefined): Value {
  if (session === undefined) throw invalid('a session is required');
  return session;
}

function toReply(row: Session, current: string) {
  return {
    id: row.id,
    created_at: row.createdAt.toISOString(),
    last_seen_at: row.lastSeenAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
    client_ip: row.clientIp,
    user_agent: row.userAgent ?? null,
    is_current: row.id === current ? 1 : 0,
    object: 'session',
  };
}
