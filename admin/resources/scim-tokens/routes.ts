import { requireRank } from '../../access/require-rank.ts';
import { findPage } from '../../db/find-page.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { nothing } from '../../identity/schema.ts';
import { scimTokens } from './entity.ts';
import { readStatus, statusReply } from './read-status.ts';
import { createBody, listQuery, newTokenReply, organisationQuery, rotateBody, tokenListReply, tokenReply } from './schema.ts';
import { createToken, findToken, rotateToken, toReply } from './service.ts';

const ofTokens = { tenant: 'organisation', resource: 'scim_tokens' } as const;

/** Routes of SCIM tokens. They need the rights of an admin, because directories create and remove users. */
export const scimTokenRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...ofTokens,
    method: 'GET',
    path: '/scim/tokens',
    scopes: ['organisation_settings.read'],
    action: 'list',
    summary: 'List the SCIM tokens of the organisation',
    reply: tokenListReply,
    query: listQuery,
    body: null,
    async handle({ em, organisationId, query }) {
      const [rows, total] = await findPage(
        em,
        scimTokens,
        { organisationId },
        { ...pageOf(query), orderBy: { createdAt: 'asc', id: 'asc' } },
      );
      return { object: 'list', total, data: rows.map(toReply) };
    },
  }),
  defineRoute({
    ...ofTokens,
    method: 'POST',
    path: '/scim/tokens',
    scopes: ['organisation_settings.update'],
    action: 'create',
    summary: 'Create a SCIM token for a directory; only this reply contains it',
    reply: newTokenReply,
    query: organisationQuery,
    body: createBody,
    async handle(call) {
      const made = await call.write((change) => createToken(change, call.actor, call.body));
      call.tag(made.row.revision);
      return { ...toReply(made.row), token: made.token, base_url: baseUrl(call) };
    },
  }),
  defineRoute({
    ...ofTokens,
    method: 'GET',
    path: '/scim/tokens/:scimTokenId',
    scopes: ['organisation_settings.read'],
    action: 'read',
    summary: 'Read a SCIM token without its secret',
    reply: tokenReply,
    query: organisationQuery,
    body: null,
    async handle(call) {
      const row = await findToken(call.em, call.organisationId, call.params.scimTokenId ?? '');
      call.tag(row.revision);
      return toReply(row);
    },
  }),
  defineRoute({
    ...ofTokens,
    method: 'POST',
    path: '/scim/tokens/:scimTokenId/rotate',
    scopes: ['organisation_settings.update'],
    action: 'rotate',
    summary: 'Give a SCIM token a new secret; the old one stays valid for transition_period_ms',
    reply: newTokenReply,
    query: organisationQuery,
    body: rotateBody,
    async handle(call) {
      const made = await call.write(async (change) => {
        const row = await findToken(change.tx, call.organisationId, call.params.scimTokenId ?? '');
        call.match(row);
        return { row, token: await rotateToken(change, call.actor, row, call.body) };
      });
      return { ...toReply(made.row), token: made.token, base_url: baseUrl(call) };
    },
  }),
  defineRoute({
    ...ofTokens,
    method: 'DELETE',
    path: '/scim/tokens/:scimTokenId',
    scopes: ['organisation_settings.update'],
    action: 'delete',
    summary: 'Delete a SCIM token; the directory loses access at once',
    reply: nothing,
    query: organisationQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findToken(change.tx, call.organisationId, call.params.scimTokenId ?? '');
        call.match(row);
        requireRank(call.actor, 'admin');
        change.tx.remove(row);
        change.about(row);
      });
      return {};
    },
  }),
  defineRoute({
    ...ofTokens,
    method: 'GET',
    path: '/scim/status',
    scopes: ['organisation_settings.read'],
    action: 'read_status',
    summary: 'Show the progress of directories: users, groups, changes of the last minute, refusals and waiting jobs',
    reply: statusReply,
    query: organisationQuery,
    body: null,
    handle: ({ em, organisationId, services }) => readStatus(em, organisationId, services.clock.now()),
  }),
];

/** The address that directories are configured with. */
function baseUrl(call: { services: { settings: { publicUrl: string } }; organisationId: string }): string {
  return `${call.services.settings.publicUrl}/v1/scim/${call.organisationId}`;
}
