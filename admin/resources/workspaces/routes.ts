import { raw } from '@mikro-orm/core';
import * as v from 'valibot';
import { findVisibleWorkspace, visibleIds } from '../../access/visible-workspaces.ts';
import { findPage } from '../../db/find-page.ts';
import { forbidden, unknownReference } from '../../http/errors.ts';
import { containing } from '../../http/filters/search-in.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { readUsage } from '../../leases/read-usage.ts';
import { usageLimitsReply } from '../../limits/schema.ts';
import { deleteWorkspace } from './delete-workspace.ts';
import { workspaces } from './entity.ts';
import { createReply, detailReply, listReply } from './reply-schema.ts';
import { createBody, deleteBody, deleteQuery, listQuery, nameQuery, readQuery, updateBody } from './schema.ts';
import { createWorkspace, updateWorkspace } from './service.ts';
import { toCreated, toDetail, toRow } from './to-reply.ts';

const nothing = v.strictObject({});

/** Routes of workspaces, under `/admin/workspaces` and `/workspaces`. */
export const workspaceRoutes: readonly AdminRoute[] = ['/admin/workspaces', '/workspaces'].flatMap((path) => [
  defineRoute({
    method: 'GET',
    path,
    scopes: ['workspaces.list'],
    tenant: 'either',
    allMemberships: true,
    resource: 'workspaces',
    action: 'list',
    summary: 'List workspaces',
    reply: listReply,
    query: listQuery,
    body: null,
    async handle(call) {
      const { actor, query, em } = call;
      const visible = visibleIds(actor);
      if (visible !== null && query.status.includes('archived')) {
        throw forbidden('Only owners and admins of the organisation can list deleted workspaces');
      }
      const where = {
        organisationId: actor.organisationId,
        status: { $in: query.status },
        ...(visible === null ? {} : { id: { $in: [...visible] } }),
        ...whereName(query),
      };
      const [rows, total] = await findPage(em, workspaces, where, {
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
    summary: 'Create a workspace',
    reply: createReply,
    query: nameQuery,
    body: createBody,
    async handle(call) {
      const { services, actor, body } = call;
      const making = { apiKeyPepper: services.apiKeyPepper, now: services.clock.now() };
      const made = await call.write((change) => createWorkspace(change, actor, body, making));
      call.tag(made.revision);
      return toCreated(await toDetail(call.em, made, call.query.name_format));
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/:workspaceId`,
    scopes: ['workspaces.read'],
    tenant: 'either',
    resource: 'workspaces',
    action: 'read',
    summary: 'Read a workspace with its settings, and with the usage of its budget if include_usage is true',
    reply: detailReply,
    query: readQuery,
    body: null,
    async handle(call) {
      const row = await findVisibleWorkspace(call.em, call.actor, call.params.workspaceId ?? '');
      call.tag(row.revision);
      const detail = await toDetail(call.em, row, call.query.name_format);
      const { include_usage, usage_id } = call.query;
      if (include_usage !== 'true' && usage_id === undefined) return detail;
      const budgets = row.usageLimits ?? [];
      if (usage_id !== undefined && !budgets.some(({ id }) => id === usage_id.toLowerCase()))
        throw unknownReference('usage_id', 'Budget');
      const usage = await readUsage(call.em, row.organisationId, budgets, null, call.services.clock.now());
      return { ...detail, usage_limits: budgets.map((budget) => usageLimitsReply(budget, usage.get(budget.id))) };
    },
  }),
  defineRoute({
    method: 'PUT',
    path: `${path}/:workspaceId`,
    scopes: ['workspaces.update'],
    tenant: 'either',
    resource: 'workspaces',
    action: 'update',
    summary: 'Change a workspace',
    reply: nothing,
    query: nameQuery,
    body: updateBody,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findVisibleWorkspace(change.tx, call.actor, call.params.workspaceId ?? '');
        call.match(row);
        await updateWorkspace(change, call.actor, row, call.body, call.query.name_format);
      });
      return {};
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/:workspaceId`,
    scopes: ['workspaces.delete'],
    tenant: 'organisation',
    resource: 'workspaces',
    action: 'delete',
    summary: 'Delete a workspace: its keys stop, and what is in it goes with it',
    reply: nothing,
    query: deleteQuery,
    body: deleteBody,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findVisibleWorkspace(change.tx, call.actor, call.params.workspaceId ?? '');
        call.match(row);
        await deleteWorkspace(change, row, call.body, call.services.dependents, call.actor);
      });
      return {};
    },
  }),
]);

/** Matches the name without and with the icon, as replies show it. */
function whereName({ name, exact_name }: { readonly name?: string | undefined; readonly exact_name?: string | undefined }) {
  if (exact_name === undefined && (name === undefined || name === '')) return {};
  const is = exact_name ?? { $ilike: containing(name ?? '') };
  return { $or: [{ name: is }, { [raw((alias) => `${alias}.icon || ' ' || ${alias}.name`)]: is }] };
}
