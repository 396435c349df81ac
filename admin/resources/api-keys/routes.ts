import { AdminError, forbidden } from '../../http/errors.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { pageOf, tenantQuery } from '../../http/schemas.ts';
import { type ApiKey, type ApiKeyType, apiKeys } from './entity.ts';
import { createBody, listQuery, readQuery, rotateBody, updateBody } from './schema.ts';
import { createApiKey, deleteApiKey, findApiKey, rotateApiKey, updateApiKey } from './service.ts';
import { toReply } from './to-reply.ts';

const groups: Readonly<Record<ApiKeyType, string>> = {
  'organisation-service': 'organisation_service_api_keys',
  'workspace-service': 'workspace_service_api_keys',
  'workspace-user': 'workspace_user_api_keys',
};

const anyGroup = (action: string) => Object.values(groups).map((group) => `${group}.${action}`);

const createRoute = (type: ApiKeyType) =>
  defineRoute({
    method: 'POST',
    path: `/api-keys/${type.replace('-', '/')}`,
    scopes: [`${groups[type]}.create`],
    tenant: type === 'organisation-service' ? 'organisation' : 'workspace',
    resource: 'api_keys',
    action: 'create',
    query: tenantQuery,
    body: createBody,
    async handle(call) {
      const { organisationId, workspaceId, actor, body, services } = call;
      const tenant = { organisationId, workspaceId };
      const made = await call.write((change) => createApiKey(change, services.apiKeyPepper, actor, tenant, type, body));
      return { id: made.row.id, key: made.text, object: 'api-key' };
    },
  });

/** API keys (control-plane reference §3.5). */
export const apiKeyRoutes: readonly AdminRoute[] = [
  createRoute('organisation-service'),
  createRoute('workspace-service'),
  createRoute('workspace-user'),
  defineRoute({
    method: 'GET',
    path: '/api-keys',
    scopes: anyGroup('list'),
    tenant: 'either',
    resource: 'api_keys',
    action: 'list',
    query: listQuery,
    body: null,
    async handle(call) {
      const { organisationId, workspaceId, query, em, actor } = call;
      const visible = (Object.keys(groups) as ApiKeyType[]).filter((type) => actor.scopes.has(`${groups[type]}.list`));
      const where = {
        $and: [
          { organisationId, type: { $in: visible }, ...(workspaceId ? { workspaceId } : {}) },
          query.ids === undefined ? {} : { id: { $in: query.ids.split(',') } },
          whereStatus(query.status),
        ],
      };
      const [rows, total] = await em.findAndCount(apiKeys, where, {
        ...pageOf(query),
        orderBy: { createdAt: 'desc', id: 'asc' },
      });
      return { object: 'list', total, data: rows.map(toReply) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api-keys/:id',
    scopes: anyGroup('read'),
    tenant: 'either',
    resource: 'api_keys',
    action: 'read',
    query: readQuery,
    body: null,
    async handle(call) {
      const row = await findApiKey(call.em, call, call.params.id ?? '');
      requireGroup(call.actor.scopes, row, 'read');
      return toReply(row);
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/api-keys/:id',
    scopes: anyGroup('update'),
    tenant: 'either',
    resource: 'api_keys',
    action: 'update',
    query: tenantQuery,
    body: updateBody,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findApiKey(change.tx, call, call.params.id ?? '');
        requireGroup(call.actor.scopes, row, 'update');
        await updateApiKey(change, call.actor, row, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api-keys/:id',
    scopes: anyGroup('delete'),
    tenant: 'either',
    resource: 'api_keys',
    action: 'delete',
    query: tenantQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findApiKey(change.tx, call, call.params.id ?? '');
        requireGroup(call.actor.scopes, row, 'delete');
        if (row.id === call.actor.keyId) throw new AdminError('AB01', 'A key cannot delete itself');
        deleteApiKey(change, row);
      });
      return {};
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api-keys/:id/rotate',
    scopes: anyGroup('rotate'),
    tenant: 'either',
    resource: 'api_keys',
    action: 'rotate',
    query: tenantQuery,
    body: rotateBody,
    async handle(call) {
      const { body, services } = call;
      return call.write(async (change) => {
        const row = await findApiKey(change.tx, call, call.params.id ?? '');
        requireGroup(call.actor.scopes, row, 'rotate');
        const rotated = rotateApiKey(change, services.apiKeyPepper, row, body.key_transition_period_ms);
        return { id: row.id, key: rotated.text, key_transition_expires_at: rotated.transitionEndsAt.toISOString() };
      });
    },
  }),
];

/** The route lets in who may touch some type of key; this asks about the type at hand. */
function requireGroup(scopes: ReadonlySet<string>, row: ApiKey, action: string): void {
  const needed = `${groups[row.type]}.${action}`;
  if (!scopes.has(needed)) throw forbidden(`This key lacks the scope ${needed}`);
}

function whereStatus(status: 'active' | 'exhausted' | 'expired' | undefined) {
  const now = new Date();
  if (status === undefined) return {};
  if (status === 'expired') return { expiresAt: { $lte: now } };
  // No key is ever exhausted while keys have no budgets.
  return status === 'exhausted' ? { id: null as never } : { $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
}
