import { findPage } from '../../db/find-page.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { ratePolicies } from './entity.ts';
import { createBody, createReply, listQuery, listReply, readQuery, readReply, updateBody } from './rate-schema.ts';
import { createRatePolicy, findRatePolicy, updateRatePolicy } from './rate-service.ts';
import { archivePolicy } from './service.ts';
import { toRateReply } from './to-reply.ts';
import { unmatchedModels } from './unmatched-models.ts';

const shared = { tenant: 'workspace', resource: 'policies', query: tenantQuery, body: null } as const;
const item = '/policies/rate-limits/:rateLimitsPolicyId';

export const ratePolicyRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/policies/rate-limits',
    summary: 'List rate limit policies, newest first',
    scopes: ['policies.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, workspaceId, query }) {
      const { status, type, unit, target } = query;
      const chosen = Object.entries({ type, unit, target }).filter(([, value]) => value !== undefined);
      const where = { organisationId, workspaceId: workspaceId ?? '', status, ...Object.fromEntries(chosen) };
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(
        em,
        ratePolicies,
        { ...where, ...searchIn(query.search, 'name', 'description') },
        page,
      );
      return { object: 'list', total, data: rows.map(toRateReply) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/policies/rate-limits',
    summary: 'Create a rate limit policy: a rate limit for each group of calls that meet its conditions',
    scopes: ['policies.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const tenant = { organisationId: call.organisationId, workspaceId: call.workspaceId ?? '' };
      const row = await call.write((change) => createRatePolicy(change, tenant, call.body));
      call.tag(row.revision);
      call.unused(...unmatchedModels(call.body.conditions));
      return { id: row.id, object: 'policy_rate_limits' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: item,
    summary: 'Read a rate limit policy',
    scopes: ['policies.read'],
    action: 'read',
    query: readQuery,
    reply: readReply,
    async handle(call) {
      const row = await findRatePolicy(call.em, call, call.params.rateLimitsPolicyId ?? '', call.query.status);
      call.tag(row.revision);
      return toRateReply(row);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: item,
    summary: 'Change a rate limit policy',
    scopes: ['policies.update'],
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findRatePolicy(change.tx, call, call.params.rateLimitsPolicyId ?? '', 'active', 'to change');
        call.match(found);
        updateRatePolicy(change, found, call.body);
      });
      call.unused(...unmatchedModels(call.body.conditions));
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: item,
    summary: 'Archive a rate limit policy',
    scopes: ['policies.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findRatePolicy(change.tx, call, call.params.rateLimitsPolicyId ?? '', 'active', 'to change');
        call.match(found);
        archivePolicy(change, found);
      });
      return {};
    },
  }),
];
