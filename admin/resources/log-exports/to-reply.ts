import { isObject } from '../../../core/contract/values/json/json.ts';
import type { LogExport } from './entity.ts';

/** A row as replies show it. Additions to the reference: `format`, `exported_records`, `error` and `expires_at`. */
export function toLogExportReply(row: LogExport) {
  return {
    id: row.id,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    filters: Object.fromEntries(Object.entries(row.filters).map(([name, value]) => [name, toSent(value)])),
    requested_data: row.requestedData,
    format: row.format,
    status: row.status,
    description: row.description ?? null,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    created_by: row.createdByUser ?? row.createdByKey,
    total_records: row.total,
    exported_records: row.rowsDone,
    error: row.error ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
    object: 'export' as const,
  };
}

/** Returns a filter as clients send it: lists are joined, and metadata with one value is a text. */
function toSent(value: unknown): unknown {
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, Array.isArray(one) && one.length === 1 ? one[0] : one]),
    );
  }
  if (!Array.isArray(value)) return value;
  // A list of trace ids ends with the whole text, because an id may contain a comma.
  const whole = value.slice(0, -1).join(',');
  if (value.length > 1 && value.at(-1) === whole) return whole;
  return value.some((one) => String(one).includes(',')) ? value : value.join(',');
}
