import type { FilterQuery } from '@mikro-orm/core';
import { findPage } from '../../db/find-page.ts';
import { notFound } from '../../http/errors.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply, inBothEnvelopes } from '../../http/reply/reply-schemas.ts';
import { forceQuery, pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { findCollection } from '../prompt-collections/service.ts';
import { type PromptPartial, promptPartials } from './entity.ts';
import { refuseWhileIncluded } from './refuse-while-included.ts';
import {
  createBody,
  createReply,
  listQuery,
  listReply,
  publishBody,
  readQuery,
  readReply,
  updateBody,
  updateReply,
  usedByReply,
  versionsReply,
} from './schema.ts';
import {
  archivePartial,
  createPartial,
  findPartial,
  findVersion,
  holdPartial,
  listVersions,
  publishVersion,
  updatePartial,
} from './service.ts';
import { sharedWithOf } from './share.ts';
import { readable } from './shared-items.ts';
import { toDetail, toRow, toVersion } from './to-reply.ts';
import { usesOf } from './used-by.ts';

const shared = { tenant: 'either', resource: 'prompt_partials', query: tenantQuery, body: null } as const;

/** Routes of partials and their versions. Partials have no scopes of their own: those of prompts apply. */
export const promptPartialRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/partials',
    summary: 'List the partials of the workspace, newest first; with type=shared those that others share with it',
    scopes: ['prompts.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle(call) {
      const { em, organisationId, workspaceId, query } = call;
      const where: FilterQuery<PromptPartial>[] = [{ organisationId, status: 'active' }];
      if (query.type === undefined) where.push(workspaceId === null ? {} : { workspaceId });
      else where.push(readable(call));
      if (query.type === 'shared')
        where.push({ sharedWith: { $ne: null } }, workspaceId ? { workspaceId: { $ne: workspaceId } } : {});
      if (query.collection_id !== undefined)
        where.push({ collectionId: (await findCollection(em, call, query.collection_id)).id });
      where.push(searchIn(query.search, 'name'));
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, promptPartials, { $and: where }, page);
      const showShare = query.type === 'shared' || query.show_prompt_share === 'true';
      const data = rows.map((row) => ({
        ...toRow(row),
        ...(showShare ? { prompt_share: { workspace_id: row.workspaceId, shared_with: sharedWithOf(row) } } : {}),
      }));
      return { object: 'list', total, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/prompts/partials',
    summary: 'Create a partial; its first version is published',
    scopes: ['prompts.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const { partial, version } = await call.write((change) => createPartial(change, call, call.actor, call.body));
      call.tag(partial.revision);
      return inBothEnvelopes({ id: partial.id, slug: partial.slug, version_id: version.id, object: 'partial' });
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/partials/:promptPartialId',
    summary: 'Read the published version of a partial, or another one: <id>@5, <id>@latest',
    scopes: ['prompts.read'],
    action: 'read',
    query: readQuery,
    reply: readReply,
    async handle(call) {
      const [name = '', reference] = (call.params.promptPartialId ?? '').split('@', 2);
      const partial = await findPartial(call.em, call, name);
      const version = await findVersion(call.em, partial, reference ?? call.query.version ?? 'default');
      call.tag(partial.revision);
      return inBothEnvelopes(toDetail(partial, version));
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/prompts/partials/:promptPartialId',
    summary: 'Change a partial; a changed text makes a new version, which is not published',
    scopes: ['prompts.update'],
    action: 'update',
    body: updateBody,
    reply: updateReply,
    async handle(call) {
      const { actor, body } = call;
      const { partial, version } = await call.write(async (change) => {
        const found = await holdPartial(change.tx, call, call.params.promptPartialId ?? '');
        call.match(found);
        requireUnchanged('slug', body.slug, found.slug);
        if (body.status !== 'archived') return { partial: found, version: await updatePartial(change, found, actor, body) };
        archivePartial(change, found);
        return { partial: found, version: await findVersion(change.tx, found, 'latest') };
      });
      return inBothEnvelopes({ id: partial.id, slug: partial.slug, prompt_partial_version_id: version.id });
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/prompts/partials/:promptPartialId',
    summary: 'Archive a partial that no prompt or partial includes',
    scopes: ['prompts.delete'],
    action: 'delete',
    query: forceQuery,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const partial = await holdPartial(change.tx, call, call.params.promptPartialId ?? '');
        call.match(partial);
        if (call.query.force !== 'true') await refuseWhileIncluded(change.tx, partial);
        archivePartial(change, partial);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/prompts/partials/:promptPartialId/makeDefault',
    summary: 'Publish a version of a partial',
    scopes: ['prompts.publish'],
    action: 'publish',
    body: publishBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await holdPartial(change.tx, call, call.params.promptPartialId ?? '');
        call.match(found);
        await publishVersion(change, found, call.actor, call.body.version);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/partials/:promptPartialId/versions',
    summary: 'List all versions of a partial, newest first',
    scopes: ['prompts.read'],
    action: 'list-versions',
    reply: versionsReply,
    async handle(call) {
      const partial = await findPartial(call.em, call, call.params.promptPartialId ?? '');
      const data = (await listVersions(call.em, partial)).map((version) => toVersion(partial, version));
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/partials/:promptPartialId/used-by',
    summary: 'List the prompts and partials that include a partial, to see what its next version changes',
    scopes: ['prompts.read'],
    action: 'used-by',
    reply: usedByReply,
    async handle(call) {
      const partial = await findPartial(call.em, call, call.params.promptPartialId ?? '');
      if (call.workspaceId !== null && partial.workspaceId !== call.workspaceId) throw notFound('Partial');
      const { uses, elsewhere } = await usesOf(call.em, partial);
      return { object: 'list', total: uses.length, total_elsewhere: elsewhere, data: uses };
    },
  }),
];
