import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { requireRank } from '../../access/require-rank.ts';
import { notFound } from '../../http/errors.ts';
import { emptyReply, listOf, nullableText, time, uuid } from '../../http/reply/reply-schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { sessions } from '../../identity/entity.ts';
import { endSessions } from '../../identity/sessions.ts';
import { organisationQuery } from '../users/schema.ts';
import { findUser } from '../users/service.ts';
import { connectionTypes, externalIdentities } from './entity.ts';

const shared = { tenant: 'organisation', query: organisationQuery, body: null } as const;
const readScopes = ['organisation_users.read'];
const updateScopes = ['organisation_users.update'];

const identityReply = v.strictObject({
  id: uuid,
  connection_id: uuid,
  type: v.picklist(connectionTypes),
  issuer: v.string(),
  subject: v.string(),
  created_at: time,
  last_sign_in_at: time,
  object: v.literal('identity'),
});

const sessionReply = v.strictObject({
  id: uuid,
  /** Null: signed in with a password. */
  connection_id: v.nullable(uuid),
  created_at: time,
  last_seen_at: time,
  expires_at: time,
  client_ip: v.string(),
  user_agent: nullableText,
  object: v.literal('session'),
});

/** Routes with which admins see and end the sessions of a user, and unlink accounts at identity providers. */
export const ssoUserRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/admin/users/:userId/sessions',
    summary: 'List the sessions of a user',
    scopes: readScopes,
    resource: 'sessions',
    action: 'list',
    reply: listOf(sessionReply),
    async handle({ em, organisationId, params }) {
      const user = await findUser(em, organisationId, params.userId ?? '');
      const rows = await em.find(sessions, { organisationId, userId: user.id }, { orderBy: { createdAt: 'desc' }, limit: 1_000 });
      const data = rows.map((row) => ({
        id: row.id,
        connection_id: row.connectionId ?? null,
        created_at: row.createdAt.toISOString(),
        last_seen_at: row.lastSeenAt.toISOString(),
        expires_at: row.expiresAt.toISOString(),
        client_ip: row.clientIp,
        user_agent: row.userAgent ?? null,
        object: 'session' as const,
      }));
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/admin/users/:userId/sessions',
    hasNoVersion: true,
    summary: 'End all sessions of a user',
    scopes: updateScopes,
    resource: 'sessions',
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async ({ tx, about }) => {
        const user = await findUser(tx, call.organisationId, call.params.userId ?? '');
        requireRank(call.actor, user.role);
        await endSessions(tx, user, null);
        about(user);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/admin/users/:userId/sessions/:sessionId',
    hasNoVersion: true,
    summary: 'End a session of a user',
    scopes: updateScopes,
    resource: 'sessions',
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      const { userId = '', sessionId = '' } = call.params;
      await call.write(async ({ tx, about }) => {
        const { organisationId } = call;
        const user = await findUser(tx, organisationId, userId);
        requireRank(call.actor, user.role);
        const where = { id: sessionId, organisationId, userId: user.id };
        if (!isUuid(sessionId) || (await tx.nativeDelete(sessions, where)) === 0) throw notFound('Session');
        about({ id: sessionId });
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/admin/users/:userId/identities',
    summary: 'List the accounts of a user at identity providers',
    scopes: readScopes,
    resource: 'identities',
    action: 'list',
    reply: listOf(identityReply),
    async handle({ em, organisationId, params }) {
      const user = await findUser(em, organisationId, params.userId ?? '');
      const rows = await em.find(externalIdentities, { organisationId, userId: user.id }, { orderBy: { createdAt: 'asc' } });
      const data = rows.map((row) => ({
        ...{ id: row.id, connection_id: row.connectionId, type: row.type, issuer: row.issuer, subject: row.subject },
        created_at: row.createdAt.toISOString(),
        last_sign_in_at: row.lastSignInAt.toISOString(),
        object: 'identity' as const,
      }));
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/admin/users/:userId/identities/:identityId',
    hasNoVersion: true,
    summary: 'Unlink an account at an identity provider; its sessions end',
    scopes: updateScopes,
    resource: 'identities',
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      const { userId = '', identityId = '' } = call.params;
      await call.write(async ({ tx, about }) => {
        const { organisationId } = call;
        const user = await findUser(tx, organisationId, userId);
        requireRank(call.actor, user.role);
        // A foreign key deletes the sessions.
        const where = { id: identityId, organisationId, userId: user.id };
        if (!isUuid(identityId) || (await tx.nativeDelete(externalIdentities, where)) === 0) throw notFound('Identity');
        about({ id: identityId });
      });
      return {};
    },
  }),
];
