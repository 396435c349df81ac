import { findPage } from '../../db/find-page.ts';
import { notFound } from '../../http/errors.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { listCounters, resetCounter, usageByValueKey } from './counters.ts';
import { usagePolicies } from './entity.ts';
import { seenCounters } from './seen-counters.ts';
import { announce, archivePolicy } from './service.ts';
import { toUsageReply } from './to-reply.ts';
import { unmatchedModels } from './unmatched-models.ts';
import {
  countersQuery,
  countersReply,
  createBody,
  createReply,
  listQuery,
  listReply,
  readQuery,
  readReply,
  updateBody,
} from './usage-schema.ts';
import { createUsagePolicy, findUsagePolicy, updateUsagePolicy } from './usage-service.ts';

const shared = { tenant: 'workspace', resource: 'policies', query: tenantQuery, body: null } as const;
const item = '/policies/usage-limits/:policyUsageLimitsId';

export const usagePolicyRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/policies/usage-limits',
    summary: 'List usage limit policies, newest first',
    scopes: ['policies.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, workspaceId, query, services }) {
      const { status, type, target } = query;
      const chosen = Object.entries({ type, target }).filter(([, value]) => value !== undefined);
      const where = { organisationId, workspaceId: workspaceId ?? '', status, ...Object.fromEntries(chosen) };
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(
        em,
        usagePolicies,
        { ...where, ...searchIn(query.search, 'name', 'description') },
        page,
      );
      return { object: 'list', total, data: rows.map((row) => toUsageReply(row, services.clock.now())) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/policies/usage-limits',
    summary: 'Create a usage limit policy: a budget for each group of calls that meet its conditions',
    scopes: ['policies.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const tenant = { organisationId: call.organisationId, workspaceId: call.workspaceId ?? '' };
      const row = await call.write((change) => createUsagePolicy(change, tenant, call.body));
      call.tag(row.revision);
      call.unused(...unmatchedModels(call.body.conditions));
      return { id: row.id, object: 'policy_usage_limits' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: item,
    summary: 'Read a usage limit policy, with the usage of its counters if include_usage is true',
    scopes: ['policies.read'],
    action: 'read',
    query: readQuery,
    reply: readReply,
    async handle(call) {
      const { em, query, services } = call;
      const row = await findUsagePolicy(em, call, call.params.policyUsageLimitsId ?? '', query.status);
      call.tag(row.revision);
      const nowMs = services.clock.now();
      const reply = toUsageReply(row, nowMs);
      if (query.include_usage !== 'true') return reply;
      const seen = await seenCounters(em, call.actor, row);
      return { ...reply, value_key_usage_map: await usageByValueKey(em, row, seen, nowMs) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: item,
    summary: 'Change a usage limit policy, or reset the counter in reset_usage_for_value',
    scopes: ['policies.update'],
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findUsagePolicy(change.tx, call, call.params.policyUsageLimitsId ?? '', 'active', 'to change');
        call.match(found);
        await updateUsagePolicy(change, found, call.body);
      });
      call.unused(...unmatchedModels(call.body.conditions));
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: item,
    summary: 'Archive a usage limit policy',
    scopes: ['policies.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findUsagePolicy(change.tx, call, call.params.policyUsageLimitsId ?? '', 'active', 'to change');
        call.match(found);
        archivePolicy(change, found);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/entities`,
    summary: 'List the counters of a usage limit policy, also an archived one, with their usage',
    scopes: ['policies.read'],
    action: 'list',
    query: countersQuery,
    reply: countersReply,
    async handle(call) {
      const { em, query, services } = call;
      const row = await findUsagePolicy(em, call, call.params.policyUsageLimitsId ?? '', null);
      const seen = await seenCounters(em, call.actor, row);
      const page = { ...pageOf(query), ...seen, status: query.status, search: query.search };
      return listCounters(em, row, page, services.clock.now());
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `${item}/entities/:entityId/reset`,
    hasNoVersion: true,
    summary: 'Set a counter of a usage limit policy to zero',
    scopes: ['policies.update'],
    action: 'reset',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findUsagePolicy(change.tx, call, call.params.policyUsageLimitsId ?? '', 'active', 'to change');
        const now = new Date();
        const isFound = await resetCounter(change.tx, found, { id: call.params.entityId ?? '' }, now.getTime());
        if (!isFound) throw notFound('Entity');
        found.lastResetAt = now;
        announce(change, found);
      });
      return {};
    },
  }),
];
