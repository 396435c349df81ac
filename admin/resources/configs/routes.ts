import { findOwnWorkspace } from '../../access/find-own-workspace.ts';
import { findPage } from '../../db/find-page.ts';
import { invalid } from '../../http/errors.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply, inBothEnvelopes } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { lastUsedAt } from '../logs/last-used.ts';
import { checkPlugins } from './check-plugins.ts';
import { configs } from './entity.ts';
import {
  createBody,
  createReply,
  listQuery,
  listReply,
  readReply,
  updateBody,
  updateReply,
  versionReply,
  versionsReply,
} from './schema.ts';
import {
  archiveConfig,
  createConfig,
  currentVersion,
  findConfig,
  findVersion,
  listVersions,
  updateConfig,
  workspacesWithConfig,
} from './service.ts';
import { toDetail, toRow, toVersion } from './to-reply.ts';

const shared = {
  tenant: 'workspace',
  resource: 'configs',
  query: tenantQuery,
  body: null,
  workspacesWith: workspacesWithConfig,
} as const;

/** Routes of saved configs. */
export const configRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/configs',
    summary: 'List the saved configs, newest first',
    scopes: ['configs.list'],
    tenant: 'either',
    dataServiceToo: true,
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle(call) {
      const { organisationId, workspaceId, query } = call;
      const tenant = { organisationId, ...(workspaceId ? { workspaceId } : {}), status: 'active' as const };
      const where = { $and: [tenant, searchIn(query.search, 'name', 'slug')] };
      const [rows, total] = await findPage(call.em, configs, where, {
        ...pageOf(query),
        orderBy: { createdAt: 'desc', id: 'asc' },
      });
      if (query.return_last_used !== 'true') return { success: true, object: 'list', total, data: rows.map(toRow) };
      const used = await lastUsedAt(call.em, 'configs', organisationId, rows);
      const data = rows.map((row) => ({ ...toRow(row), last_used_at: used.get(row.id)?.toISOString() ?? null }));
      return { success: true, object: 'list', total, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/configs',
    summary: 'Save a config',
    scopes: ['configs.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const { organisationId, workspaceId, actor, body } = call;
      if (workspaceId === null) throw invalid('workspace_id: required');
      await checkPlugins(call.services, body.config);
      const isDefault = asBoolean(body.isDefault ?? body.is_default) ?? false;
      const made = await call.write((change) =>
        createConfig(change, { organisationId, workspaceId }, actor, { ...body, isDefault }, call.services.settings),
      );
      call.tag(made.revision);
      return inBothEnvelopes({ id: made.id, version_id: made.versionId, slug: made.slug, object: 'config' });
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/configs/:slug',
    summary: 'Read the current version of a config',
    scopes: ['configs.read'],
    action: 'read',
    reply: readReply,
    async handle(call) {
      const config = await findConfig(call.em, call, call.params.slug ?? '');
      const version = await currentVersion(call.em, config);
      call.tag(config.revision);
      return inBothEnvelopes(toDetail(config, version));
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/configs/:slug',
    summary: 'Change a config; a changed config gets a new version',
    scopes: ['configs.update'],
    action: 'update',
    body: updateBody,
    reply: updateReply,
    async handle(call) {
      const { body, actor } = call;
      await checkPlugins(call.services, body.config);
      const config = await call.write(async (change) => {
        const found = await findConfig(change.tx, call, call.params.slug ?? '', 'for update');
        call.match(found);
        requireUnchanged('slug', body.slug, found.slug);
        await updateConfig(
          change,
          found,
          actor,
          { ...body, isDefault: asBoolean(body.isDefault ?? body.is_default) },
          call.services.settings,
          call.services.dependents,
        );
        return found;
      });
      return inBothEnvelopes({ version_id: config.versionId });
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/configs/:slug',
    summary: 'Archive a config that is no default',
    scopes: ['configs.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const config = await findConfig(change.tx, call, call.params.slug ?? '', 'for update');
        call.match(config);
        await archiveConfig(change, call.actor, config, call.services.dependents);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/configs/:slug/versions',
    summary: 'List all versions of a config, newest first',
    scopes: ['configs.read'],
    action: 'list-versions',
    reply: versionsReply,
    async handle(call) {
      const config = await findConfig(call.em, call, call.params.slug ?? '');
      const versions = await listVersions(call.em, config);
      const data = versions.map((version) => ({ ...toVersion(config, version), config: JSON.stringify(version.config) }));
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/configs/:slug/versions/:versionId',
    summary: 'Read one version of a config',
    scopes: ['configs.read'],
    action: 'read-version',
    reply: versionReply,
    async handle(call) {
      const config = await findConfig(call.em, call, call.params.slug ?? '');
      const version = await findVersion(call.em, config, call.params.versionId ?? '');
      return inBothEnvelopes(toVersion(config, version));
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/config/:workspace/:slug',
    summary: 'Read a config of the workspace by name, slug or id',
    scopes: ['configs.read'],
    tenant: 'either',
    action: 'read',
    reply: readReply,
    async handle(call) {
      const workspace = await findOwnWorkspace(call.em, call, call.params.workspace ?? '');
      const scope = { organisationId: call.organisationId, workspaceId: workspace.id };
      const config = await findConfig(call.em, scope, call.params.slug ?? '');
      const version = await currentVersion(call.em, config);
      call.tag(config.revision);
      return inBothEnvelopes(toDetail(config, version));
    },
  }),
];

function asBoolean(value: boolean | 0 | 1 | undefined): boolean | undefined {
  return value === undefined ? undefined : value === true || value === 1;
}
