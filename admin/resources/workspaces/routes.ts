import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { pageOf } from '../../http/schemas.ts';
import { type Workspace, workspaces } from './entity.ts';
import { createBody, listQuery, readQuery, updateBody } from './schema.ts';
import { createWorkspace, findVisibleWorkspace, updateWorkspace } from './service.ts';

/** Workspaces (control-plane reference §3.8), under `/admin/workspaces` and `/workspaces`. */
export const workspaceRoutes: readonly AdminRoute[] = ['/admin/workspaces', '/workspaces'].flatMap((path) => [
  defineRoute({
    method: 'GET',
    path,
    scopes: ['workspaces.list'],
    tenant: 'either',
    resource: 'workspaces',
    action: 'list',
    query: listQuery,
    body: null,
    async handle(call) {
      const { actor, query, em } = call;
      const where = {
        organisationId: actor.organisationId,
        status: 'active' as const,
        ...(actor.workspaceId === null ? {} : { id: actor.workspaceId }),
        ...(query.exact_name === undefined
          ? query.name === undefined
            ? {}
            : { name: { $ilike: `%${query.name.replace(/[\\%_]/g, '\\$&')}%` } }
          : { name: query.exact_name }),
      };
      const [rows, total] = await em.findAndCount(workspaces, where, {
        ...pageOf(query),
        orderBy: { createdAt: 'asc', id: 'asc' },
      });
      return { object: 'list', total, data: rows.map((row) => toRow(row, query.name_format)) };
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    scopes: ['workspaces.create'],
    tenant: 'organisation',
    resource: 'workspaces',
    action: 'create',
    query: readQuery,
    body: createBody,
    async handle(call) {
      const made = await call.write(async (change) => createWorkspace(change, call.organisationId, call.body));
      return toDetail(made, undefined);
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/:workspaceId`,
    scopes: ['workspaces.read'],
    tenant: 'either',
    resource: 'workspaces',
    action: 'read',
    query: readQuery,
    body: null,
    async handle(call) {
      const row = await findVisibleWorkspace(call.em, call.actor, call.params.workspaceId ?? '');
      return toDetail(row, call.query.name_format);
    },
  }),
  defineRoute({
    method: 'PUT',
    path: `${path}/:workspaceId`,
    scopes: ['workspaces.update'],
    tenant: 'either',
    resource: 'workspaces',
    action: 'update',
    query: readQuery,
    body: updateBody,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findVisibleWorkspace(change.tx, call.actor, call.params.workspaceId ?? '');
        updateWorkspace(change, row, call.body);
      });
      return {};
    },
  }),
]);

type NameFormat = 'display' | 'plain' | undefined;

/** The icon stands before the name unless the caller asks for the name alone. */
function nameOf(row: Workspace, format: NameFormat): string {
  return row.icon && format !== 'plain' ? `${row.icon} ${row.name}` : row.name;
}

function toRow(row: Workspace, format: NameFormat) {
  return {
    id: row.id,
    slug: row.slug,
    name: nameOf(row, format),
    icon: row.icon ?? null,
    description: row.description ?? null,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    is_default: row.isDefault ? 1 : 0,
    status: row.status,
    defaults: { metadata: row.metadata, is_default: row.isDefault ? 1 : 0, object: 'workspace' },
    object: 'workspace',
  };
}

function toDetail(row: Workspace, format: NameFormat) {
  const { defaults, ...rest } = toRow(row, format);
  const guardrails = { input_guardrails: [], output_guardrails: [], user_api_key_config: null };
  return { ...rest, defaults: { ...defaults, ...guardrails }, users: [], usage_limits: [], rate_limits: [] };
}
