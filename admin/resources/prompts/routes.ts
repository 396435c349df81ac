import type { FilterQuery } from '@mikro-orm/core';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { findPage } from '../../db/find-page.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply, inBothEnvelopes } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { lastUsedAt } from '../logs/last-used.ts';
import { findCollection } from '../prompt-collections/service.ts';
import { sharedWithOf } from '../prompt-partials/share.ts';
import { readable } from '../prompt-partials/shared-items.ts';
import { type Prompt, prompts } from './entity.ts';
import { createReply, listReply, readReply, updateReply, versionsReply } from './reply-schema.ts';
import { createBody, listQuery, publishBody, readQuery, updateBody } from './schema.ts';
import { archivePrompt, createPrompt, findPrompt, holdPrompt, publishedModels, publishVersion, updatePrompt } from './service.ts';
import { toDetail, toRow, toVersion } from './to-reply.ts';
import { findVersion, labelsOf, listVersions, versionOf } from './versions.ts';

const shared = { tenant: 'either', resource: 'prompts', query: tenantQuery, body: null } as const;

/** Routes of prompts and their versions. */
export const promptRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts',
    summary: 'List the prompts of the workspace, newest first; with type=shared those that others share with it',
    scopes: ['prompts.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle(call) {
      const { em, organisationId, workspaceId, query } = call;
      const own = workspaceId === null ? {} : { workspaceId };
      const where: FilterQuery<Prompt>[] = [{ organisationId, status: 'active' }];
      if (query.type === undefined) where.push(own);
      else where.push(readable(call));
      if (query.type === 'shared')
        where.push({ sharedWith: { $ne: null } }, workspaceId ? { workspaceId: { $ne: workspaceId } } : {});
      if (query.collection_id !== undefined)
        where.push({ collectionId: (await findCollection(em, call, query.collection_id)).id });
      where.push(searchIn(query.search, 'name'));
      if (query.id !== undefined) where.push(isUuid(query.id) ? { id: query.id } : { slug: query.id });
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, prompts, { $and: where }, page);
      const models = await publishedModels(em, rows);
      // Uses of a shared prompt in other workspaces are not shown.
      const mine = rows.filter((row) => workspaceId === null || row.workspaceId === workspaceId);
      const used = query.return_last_used === 'true' ? await lastUsedAt(em, 'prompts', organisationId, mine) : null;
      const showShare = query.type === 'shared' || query.show_prompt_share === 'true';
      const data = rows.map((row) => ({
        ...toRow(row, models.get(row.id) ?? null),
        ...(used && mine.includes(row) ? { last_used_at: used.get(row.id)?.toISOString() ?? null } : {}),
        ...(showShare ? { prompt_share: { workspace_id: row.workspaceId, shared_with: sharedWithOf(row) } } : {}),
      }));
      return { success: true, object: 'list', total, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/prompts',
    summary: 'Create a prompt; its first version is published',
    scopes: ['prompts.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const { prompt, version } = await call.write((change) => createPrompt(change, call, call.actor, call.body));
      call.tag(prompt.revision);
      return inBothEnvelopes({ id: prompt.id, slug: prompt.slug, version_id: version.id, object: 'prompt' });
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/:promptId',
    summary: 'Read the published version of a prompt, or another one: <id>@12, <id>@latest, <id>@<label>',
    scopes: ['prompts.read'],
    action: 'read',
    query: readQuery,
    reply: readReply,
    async handle(call) {
      const [name = '', reference] = (call.params.promptId ?? '').split('@', 2);
      const prompt = await findPrompt(call.em, call, name);
      const version = await findVersion(call.em, prompt, reference ?? call.query.version ?? 'default');
      call.tag(prompt.revision);
      return inBothEnvelopes(toDetail(prompt, version, await labelsOf(call.em, prompt)));
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/prompts/:promptId',
    summary: 'Change a prompt; changed content makes a new version, which is not published',
    scopes: ['prompts.update'],
    action: 'update',
    body: updateBody,
    reply: updateReply,
    async handle(call) {
      const { actor, body } = call;
      const { prompt, version } = await call.write(async (change) => {
        const found = await holdPrompt(change.tx, call, call.params.promptId ?? '');
        call.match(found);
        requireUnchanged('slug', body.slug, found.slug);
        if (body.status === 'archived') {
          archivePrompt(change, found);
          return { prompt: found, version: await versionOf(change.tx, found, found.latestVersion) };
        }
        return { prompt: found, version: await updatePrompt(change, found, actor, body) };
      });
      return inBothEnvelopes({ id: prompt.id, slug: prompt.slug, prompt_version_id: version.id });
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/prompts/:promptId',
    summary: 'Archive a prompt',
    scopes: ['prompts.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const prompt = await holdPrompt(change.tx, call, call.params.promptId ?? '');
        call.match(prompt);
        archivePrompt(change, prompt);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/prompts/:promptId/makeDefault',
    summary: 'Publish a version of a prompt',
    scopes: ['prompts.publish'],
    action: 'publish',
    body: publishBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await holdPrompt(change.tx, call, call.params.promptId ?? '');
        call.match(found);
        await publishVersion(change, found, call.actor, call.body.version);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/:promptId/versions',
    summary: 'List all versions of a prompt, newest first',
    scopes: ['prompts.read'],
    action: 'list-versions',
    reply: versionsReply,
    async handle(call) {
      const prompt = await findPrompt(call.em, call, call.params.promptId ?? '');
      const labels = await labelsOf(call.em, prompt);
      const data = (await listVersions(call.em, prompt)).map((version) => toVersion(prompt, version, labels));
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/:promptId/versions/:promptVersionId',
    summary: 'Read one version of a prompt, by id or number',
    scopes: ['prompts.read'],
    action: 'read-version',
    reply: readReply,
    async handle(call) {
      const prompt = await findPrompt(call.em, call, call.params.promptId ?? '');
      const version = await findVersion(call.em, prompt, call.params.promptVersionId ?? '');
      return inBothEnvelopes(toDetail(prompt, version, await labelsOf(call.em, prompt)));
    },
  }),
];
