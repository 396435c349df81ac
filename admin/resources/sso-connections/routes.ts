import { findPage } from '../../db/find-page.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { organisationQuery } from '../users/schema.ts';
import { ssoConnections } from './entity.ts';
import { metadataDeadlineMs, prepareSaml } from './put-saml.ts';
import { prepareKey, rotateKey, rotateKeyBody } from './rotate-key.ts';
import { createBody, createReply, listQuery, listReply, readReply, updateBody } from './schema.ts';
import { createConnection, deleteConnection, findConnection, updateConnection } from './service.ts';
import { toReply } from './to-reply.ts';

const shared = { tenant: 'organisation', resource: 'sso_connections', query: organisationQuery, body: null } as const;
const readScopes = ['organisation_settings.read'];
const updateScopes = ['organisation_settings.update'];

/** Routes of connections to identity providers. */
export const ssoConnectionRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/admin/sso-connections',
    summary: 'List SSO connections',
    scopes: readScopes,
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, query, services }) {
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, ssoConnections, { organisationId }, page);
      return { object: 'list', total, data: rows.map((row) => toReply(services.settings, row)) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/admin/sso-connections',
    summary: 'Add an identity provider; owners only',
    scopes: updateScopes,
    action: 'create',
    body: createBody,
    reply: createReply,
    deadlineMs: metadataDeadlineMs,
    async handle(call) {
      const prepared = await prepareSaml(call.services, call.organisationId, call.body, true);
      const row = await call.write((change) => createConnection(change, call.services, call.actor, call.body, prepared));
      call.tag(row.revision);
      return { id: row.id, slug: row.slug, object: 'sso-connection' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/admin/sso-connections/:ssoConnectionId',
    summary: 'Read an SSO connection and the addresses to register at its provider',
    scopes: readScopes,
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await findConnection(call.em, call.organisationId, call.params.ssoConnectionId ?? '');
      call.tag(row.revision);
      return toReply(call.services.settings, row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/admin/sso-connections/:ssoConnectionId',
    summary: 'Change an SSO connection; owners only',
    scopes: updateScopes,
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    deadlineMs: metadataDeadlineMs,
    async handle(call) {
      const prepared = await prepareSaml(call.services, call.organisationId, call.body, false);
      await call.write(async (change) => {
        const row = await findConnection(change.tx, call.organisationId, call.params.ssoConnectionId ?? '', 'for update');
        call.match(row);
        await updateConnection(change, call.services, call.actor, row, call.body, prepared);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/admin/sso-connections/:ssoConnectionId/rotate-key',
    summary: 'Rotate the key of this service: add a second one, activate it, remove the other; owners only',
    scopes: updateScopes,
    action: 'rotate_key',
    body: rotateKeyBody,
    reply: readReply,
    async handle(call) {
      const { body, params, organisationId, services } = call;
      const before = await findConnection(call.em, organisationId, params.ssoConnectionId ?? '');
      const added = await prepareKey(before, body.step, services.clock.now());
      const row = await call.write(async (change) => {
        const held = await findConnection(change.tx, organisationId, before.id, 'for update');
        call.match(held);
        await rotateKey(change, services, call.actor, held, { step: body.step, added });
        await change.tx.flush();
        return held;
      });
      return toReply(services.settings, row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/admin/sso-connections/:ssoConnectionId',
    summary: 'Delete an SSO connection and end its sessions; owners only',
    scopes: updateScopes,
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findConnection(change.tx, call.organisationId, call.params.ssoConnectionId ?? '', 'for update');
        call.match(row);
        deleteConnection(change, call.actor, row);
      });
      return {};
    },
  }),
];
