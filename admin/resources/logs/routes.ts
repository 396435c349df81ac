import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { lacksScope } from '../../http/caller/require-scope.ts';
import { invalid, notFound } from '../../http/errors.ts';
import { pageEntries, pageOf, queryFlag, tenantEntries, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { feedbacks } from '../feedbacks/entity.ts';
import { contentLeftOut, readContent, shownExchange, withContent } from './contents.ts';
import { sealCustomContents } from './custom-content.ts';
import { insertBody, insertReply } from './custom-log-schema.ts';
import type { StoredRecord } from './entity.ts';
import { toFeedbackReply } from './feedback-reply.ts';
import { logFilterEntries } from './filters.ts';
import { logGroupRoutes } from './group-routes.ts';
import { withoutMetadataHeaders } from './hide-metadata.ts';
import { type LogStore, logStoreOf } from './log-store.ts';
import { logListScopes, logReadScopes, logVisibility } from './log-visibility.ts';
import { readNames } from './read-names.ts';
import { replayBody, replayLog, replayReply } from './replay-log.ts';
import { logDetailReply, logListReply } from './reply-schema.ts';
import { searchLogs } from './search-logs.ts';
import { type LogQuery, matchingLogs, seenLogs } from './seen-logs.ts';
import { toCustomRecord } from './to-custom-record.ts';
import { toLog } from './to-log.ts';

/** Maximum number of records that `current_page` skips: the database reads all of them. Cursors have no limit. */
const offsetMax = 10_000;

/** Returns the milliseconds that counting may take after the page. Both are read within the time limit of requests of the admin API. */
const countMs = (tookMs: number) => Math.max(200, Math.round(1_800 - tookMs));

const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  ...logFilterEntries,
  /** `next_cursor` of the previous page. */
  cursor: v.optional(v.pipe(v.string(), v.maxLength(200, 'at most 200 characters'))),
  include_total: queryFlag,
  /** Words that the stored bodies of a request must contain. */
  search: v.optional(
    v.pipe(v.string(), v.trim(), v.minLength(3, 'at least 3 characters'), v.maxLength(200, 'at most 200 characters')),
  ),
});

const readQuery = v.strictObject({
  ...tenantEntries,
  path_format: v.optional(oneOf(['v1', 'v2'])),
  created_at: v.optional(v.string()),
  /** `hooks`: the guardrails of the request, without headers and bodies. */
  type: v.optional(oneOf(['hooks'])),
});

