import * as v from 'valibot';
import { auditEntries } from '../../audit/entity.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { pageEntries, pageOf, tenantEntries } from '../../http/schemas.ts';

const time = v.pipe(
  v.string(),
  v.isoTimestamp('an ISO 8601 time such as 2030-01-31T12:00:00Z is expected'),
  v.transform((value) => new Date(value)),
);
const word = v.pipe(v.string(), v.maxLength(2_048));

const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  start_time: time,
  end_time: time,
  method: v.optional(v.picklist(['POST', 'PUT', 'DELETE'], 'POST, PUT or DELETE is expected')),
  uri: v.optional(word),
  request_id: v.optional(word),
  user_id: v.optional(v.pipe(v.string(), v.uuid('a UUID is expected'))),
  user_type: v.optional(v.picklist(['user', 'api_key'], 'user or api_key is expected')),
  response_status_code: v.optional(v.pipe(v.string(), v.regex(/^\d{3}$/, 'a status code is expected'), v.transform(Number))),
  resource_type: v.optional(word),
  action: v.optional(word),
  client_ip: v.optional(word),
});

/** The audit trail (control-plane reference §3.25): every change and every refused attempt, newest first. */
export const auditLogRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/audit-logs',
    scopes: ['audit_logs.list'],
    tenant: 'either',
    resource: 'audit_logs',
    action: 'list',
    query: listQuery,
    body: null,
    async handle(call) {
      const { organisationId, workspaceId, query } = call;
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
        workspaceId: workspaceId ?? undefined,
      };
      const filters = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
      const where = { organisationId, createdAt: { $gte: query.start_time, $lte: query.end_time }, ...filters };
      const [rows, total] = await call.em.findAndCount(auditEntries, where, {
        ...pageOf(query),
        orderBy: { createdAt: 'desc', id: 'asc' },
      });
      const records = rows.map((row) => ({
        id: row.id,
        timestamp: row.createdAt.toISOString(),
        method: row.method,
        uri: row.uri,
        request_id: row.requestId,
        request_body: row.requestBody ?? null,
        query_params: row.queryParams,
        request_headers: {},
        user_id: row.userId ?? null,
        user_type: row.userType,
        organisation_id: row.organisationId,
        workspace_id: row.workspaceId ?? null,
        response_status_code: row.responseStatusCode,
        error_code: row.errorCode ?? null,
        resource_type: row.resourceType,
        resource_id: row.resourceId ?? null,
        action: row.action,
        client_ip: row.clientIp,
        country: null,
      }));
      return { records, total, object: 'analytics-graph' };
    },
  }),
];
