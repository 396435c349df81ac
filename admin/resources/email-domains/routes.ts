import { findPage } from '../../db/find-page.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { organisationQuery } from '../users/schema.ts';
import { type EmailDomain, emailDomains } from './entity.ts';
import { createBody, listQuery, listReply, readReply, updateBody, verifyBody } from './schema.ts';
import { createDomain, findDomain, recordOf, requireRecord, updateDomain } from './service.ts';

const shared = { tenant: 'organisation', resource: 'email_domains', query: organisationQuery, body: null } as const;
const readScopes = ['organisation_settings.read'];
const updateScopes = ['organisation_settings.update'];
const item = '/admin/email-domains/:emailDomainId';

/** Routes of the e-mail domains of an organisation. */
export const emailDomainRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/admin/email-domains',
    summary: 'List e-mail domains',
    scopes: readScopes,
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, query }) {
      const page = { ...pageOf(query), orderBy: { domain: 'asc' } } as const;
      const [rows, total] = await findPage(em, emailDomains, { organisationId }, page);
      return { object: 'list', total, data: rows.map(toReply) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/admin/email-domains',
    summary: 'Add an e-mail domain; the reply names the DNS record that proves its ownership',
    scopes: updateScopes,
    action: 'create',
    body: createBody,
    reply: readReply,
    async handle(call) {
      const row = await call.write((change) => createDomain(change, call.organisationId, call.body));
      call.tag(row.revision);
      return toReply(row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: item,
    summary: 'Read an e-mail domain',
    scopes: readScopes,
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await findDomain(call.em, call.organisationId, call.params.emailDomainId ?? '');
      call.tag(row.revision);
      return toReply(row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: item,
    summary: 'Change whether the subdomains count too',
    scopes: updateScopes,
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findDomain(change.tx, call.organisationId, call.params.emailDomainId ?? '');
        call.match(row);
        await updateDomain(change, row, call.body.allow_subdomains);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${item}/verify`,
    summary: 'Read the DNS record and mark the domain as verified',
    scopes: updateScopes,
    action: 'verify',
    body: verifyBody,
    reply: readReply,
    async handle(call) {
      const id = call.params.emailDomainId ?? '';
      await requireRecord(call.services, await findDomain(call.em, call.organisationId, id));
      const row = await call.write(async (change) => {
        const found = await findDomain(change.tx, call.organisationId, id);
        found.verifiedAt ??= new Date();
        found.lastUpdatedAt = new Date();
        change.about(found);
        return found;
      });
      call.tag(row.revision);
      return toReply(row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: item,
    summary: 'Delete an e-mail domain; its addresses no longer count at sign-in',
    scopes: updateScopes,
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async ({ tx, about }) => {
        const row = await findDomain(tx, call.organisationId, call.params.emailDomainId ?? '');
        call.match(row);
        tx.remove(row);
        about(row);
      });
      return {};
    },
  }),
];

function toReply(row: EmailDomain) {
  return {
    id: row.id,
    domain: row.domain,
    allow_subdomains: row.allowSubdomains,
    status: row.verifiedAt ? 'verified' : 'pending',
    verified_at: row.verifiedAt?.toISOString() ?? null,
    dns_record: recordOf(row),
    organisation_id: row.organisationId,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'email-domain',
  };
}
