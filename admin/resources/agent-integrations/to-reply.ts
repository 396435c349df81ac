import type { AgentIntegration } from './entity.ts';
import { shownSettings } from './headers.ts';

/** `isOwner` false: the reader only uses it, so it has no settings and no header names. */
export function toRow(row: AgentIntegration, isOwner: boolean) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description ?? null,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? null,
    type: row.workspaceId ? 'workspace' : 'organisation',
    owner_id: row.ownerId,
    status: row.status,
    url: row.url,
    auth_type: row.authType,
    configurations: isOwner ? shownSettings(row) : {},
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'agent-integration',
  };
}
