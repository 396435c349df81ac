import type { LogExport } from './entity.ts';

/** A row as replies show it. Additions to the reference: `format`, `exported_records`, `error` and `expires_at`. */
export function toLogExportReply(row: LogExport) {
  return {
    id: row.id,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    filters: Object.fromEntries(Object.entries(row.filters).map(([name, value]) => [name, toText(value)])),
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

/** Joins lists as clients send them, unless a value contains a comma. */
function toText(value: unknown): unknown {
  if (!Array.isArray(value) || value.some((one) => String(one).includes(','))) return value;
  return value.join(',');
}
