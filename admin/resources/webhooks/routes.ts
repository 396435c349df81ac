import { findPage } from '../../db/find-page.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { webhooks } from './entity.ts';
import { createBody, createReply, listQuery, listReply, readReply, secretReply, tenantBody, updateBody } from './schema.ts';
import { createWebhook, findWebhook, rotateSecret, updateWebhook, workspacesWithWebhook } from './service.ts';
import { toWebhookReply } from './to-reply.ts';

/** Members of all routes of webhooks and their deliveries. */
export const shared = {
  tenant: 'workspace',
  resource: 'webhooks',
  workspacesWith: workspacesWithWebhook,
  query: tenantQuery,
  body: null,
} as const;

export const webhookRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/webhooks',
    summary: 'List webhooks, newest first',
    scopes: ['webhooks.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, workspaceId, query }) {
      const where = { organisationId, workspaceId: workspaceId ?? '', ...searchIn(query.search, 'name', 'slug') };
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, webhooks, where, page);
      return { object: 'list', total, data: rows.map(toWebhookReply) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/webhooks',
    summary: 'Create a webhook',
    scopes: ['webhooks.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const tenant = { organisationId: call.organisationId, workspaceId: call.workspaceId ?? '' };
      const { webhook, secret } = await call.write((change) => createWebhook(change, call.services, tenant, call.body));
      call.tag(webhook.revision);
      return { id: webhook.id, slug: webhook.slug, secret, object: 'webhook' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/webhooks/:slug',
    summary: 'Read a webhook',
    scopes: ['webhooks.read'],
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await findWebhook(call.em, call, call.params.slug ?? '');
      call.tag(row.revision);
      return toWebhookReply(row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/webhooks/:slug',
    summary: 'Change a webhook',
    scopes: ['webhooks.update'],
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findWebhook(change.tx, call, call.params.slug ?? '');
        call.match(found);
        updateWebhook(change, call.services, found, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/webhooks/:slug',
    summary: 'Delete a webhook',
    scopes: ['webhooks.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findWebhook(change.tx, call, call.params.slug ?? '');
        call.match(found);
        change.tx.remove(found);
        change.about(found);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/webhooks/:slug/rotate-secret',
    summary: 'Replace the signing secret of a webhook',
    scopes: ['webhooks.update'],
    action: 'rotate',
    body: tenantBody,
    reply: secretReply,
    async handle(call) {
      const { row, secret } = await call.write(async (change) => {
        const found = await findWebhook(change.tx, call, call.params.slug ?? '');
        call.match(found);
        return { row: found, secret: await rotateSecret(change, call.services, found) };
      });
      return { id: row.id, secret, object: 'webhook' };
    },
  }),
];
