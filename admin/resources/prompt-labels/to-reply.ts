import type { PromptLabel } from './entity.ts';

/** A label as replies show it. */
export function toRow(row: PromptLabel) {
  return {
    id: row.id,
    name: row.name,
    description: row.description ?? null,
    color_code: row.colorCode ?? null,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? null,
    is_universal: row.isUniversal,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    status: row.status,
  };
}
