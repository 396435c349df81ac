import { auditEntries } from '../../audit/entity.ts';
import { findPage } from '../../db/find-page.ts';
import { invalid } from '../../http/errors.ts';
import { RawReply } from '../../http/reply/raw-reply.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { csvSizeMax, type ListQuery, listQuery, listReply, pageSizeMax } from './schema.ts';
import { toCsv } from './to-csv.ts';
import { toRecord } from './to-record.ts';

/** Routes of the audit trail: every change and every refused attempt, newest first. */
export const auditLogRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/audit-logs',
    summary: 'List changes and rejected requests, newest first; as CSV with `accept: text/csv`',
    scopes: ['audit_logs.list'],
    tenant: 'either',
    deletedToo: true,
    resource: 'audit_logs',
    action: 'list',
    query: listQuery,
    body: null,
    reply: listReply,
    alsoProduces: 'text/csv',
    async handle(call) {
      const { organisationId, workspaceId, query } = call;
      if (query.end_time < query.start_time) throw invalid('end_time: must not be before start_time');
      const asCsv = /\btext\/csv\b/i.test(call.accept);
      const size = query.page_size || (asCsv ? csvSizeMax : pageSizeMax);
      if (!asCsv && size > pageSizeMax) throw invalid(`page_size: at most ${pageSizeMax}`);
      const where = {
        organisationId,
        createdAt: { $gte: query.start_time, $lte: query.end_time },
        ...(workspaceId === null ? {} : { workspaceId }),
        ...filtersOf(query),
      };
      const page = { limit: size, offset: query.current_page * size };
      const [rows, total] = await findPage(call.em, auditEntries, where, {
        ...page,
        orderBy: { createdAt: 'desc', seq: 'desc' },
      });
      const records = rows.map(toRecord);
      if (!asCsv) return { records, total, object: 'analytics-graph' };
      return new RawReply(toCsv(csvColumns, records), {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="audit-logs.csv"',
        'x-total-count': String(total),
      });
    },
  }),
];

const csvColumns = Object.keys(listReply.entries.records.item.entries);

/** Only the requested filters: an absent filter adds no condition. */
function filtersOf(query: ListQuery): Record<string, string | number> {
  const wanted = {
    method: query.method,
    uri: query.uri,
    requestId: query.request_id,
    userId: query.user_id,
    userType: query.user_type,
    responseStatusCode: query.response_status_code,
    resourceType: query.resource_type,
    action: query.action,
    clientIp: query.client_ip,
    country: query.country,
  };
  const given = Object.entries(wanted).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return Object.fromEntries(given);
}
