import { findPage } from '../../db/find-page.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply, inBothEnvelopes } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { detailsOf } from './details.ts';
import { promptCollections } from './entity.ts';
import { createBody, deleteQuery, listQuery, listReply, readReply, receiptReply, updateBody } from './schema.ts';
import { archiveCollection, createCollection, findCollection, lockTree, updateCollection } from './service.ts';
import { toChild, toRow } from './to-reply.ts';

const shared = { tenant: 'either', resource: 'prompt_collections', query: tenantQuery, body: null } as const;

/** Routes of collections. Collections have no scopes of their own: those of prompts apply. */
export const promptCollectionRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/collections',
    summary: 'List the collections of prompts, at all depths',
    scopes: ['prompts.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, workspaceId, query }) {
      const where = {
        organisationId,
        ...(workspaceId === null ? {} : { workspaceId }),
        ...searchIn(query.search, 'name'),
        status: 'active' as const,
      };
      const page = { ...pageOf(query), orderBy: { createdAt: 'asc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, promptCollections, where, page);
      const details = await detailsOf(
        em,
        organisationId,
        rows.map(({ id }) => id),
      );
      return { object: 'list', total, data: rows.map((row) => ({ ...toRow(row), collection_details: details.get(row.id) })) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/collections',
    summary: 'Create a collection of prompts, at the top or in another collection',
    scopes: ['prompts.create'],
    action: 'create',
    body: createBody,
    reply: receiptReply,
    async handle(call) {
      const { id, slug, revision } = await call.write((change) => createCollection(change, call, call.body));
      call.tag(revision);
      return inBothEnvelopes({ id, slug, object: 'collection' });
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/collections/:collectionId',
    summary: 'Read a collection with the collections in it',
    scopes: ['prompts.read'],
    action: 'read',
    reply: readReply,
    async handle(call) {
      const { em, organisationId } = call;
      const row = await findCollection(em, call, call.params.collectionId ?? '');
      const where = { organisationId, parentCollectionId: row.id, status: 'active' as const };
      const children = await em.find(promptCollections, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
      const details = await detailsOf(
        em,
        organisationId,
        children.map(({ id }) => id),
      );
      call.tag(row.revision);
      const child_collections = children.map((child) => toChild(child, details.get(child.id)));
      return inBothEnvelopes({ ...toRow(row), child_collections, object: 'collection' });
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/collections/:collectionId',
    summary: 'Rename or move a collection',
    scopes: ['prompts.update'],
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        if (call.body.parent_collection_id !== undefined) await lockTree(change.tx, call.organisationId);
        const found = await findCollection(change.tx, call, call.params.collectionId ?? '', 'for update');
        call.match(found);
        requireUnchanged('slug', call.body.slug, found.slug);
        await updateCollection(change, found, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/collections/:collectionId',
    summary: 'Archive a collection; with cascade=true also everything in it',
    scopes: ['prompts.delete'],
    action: 'delete',
    query: deleteQuery,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findCollection(change.tx, call, call.params.collectionId ?? '', 'for update');
        call.match(row);
        await archiveCollection(change, row, call.query.cascade === 'true', call.services.dependents);
      });
      return {};
    },
  }),
];
