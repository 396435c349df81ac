import { findPage } from '../../db/find-page.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { maskedFields } from '../../secrets/sealed-fields.ts';
import { type Plugin, plugins } from './entity.ts';
import { createBody, listQuery, listReply, pluginReply, query, updateBody } from './schema.ts';
import { checkCredentials, createPlugin, findPlugin, updatePlugin } from './service.ts';

const shared = { tenant: 'organisation', resource: 'plugins' } as const;

/** Routes of the credentials of partners. */
export const pluginRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/plugins',
    summary: 'List the partners of guardrail checks, their credentials masked',
    scopes: ['plugins.list'],
    action: 'list',
    query: listQuery,
    body: null,
    reply: listReply,
    async handle({ em, organisationId, query: page }) {
      const order = { orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, plugins, { organisationId }, { ...pageOf(page), ...order });
      return { object: 'list', total, data: rows.map(toReply) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/plugins',
    summary: 'Store the credentials of a partner of guardrail checks',
    scopes: ['plugins.create'],
    action: 'create',
    query,
    body: createBody,
    reply: pluginReply,
    async handle(call) {
      const { body, services, actor } = call;
      await checkCredentials(services, body.plugin_provider_id, body.credentials);
      const row = await call.write((change) => createPlugin(change, services.vault, actor, body));
      call.tag(row.revision);
      return toReply(row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/plugins/:pluginId',
    summary: 'Change or archive the credentials of a partner',
    scopes: ['plugins.update'],
    action: 'update',
    query,
    body: updateBody,
    reply: pluginReply,
    async handle(call) {
      const { body, services, organisationId } = call;
      const name = call.params.pluginId ?? '';
      const { partner } = await findPlugin(call.em, organisationId, name);
      if (body.credentials) await checkCredentials(services, partner, body.credentials);
      const row = await call.write(async (change) => {
        const found = await findPlugin(change.tx, organisationId, name);
        call.match(found);
        await updatePlugin(change, services.vault, found, body);
        return found;
      });
      return toReply(row);
    },
  }),
];

function toReply(row: Plugin) {
  return {
    id: row.id,
    integration_id: row.id,
    integration_slug: row.partner,
    plugin_provider_id: row.partner,
    plugin_provider_slug: row.partner,
    name: row.name ?? null,
    status: row.status,
    credentials: maskedFields(row.secretHints),
    owner_id: row.ownerId,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'plugin',
  };
}
