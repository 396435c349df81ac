import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { notFound } from '../../http/errors.ts';
import { definePublicRoute, type PublicRoute } from '../../http/public-route.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { readForm } from '../../http/request/read-form.ts';
import { endProviderSessions } from '../../sign-in/end-sessions.ts';
import { verifyLogoutToken } from '../../sign-in/oidc/logout.ts';
import { auditRefusals } from '../../sign-in/refusal.ts';
import { anyoneAt } from './anyone-at.ts';
import { publicPartOf } from './client-key.ts';
import { type SsoConnection, ssoConnections } from './entity.ts';
import { connectionSecrets } from './secrets.ts';

/** Routes that identity providers call themselves. */
export const ssoProviderRoutes: readonly PublicRoute[] = [
  definePublicRoute({
    method: 'GET',
    path: '/auth/jwks/:connectionId',
    resource: 'sso_connections',
    action: 'read_keys',
    summary: 'Read the public keys of a connection with `private_key_jwt`',
    reply: v.strictObject({ keys: v.array(v.record(v.string(), v.unknown())) }),
    body: null,
    async handle(call) {
      const row = await findOidc(call.em, call.params.connectionId ?? '');
      const secrets = await connectionSecrets.open(call.em, call.services.vault, row);
      const { private_key: current, next_private_key: next, previous_private_key: previous } = secrets;
      return { keys: [current, next, previous].flatMap((key) => (key === undefined ? [] : [publicPartOf(JSON.parse(key))])) };
    },
  }),
  definePublicRoute({
    method: 'POST',
    path: '/auth/backchannel-logout/:connectionId',
    resource: 'sessions',
    action: 'backchannel_logout',
    summary: 'End the sessions that an OpenID Connect provider has ended',
    reply: emptyReply,
    body: v.object({ logout_token: v.pipe(v.string(), v.maxLength(16_384, 'at most 16,384 characters')) }),
    readBody: readForm,
    personOf: async (em, { params }) => anyoneAt(await oidcConnectionAt(em, params.connectionId ?? '')),
    async handle(call) {
      const row = await findOidc(call.em, call.params.connectionId ?? '');
      const { organisationId, id: connectionId } = row;
      const ended = await auditRefusals(call, { organisationId, connectionId }, () =>
        verifyLogoutToken(call.em, call.services, row, call.body.logout_token),
      );
      await call.write({ organisationId, userId: null }, (change) => endProviderSessions(change, ended));
      return {};
    },
  }),
];

async function findOidc(em: EntityManager, id: string): Promise<SsoConnection> {
  const row = await oidcConnectionAt(em, id);
  if (!row) throw notFound('SSO connection');
  return row;
}

async function oidcConnectionAt(em: EntityManager, id: string): Promise<SsoConnection | null> {
  return isUuid(id) ? em.findOne(ssoConnections, { id, type: 'oidc', isEnabled: true }) : null;
}
