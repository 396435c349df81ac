import { findPage } from '../../db/find-page.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { withTags } from '../../http/filters/with-tags.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { secretReferences } from './entity.ts';
import { createReply, listReply, readReply } from './reply-schema.ts';
import { createBody, listQuery, organisationQuery, updateBody } from './schema.ts';
import { createReference, deleteReference, getReference, updateReference } from './service.ts';
import { toDetail, toRow } from './to-reply.ts';

const shared = { tenant: 'organisation', resource: 'secret_references', query: organisationQuery, body: null } as const;
const item = '/secret-references/:secretReferenceId';

/** Routes of references to external secrets. They belong to the organisation. */
export const secretReferenceRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/secret-references',
    summary: 'List references to secrets in secret managers, newest first',
    scopes: ['secret_references.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, query }) {
      const { manager_type: managerType, search } = query;
      const where = [
        { organisationId, ...(managerType === undefined ? {} : { managerType }) },
        searchIn(search, 'name', 'slug'),
        withTags(query.tags),
      ];
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, secretReferences, { $and: where }, page);
      return { object: 'list', total, data: rows.map(toRow) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/secret-references',
    summary: 'Create a reference to a secret, with its location and authentication',
    scopes: ['secret_references.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const made = await call.write((change) => createReference(change, call.services, call.actor, call.body));
      call.tag(made.revision);
      return { id: made.id, slug: made.slug, object: 'secret-reference' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: item,
    summary: 'Read a secret reference, its credential masked',
    scopes: ['secret_references.read'],
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await getReference(call.em, call.organisationId, call.params.secretReferenceId ?? '');
      call.tag(row.revision);
      return toDetail(row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: item,
    summary: 'Change a secret reference; its users follow at once',
    scopes: ['secret_references.update'],
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await getReference(change.tx, call.organisationId, call.params.secretReferenceId ?? '', 'to change');
        call.match(found);
        await updateReference(change, call.services, found, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: item,
    summary: 'Delete a secret reference that nothing reads from',
    scopes: ['secret_references.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await getReference(change.tx, call.organisationId, call.params.secretReferenceId ?? '', 'to change');
        call.match(row);
        await deleteReference(change, call.actor, row, call.services.dependents);
      });
      return {};
    },
  }),
];
