import { invalid } from '../../http/errors.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { pageOf, tenantQuery } from '../../http/schemas.ts';
import { type Config, configs, configVersions } from './entity.ts';
import { createBody, listQuery, updateBody } from './schema.ts';
import { archiveConfig, createConfig, findConfig, listVersions, updateConfig } from './service.ts';

/** Saved configs (control-plane reference §3.1). */
export const configRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/configs',
    scopes: ['configs.list'],
    tenant: 'either',
    resource: 'configs',
    action: 'list',
    query: listQuery,
    body: null,
    async handle(call) {
      const { organisationId, workspaceId } = call;
      const where = { organisationId, ...(workspaceId ? { workspaceId } : {}), status: 'active' as const };
      const [rows, total] = await call.em.findAndCount(configs, where, {
        ...pageOf(call.query),
        orderBy: { createdAt: 'desc', id: 'asc' },
      });
      return { success: true, object: 'list', total, data: rows.map(toRow) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/configs',
    scopes: ['configs.create'],
    tenant: 'workspace',
    resource: 'configs',
    action: 'create',
    query: tenantQuery,
    body: createBody,
    async handle(call) {
      const { organisationId, workspaceId, actor, body } = call;
      if (workspaceId === null) throw invalid('workspace_id: required');
      const isDefault = asBoolean(body.isDefault ?? body.is_default) ?? false;
      const made = await call.write((change) =>
        createConfig(change, { organisationId, workspaceId }, actor, { ...body, isDefault }),
      );
      return { success: true, data: { id: made.id, version_id: made.versionId, slug: made.slug, object: 'config' } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/configs/:slug',
    scopes: ['configs.read'],
    tenant: 'workspace',
    resource: 'configs',
    action: 'read',
    query: tenantQuery,
    body: null,
    async handle(call) {
      const config = await findConfig(call.em, call, call.params.slug ?? '');
      const version = await call.em.findOneOrFail(configVersions, { id: config.versionId });
      const versionFields = { config: version.config, format: 'json', type: 'ORG_CONFIG', version_id: version.id };
      return { success: true, data: { ...toRow(config), ...versionFields, object: 'config' } };
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/configs/:slug',
    scopes: ['configs.update'],
    tenant: 'workspace',
    resource: 'configs',
    action: 'update',
    query: tenantQuery,
    body: updateBody,
    async handle(call) {
      const { body, actor } = call;
      return call.write(async (change) => {
        const config = await findConfig(change.tx, call, call.params.slug ?? '');
        await updateConfig(change, config, actor, { ...body, isDefault: asBoolean(body.isDefault ?? body.is_default) });
        return { success: true, data: { version_id: config.versionId } };
      });
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/configs/:slug',
    scopes: ['configs.delete'],
    tenant: 'workspace',
    resource: 'configs',
    action: 'delete',
    query: tenantQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => archiveConfig(change, await findConfig(change.tx, call, call.params.slug ?? '')));
      return {};
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/configs/:slug/versions',
    scopes: ['configs.read'],
    tenant: 'workspace',
    resource: 'configs',
    action: 'list-versions',
    query: tenantQuery,
    body: null,
    async handle(call) {
      const config = await findConfig(call.em, call, call.params.slug ?? '');
      const data = (await listVersions(call.em, config)).map((version) => ({
        ...toRow(config),
        config: JSON.stringify(version.config),
        format: 'json',
        type: 'ORG_CONFIG',
        version_id: version.id,
        version_created_at: version.createdAt.toISOString(),
        version_owner_id: version.ownerId ?? null,
        object: 'config',
      }));
      return { object: 'list', total: data.length, data };
    },
  }),
];

function toRow(config: Config) {
  return {
    id: config.id,
    name: config.name,
    slug: config.slug,
    organisation_id: config.organisationId,
    workspace_id: config.workspaceId,
    is_default: config.isDefault ? 1 : 0,
    status: config.status,
    owner_id: config.ownerId ?? null,
    updated_by: config.updatedBy ?? null,
    created_at: config.createdAt.toISOString(),
    last_updated_at: config.lastUpdatedAt.toISOString(),
  };
}

function asBoolean(value: boolean | 0 | 1 | undefined): boolean | undefined {
  return value === undefined ? undefined : value === true || value === 1;
}
