import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { AdminError } from '../../http/errors.ts';
import { definePublicRoute, type PublicRoute } from '../../http/public-route.ts';
import { id } from '../../http/request/schemas.ts';
import { sessions } from '../../identity/entity.ts';
import { sessionCookie } from '../../identity/session-cookie.ts';
import { findRefreshable, refreshSession, userOfRefresh } from '../../identity/sessions.ts';

const isOver = () => new AdminError('AB05', 'refresh_token: the session has ended. Sign in again');

/** Routes about the tokens of a session. */
export const tokenRoutes: readonly PublicRoute[] = [
  definePublicRoute({
    method: 'POST',
    path: '/auth/refresh',
    resource: 'sessions',
    action: 'refresh',
    summary: 'Replace both tokens of a session; a refresh token that is used twice ends the session',
    reply: v.strictObject({
      auth_token: v.string(),
      refresh_token: v.string(),
      expires_at: v.string(),
      object: v.literal('auth-token'),
    }),
    body: v.strictObject({
      refresh_token: v.pipe(v.string(), v.maxLength(256, 'at most 256 characters')),
      organisation_id: v.optional(id),
    }),
    personOf: userOfRefresh,
    async handle(call) {
      const { clock, settings } = call.services;
      const { refresh_token: token, organisation_id: named } = call.body;
      const row = await findRefreshable(call.em, token, { idleTtlSeconds: settings.sessionIdleSeconds }, clock.now());
      if (!row || (named !== undefined && named.toLowerCase() !== row.organisationId)) throw isOver();
      const { organisationId, userId, id: sessionId } = row;
      const fresh = await call.write({ organisationId, userId }, async (change) => {
        change.about({ id: sessionId });
        const refreshed = await refreshSession(change.tx, row, token, clock.now());
        if (refreshed) return refreshed;
        // Two parties hold the token, and only one can be its owner.
        await change.tx.nativeDelete(sessions, { id: sessionId, organisationId });
        const message = 'The refresh token was used twice, so the session was ended';
        change.refuse({ status: 401, errorCode: 'AB05' }, { reason: 'refresh_token_reused', message });
        return null;
      });
      if (!fresh) throw isOver();
      if (call.origin === 'same') call.header('set-cookie', sessionCookie(fresh.token, row.expiresAt, settings));
      return {
        auth_token: fresh.token,
        refresh_token: fresh.refreshToken,
        expires_at: row.expiresAt.toISOString(),
        object: 'auth-token',
      };
    },
  }),
  definePublicRoute({
    method: 'GET',
    path: '/auth/validate-token',
    resource: 'sessions',
    action: 'validate',
    summary: 'Check the session token or JWT of this request',
    reply: v.strictObject({ is_valid: v.boolean(), object: v.literal('token-validation') }),
    query: v.strictObject({ organisation_id: v.optional(id) }),
    body: null,
    async handle(call) {
      const sent = {
        method: 'GET',
        path: '/v2/auth/validate-token',
        requestId: randomUUID(),
        clientAddress: call.clientIp,
        header: call.requestHeader,
      };
      const who = await call.services.callers.authenticate(call.em, sent, call.services);
      if ('refused' in who) {
        // Guesses cost as much as on other routes.
        call.services.limits.perAddress.charge(call.clientIp, 20);
        return { is_valid: false, object: 'token-validation' };
      }
      const { session, tokenSubject, organisationId } = who.actor;
      const named = call.query.organisation_id?.toLowerCase();
      const isToken = session !== undefined || tokenSubject !== undefined;
      return { is_valid: isToken && (named === undefined || named === organisationId), object: 'token-validation' };
    },
  }),
];
