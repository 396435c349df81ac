import type { AuditEntry } from '../../audit/entity.ts';
import type { AuditRecord } from './schema.ts';

/** Converts an audit entry to the form of the reference. `id`, `error_code` and `resource_id` are additions of this service. */
export function toRecord(row: AuditEntry): AuditRecord {
  return {
    id: row.id,
    timestamp: row.createdAt.toISOString(),
    method: row.method as AuditRecord['method'],
    uri: row.uri,
    request_id: row.requestId,
    request_body: row.requestBody == null ? null : JSON.stringify(row.requestBody),
    query_params: JSON.stringify(row.queryParams),
    request_headers: JSON.stringify(row.requestHeaders ?? {}),
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
    country: row.country ?? null,
  };
}
