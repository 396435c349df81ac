import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid, notFound } from '../../http/errors.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { pageEntries, pageOf, tenantEntries } from '../../http/schemas.ts';
import { feedbacks } from '../feedbacks/entity.ts';
import { organisations } from '../organisations/entity.ts';
import { workspaces } from '../workspaces/entity.ts';
import { requestRecords, type StoredRecord } from './entity.ts';
import { toFeedbackReply } from './feedback-reply.ts';
import { type LogVisibility, logVisibility } from './log-visibility.ts';
import { logDetailReply, logListReply } from './reply-schema.ts';
import { type LogNames, toLog } from './to-log.ts';

const readScopes = ['logs.view', 'logs.read', 'logs.write', 'completions.write'];
const traceId = v.pipe(v.string(), v.minLength(1), v.maxLength(255, 'at most 255 characters'));

const listQuery = v.strictObject({ ...tenantEntries, ...pageEntries, trace_id: v.optional(traceId) });

const readQuery = v.strictObject({
  ...tenantEntries,
  path_format: v.optional(v.picklist(['v1', 'v2'], 'v1 or v2 is expected')),
  created_at: v.optional(v.string()),
});

/** Routes of request logs. */
export const logRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/logs',
    summary: 'List request records, newest first',
    reply: logListReply,
    scopes: ['logs.list', ...readScopes],
    tenant: 'either',
    resource: 'logs',
    action: 'list',
    query: listQuery,
    body: null,
    async handle(call) {
      const { em, query } = call;
      const sight = await logVisibility(em, call.actor, call.workspaceId);
      const where = { ...whereSeen(call, sight), ...(query.trace_id === undefined ? {} : { traceId: query.trace_id }) };
      const [rows, total] = await em.findAndCount(requestRecords, where, {
        ...pageOf(query),
        orderBy: { createdAt: 'desc', id: 'asc' },
      });
      const data: unknown[] = [];
      for (const row of rows) data.push(toLog(row, await namesOf(em, row), call.services.settings, sight.metadata));
      return { object: 'list', total, data };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/logs/:id',
    summary: 'Read a request record by its id or trace id',
    reply: logDetailReply,
    scopes: readScopes,
    tenant: 'either',
    resource: 'logs',
    action: 'read',
    query: readQuery,
    body: null,
    async handle(call) {
      const id = call.params.id ?? '';
      if (id.length > 255) throw invalid('id: at most 255 characters');
      const sight = await logVisibility(call.em, call.actor, call.workspaceId);
      const row = await findRecord(call.em, whereSeen(call, sight), id);
      if (!row) throw notFound('Log');
      const log = toLog(row, await namesOf(call.em, row), call.services.settings, sight.metadata);
      return { ...log, feedbacks: await feedbacksOf(call.em, row, sight.metadata) };
    },
  }),
];

type Seen = ReturnType<typeof whereSeen>;

/** Returns the records of the tenant that the caller may see. */
function whereSeen(call: { readonly organisationId: string; readonly workspaceId: string | null }, sight: LogVisibility) {
  return {
    organisationId: call.organisationId,
    ...(call.workspaceId === null ? {} : { workspaceId: call.workspaceId }),
    ...(sight.hiddenWorkspaces.length === 0 ? {} : { $not: { workspaceId: { $in: [...sight.hiddenWorkspaces] } } }),
    ...(sight.ofUser === null ? {} : { record: { userId: sight.ofUser } }),
  };
}

/** Returns the record of this id, else the newest one of the trace of this id. */
async function findRecord(em: EntityManager, seen: Seen, id: string): Promise<StoredRecord | null> {
  const byId = isUuid(id) ? await em.findOne(requestRecords, { ...seen, id }) : null;
  if (byId) return byId;
  return em.findOne(requestRecords, { ...seen, traceId: id }, { orderBy: { createdAt: 'desc' } });
}

/** The oldest feedback of the record's trace, without metadata if the caller must not see it. */
async function feedbacksOf(em: EntityManager, { organisationId, workspaceId, traceId }: StoredRecord, showsMetadata: boolean) {
  if (!organisationId || !workspaceId) return [];
  const page = { orderBy: { createdAt: 'asc', id: 'asc' }, limit: 100 } as const;
  const rows = await em.find(feedbacks, { organisationId, workspaceId, traceId }, page);
  return rows.map((row) => ({ ...toFeedbackReply(row), ...(showsMetadata ? {} : { metadata: {} }) }));
}

/** Refreshed, because the unit of work does not read rows again that it has already read. */
async function namesOf(em: EntityManager, row: StoredRecord): Promise<LogNames> {
  const organisation = row.organisationId ? await em.findOne(organisations, row.organisationId) : null;
  const workspace = row.workspaceId ? await em.findOne(workspaces, row.workspaceId) : null;
  return { organisationName: organisation?.name ?? null, workspaceSlug: workspace?.slug ?? null };
}