/** Routes of request logs. */
export const logRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/logs',
    summary: 'List request records, newest first',
    reply: logListReply,
    scopes: logListScopes,
    tenant: 'either',
    resource: 'logs',
    action: 'list',
    query: listQuery,
    body: null,
    async handle(call) {
      const { em, query } = call;
      const { clock } = call.services;
      const beganMs = clock.elapsed();
      const sight = await logVisibility(em, call.actor, call.workspaceId);
      const store = logStoreOf(call.services, em);
      const selected = matchingLogs(call, sight, query);
      const { limit: size, offset } = pageOf(query);
      if (query.cursor !== undefined && offset > 0) throw invalid('cursor: cannot be combined with current_page');
      if (offset > offsetMax) throw invalid(`current_page: skips more than ${offsetMax} records. Use cursor instead`);
      const page = { size, offset, after: query.cursor ?? null };
      const { search } = query;
      if (search !== undefined && (offset > 0 || query.include_total === 'true'))
        throw invalid('search: cannot be combined with current_page and include_total. Use cursor instead');
      const { rows, next } = await (search === undefined
        ? store.listInTime(selected, page)
        : searchLogs(em, call.services, store, selected, page, search));
      if (search !== undefined && rows.length === 0 && page.after === null && call.services.settings.logBodies === 'off')
        throw invalid(
          'search: nothing found, because LOG_BODIES is off and no bodies are stored. Set it to database or object_store',
        );
      const total = query.include_total === 'true' ? await store.countInTime(selected, countMs(clock.elapsed() - beganMs)) : null;
      const namesOf = await readNames(em, rows);
      const data = rows.map((row) => toLog(row, namesOf(row), call.services.settings, sight.metadata));
      return { object: 'list', total, has_more: next !== null, next_cursor: next, data };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/logs',
    summary: 'Insert logs of calls that were made without the gateway; needs both scopes',
    reply: insertReply,
    scopes: ['logs.write', 'completions.write'],
    tenant: 'workspace',
    resource: 'logs',
    action: 'insert',
    query: tenantQuery,
    body: insertBody,
    async handle({ em, actor, organisationId, workspaceId, body, services, claim, option }) {
      const missing = ['logs.write', 'completions.write'].find((scope) => !actor.scopes.has(scope));
      if (missing !== undefined) throw lacksScope(actor, [missing]);
      if (!/^(?:false)?$/.test(option('override-service-log-usage')))
        throw invalid(
          `${services.settings.headerPrefix}override-service-log-usage: budgets count calls through the gateway only. Leave the header out`,
        );
      const createdAt = new Date(services.clock.now()).toISOString();
      const sender = { createdAt, organisationId, workspaceId, apiKeyId: actor.keyId, userId: actor.userId };
      const logs = Array.isArray(body) ? body : [body];
      const records = logs.map((log) => toCustomRecord(log, sender));
      const insertContents =
        workspaceId === null ? null : await sealCustomContents(em, services, { organisationId, workspaceId }, logs, records);
      await services.storeRecords(records, undefined, async (tx) => {
        await claim(tx);
        await insertContents?.(tx);
      });
      return { status: 'success', message: 'The logs are stored', log_ids: records.map(({ id }) => id) };
    },
  }),
  ...logGroupRoutes,
  defineRoute({
    method: 'GET',
    path: '/logs/:id',
    summary: 'Read a request record by its id or trace id',
    reply: logDetailReply,
    scopes: logReadScopes,
    tenant: 'either',
    resource: 'logs',
    action: 'read',
    query: readQuery,
    body: null,
    async handle(call) {
      const id = call.params.id ?? '';
      if (id.length > 255) throw invalid('id: at most 255 characters');
      const sight = await logVisibility(call.em, call.actor, call.workspaceId);
      const row = await findRecord(logStoreOf(call.services, call.em), seenLogs(call, sight), id);
      if (!row) throw notFound('Log');
      const namesOf = await readNames(call.em, [row]);
      const log = toLog(row, namesOf(row), call.services.settings, sight.metadata);
      const isLeftOut = call.query.type === 'hooks';
      const stored = isLeftOut ? contentLeftOut : await readContent(call.em, call.services, call.organisationId, row);
      const content = stored && !sight.metadata ? withoutMetadataHeaders(stored, call.services.settings) : stored;
      return {
        ...withContent(log, content),
        prompt: content?.prompt ?? null,
        ...shownExchange(log, content?.exchange),
        feedbacks: await feedbacksOf(call.em, row, sight.metadata),
      };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/logs/:id/replay',
    summary: 'Send the stored request of a log again, with the key of the caller; needs completions.write',
    reply: replayReply,
    scopes: ['completions.write'],
    tenant: 'workspace',
    resource: 'logs',
    action: 'replay',
    query: tenantQuery,
    body: replayBody,
    async handle(call) {
      const sight = await logVisibility(call.em, call.actor, call.workspaceId);
      const row = await findRecord(logStoreOf(call.services, call.em), seenLogs(call, sight), call.params.id ?? '');
      if (!row) throw notFound('Log');
      return replayLog(call, row);
    },
  }),
];

/** Returns the record of this id, else the newest one of the trace of this id. */
async function findRecord(store: LogStore, seen: LogQuery, id: string): Promise<StoredRecord | null> {
  const page = { size: 1, offset: 0, after: null };
  const byId = isUuid(id) ? await store.list({ ...seen, id }, page) : null;
  if (byId?.rows[0]) return byId.rows[0];
  const byTrace = await store.list({ ...seen, filters: { trace_id: [id] } }, page);
  return byTrace.rows[0] ?? null;
}

/** The oldest feedback of the record's trace, without metadata if the caller must not see it. */
async function feedbacksOf(em: EntityManager, { organisationId, workspaceId, traceId }: StoredRecord, showsMetadata: boolean) {
  if (!organisationId || !workspaceId) return [];
  const page = { orderBy: { createdAt: 'asc', id: 'asc' }, limit: 100 } as const;
  const rows = await em.find(feedbacks, { organisationId, workspaceId, traceId }, page);
  return rows.map((row) => ({ ...toFeedbackReply(row), ...(showsMetadata ? {} : { metadata: {} }) }));
}
