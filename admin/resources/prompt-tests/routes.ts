import { findPage } from '../../db/find-page.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { promptTestSets } from './entity.ts';
import { createBody, listQuery, setListReply, setReceipt, setReply, updateBody } from './schema.ts';
import { checkTestSet, createTestSet, findTestSet, updateTestSet } from './service.ts';
import { toSet, toSetRow } from './to-reply.ts';

const shared = { tenant: 'either', resource: 'prompt_test_sets', query: tenantQuery, body: null } as const;
const path = '/prompts/test-sets/:testSetId';

/** Routes of test sets. The scopes are those of prompts. */
export const promptTestSetRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/test-sets',
    summary: 'List the test sets of the workspace, newest first',
    scopes: ['prompts.list'],
    action: 'list',
    query: listQuery,
    reply: setListReply,
    async handle({ em, organisationId, workspaceId, query }) {
      const where = { organisationId, ...(workspaceId === null ? {} : { workspaceId }) };
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, promptTestSets, where, page);
      return { object: 'list', total, data: rows.map(toSetRow) };
    },
  }),
  defineRoute({
    ...shared,
    tenant: 'workspace',
    method: 'POST',
    path: '/prompts/test-sets',
    summary: 'Create a test set: rows of variables, with checks of the outputs',
    scopes: ['prompts.create'],
    action: 'create',
    body: createBody,
    reply: setReceipt,
    async handle(call) {
      await checkTestSet(call, call.body);
      const owner = { organisationId: call.organisationId, workspaceId: call.workspaceId ?? '' };
      const row = await call.write(async (change) => createTestSet(change, owner, call.actor, call.body));
      call.tag(row.revision);
      return { id: row.id, slug: row.slug, object: 'prompt-test-set' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path,
    summary: 'Read a test set with its rows',
    scopes: ['prompts.read'],
    action: 'read',
    reply: setReply,
    async handle(call) {
      const row = await findTestSet(call.em, call, call.params.testSetId ?? '');
      call.tag(row.revision);
      return toSet(row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path,
    summary: 'Change a test set; runs keep the rows that they began with',
    scopes: ['prompts.update'],
    action: 'update',
    body: updateBody,
    reply: setReceipt,
    async handle(call) {
      await checkTestSet(call, call.body);
      const row = await call.write(async (change) => {
        const found = await findTestSet(change.tx, call, call.params.testSetId ?? '', 'for update');
        call.match(found);
        requireUnchanged('slug', call.body.slug, found.slug);
        updateTestSet(change, found, call.actor, call.body);
        return found;
      });
      return { id: row.id, slug: row.slug, object: 'prompt-test-set' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path,
    summary: 'Delete a test set with its runs and their results',
    scopes: ['prompts.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findTestSet(change.tx, call, call.params.testSetId ?? '', 'for update');
        call.match(found);
        change.about(found);
        change.tx.remove(found);
      });
      return {};
    },
  }),
];
