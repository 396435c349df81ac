import * as v from 'valibot';
import type { ApiKeyType } from '../../../core/contract/values/credentials/api-key.ts';
import type { AdminCall } from '../../http/admin-call.ts';
import { AdminError, invalid } from '../../http/errors.ts';
import { requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { readUsageOf } from '../../leases/read-usage.ts';
import { ownerByDefault } from './check-owner.ts';
import { deleteApiKey } from './delete-key.ts';
import type { ApiKey } from './entity.ts';
import { listKeys } from './list-keys.ts';
import { loadedFields } from './options.ts';
import { findReachable, inAnyGroup, isPlainMember, requireSecretOf, scopeGroups, whereReachable } from './reach.ts';
import { rotateApiKey } from './rotate.ts';
import { createBodyOf, listQuery, type ReadQuery, readQuery, rotateBody, type UpdateBody, updateBody } from './schema.ts';
import { selfRoute } from './self-route.ts';
import { createApiKey, updateApiKey } from './service.ts';
import { apiKeyReply, toReply } from './to-reply.ts';

const resource = 'api_keys';

const createRoute = (type: ApiKeyType, what: string) => {
  const [kind = '', subType = ''] = type.split('-');
  return defineRoute({
    method: 'POST',
    path: `/api-keys/${kind}/${subType}`,
    fixedParams: { type: kind, 'sub-type': subType },
    scopes: [`${scopeGroups[type]}.create`],
    tenant: type === 'organisation-service' ? 'organisation' : 'workspace',
    resource,
    action: 'create',
    summary: `Create ${what}; only this reply contains the secret`,
    query: tenantQuery,
    body: createBodyOf(type),
    reply: v.strictObject({ id: v.string(), key: v.string(), object: v.literal('api-key') }),
    async handle(call) {
      const { organisationId, workspaceId, actor, body, query, services } = call;
      if (type === 'organisation-service' && (body.workspace_id ?? query.workspace_id) !== undefined) {
        throw invalid(
          'workspace_id: organisation keys have no workspace. Create a workspace key with POST /v1/api-keys/workspace/service',
        );
      }
      const userId = type === 'workspace-user' ? (body.user_id ?? (await ownerByDefault(call.em, actor))) : body.user_id;
      if (isPlainMember(actor, workspaceId) && userId !== actor.userId) {
        throw invalid('user_id: members can create keys only for themselves');
      }
      const tenant = { organisationId, workspaceId };
      call.unused(...unusedOf(type, body));
      const made = await call.write((change) =>
        createApiKey(change, services.apiKeyPepper, actor, tenant, type, { ...body, user_id: userId }),
      );
      call.tag(made.row.revision);
      return { id: made.row.id, key: made.text, object: 'api-key' };
    },
  });
};

/** Routes of API keys. */
export const apiKeyRoutes: readonly AdminRoute[] = [
  createRoute('organisation-service', 'a key for the admin API of the whole organisation'),
  createRoute('workspace-service', 'a key for a service in a workspace'),
  createRoute('workspace-user', 'a key for a user of a workspace'),
  selfRoute,
  defineRoute({
    method: 'GET',
    path: '/api-keys',
    scopes: inAnyGroup('list'),
    tenant: 'either',
    resource,
    action: 'list',
    summary: 'List API keys of the types that the caller can list, newest first',
    query: listQuery,
    body: null,
    reply: v.strictObject({ object: v.literal('list'), total: v.number(), data: v.array(apiKeyReply) }),
    async handle(call) {
      const { total, rows } = await listKeys(call.em, whereReachable(call), call.query);
      const usage = await usageOf(call, rows);
      return { object: 'list', total, data: rows.map((row) => toReply(row, usage)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api-keys/:id',
    scopes: inAnyGroup('read'),
    tenant: 'either',
    resource,
    action: 'read',
    summary: 'Read an API key; its secret is masked',
    query: readQuery,
    body: null,
    reply: apiKeyReply,
    async handle(call) {
      const row = await findReachable(call.em, call, 'read');
      call.tag(row.revision);
      return toReply(row, await usageOf(call, [row]));
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/api-keys/:id',
    scopes: inAnyGroup('update'),
    tenant: 'either',
    resource,
    action: 'update',
    summary: 'Change fields of an API key; null clears a field',
    query: tenantQuery,
    body: updateBody,
    reply: v.strictObject({}),
    async handle(call) {
      await call.write(async (change) => {
        const row = await findReachable(change.tx, call, 'update');
        call.match(row);
        requireUnchanged('type', call.body.type, row.type);
        if (call.body.user_id !== undefined) requireUnchanged('user_id', call.body.user_id ?? '', row.userId ?? '');
        await updateApiKey(change, call.actor, row, call.body);
        call.unused(...unusedOf(row.type, call.body));
      });
      return {};
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api-keys/:id',
    scopes: inAnyGroup('delete'),
    tenant: 'either',
    resource,
    action: 'delete',
    summary: 'Delete a key; it is refused from then on',
    query: tenantQuery,
    body: null,
    reply: v.strictObject({}),
    async handle(call) {
      await call.write(async (change) => {
        const row = await findReachable(change.tx, call, 'delete');
        call.match(row);
        if (row.id === call.actor.keyId) throw new AdminError('AB01', 'An API key cannot delete itself');
        await deleteApiKey(change, row);
      });
      return {};
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api-keys/:id/rotate',
    scopes: inAnyGroup('rotate'),
    tenant: 'either',
    resource,
    action: 'rotate',
    summary: 'Rotate the secret of an API key; the previous one stays valid for the transition period',
    query: tenantQuery,
    body: rotateBody,
    reply: v.strictObject({ id: v.string(), key: v.string(), key_transition_expires_at: v.string() }),
    async handle(call) {
      const { body, services } = call;
      return call.write(async (change) => {
        const row = await findReachable(change.tx, call, 'rotate');
        requireSecretOf(call.actor, row);
        call.match(row);
        const rotated = rotateApiKey(change, services.apiKeyPepper, row, body.key_transition_period_ms);
        return { id: row.id, key: rotated.text, key_transition_expires_at: rotated.transitionEndsAt.toISOString() };
      });
    },
  }),
];

/** Organisation keys call no models, so limits and defaults are stored for clients that manage them and have no effect. */
function unusedOf(type: ApiKeyType, body: UpdateBody): readonly string[] {
  if (type !== 'organisation-service') return [];
  const limits = [body.usage_limits ? 'usage_limits' : '', body.rate_limits?.length ? 'rate_limits' : '', ...loadedFields(body)];
  const { config_id, metadata } = body.defaults ?? {};
  const defaults = [config_id ? 'defaults.config_id' : '', Object.keys(metadata ?? {}).length > 0 ? 'defaults.metadata' : ''];
  return [...limits, ...defaults].filter((path) => path !== '');
}

/** Returns the budget usage of these keys if the query asks for it. */
async function usageOf({ query, em, organisationId, services }: AdminCall<ReadQuery, unknown>, rows: readonly ApiKey[]) {
  if (query.include_usage !== 'true' && query.usage !== 'true') return undefined;
  return readUsageOf(em, organisationId, rows, services.clock.now());
}
