import { findPage } from '../../db/find-page.ts';
import { emptyReply, inBothEnvelopes } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { findCollection } from '../prompt-collections/service.ts';
import { promptTools } from './entity.ts';
import {
  createBody,
  createReply,
  listQuery,
  listReply,
  publishBody,
  readReply,
  updateBody,
  updateReply,
  versionsReply,
} from './schema.ts';
import { createTool, findTool, listVersions, publishedVersions, publishVersion, updateTool, versionOf } from './service.ts';
import { toRow, toVersion } from './to-reply.ts';

const shared = { tenant: 'either', resource: 'prompt_tools', query: tenantQuery, body: null } as const;

/** Routes of the tool library. Tools have no scopes of their own: those of prompts apply. */
export const promptToolRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/tools',
    summary: 'List the tools of the tool library, newest first',
    scopes: ['prompts.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle(call) {
      const { em, organisationId, workspaceId, query } = call;
      const where = {
        ...{ organisationId, status: 'active' as const },
        ...(workspaceId === null ? {} : { workspaceId }),
        ...(query.collection_id === undefined ? {} : { collectionId: (await findCollection(em, call, query.collection_id)).id }),
      };
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, promptTools, where, page);
      const versions = await publishedVersions(em, rows);
      const data = rows.flatMap((row) => {
        const version = versions.get(row.id);
        return version ? [toRow(row, version)] : [];
      });
      return { object: 'list', total, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/tools',
    summary: 'Add a tool to the tool library; its first version is published',
    scopes: ['prompts.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const { tool, version } = await call.write((change) => createTool(change, call, call.actor, call.body));
      call.tag(tool.revision);
      return inBothEnvelopes({ id: tool.id, slug: tool.slug, version_id: version.id, object: 'tool' });
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/tools/:toolId',
    summary: 'Read the published version of a tool',
    scopes: ['prompts.read'],
    action: 'read',
    reply: readReply,
    async handle(call) {
      const tool = await findTool(call.em, call, call.params.toolId ?? '');
      const version = await versionOf(call.em, tool, tool.version);
      call.tag(tool.revision);
      return inBothEnvelopes({ ...toRow(tool, version), version: version.number, tool_version_id: version.id });
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/tools/:toolId',
    summary: 'Change a tool; a changed definition makes a new version, which is not published',
    scopes: ['prompts.update'],
    action: 'update',
    body: updateBody,
    reply: updateReply,
    async handle(call) {
      const version = await call.write(async (change) => {
        const found = await findTool(change.tx, call, call.params.toolId ?? '', 'for update');
        call.match(found);
        requireUnchanged('slug', call.body.slug, found.slug);
        return updateTool(change, found, call.actor, call.body);
      });
      return inBothEnvelopes({ tool_version_id: version.id, object: 'tool' });
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/tools/:toolId',
    summary: 'Archive a tool',
    scopes: ['prompts.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const tool = await findTool(change.tx, call, call.params.toolId ?? '', 'for update');
        call.match(tool);
        await updateTool(change, tool, call.actor, { status: 'archived' });
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/tools/:toolId/makeDefault',
    summary: 'Publish a version of a tool',
    scopes: ['prompts.publish'],
    action: 'publish',
    body: publishBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findTool(change.tx, call, call.params.toolId ?? '', 'for update');
        call.match(found);
        await publishVersion(change, found, call.actor, call.body.version);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/tools/:toolId/versions',
    summary: 'List all versions of a tool, newest first',
    scopes: ['prompts.read'],
    action: 'list-versions',
    reply: versionsReply,
    async handle(call) {
      const tool = await findTool(call.em, call, call.params.toolId ?? '');
      const data = (await listVersions(call.em, tool)).map((version) => toVersion(tool, version));
      return { object: 'list', total: data.length, data };
    },
  }),
];
