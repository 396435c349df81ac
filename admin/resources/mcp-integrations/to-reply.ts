import type { Mapping } from '../integrations/secret-mappings/mapping-table.ts';
import { mappingsReplyOf } from '../integrations/secret-mappings/secret-mappings.ts';
import type { McpIntegration } from './entity.ts';
import { shownSettings } from './headers.ts';

/** `isOwner` false: the reader only uses it, so it has no settings and no header names. */
export function toRow(row: McpIntegration, isOwner: boolean, mapped: readonly Mapping[] = []) {
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
    transport: row.transport,
    configurations: isOwner ? shownSettings(row) : {},
    secret_mappings: isOwner ? mappingsReplyOf(mapped, 'configurations') : [],
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'mcp-integration',
  };
}

/** The last reply of the server to `initialize`, and the state of its synchronisation. */
export function toMetadata({ serverInfo, syncStatus, syncError, lastSyncedAt }: McpIntegration) {
  const info = serverInfo ?? {};
  const textOf = (name: string) => (typeof info[name] === 'string' ? info[name] : null);
  return {
    server_name: textOf('name'),
    server_version: textOf('version'),
    title: textOf('title'),
    description: textOf('description'),
    website_url: textOf('website_url'),
    icons: Array.isArray(info.icons) && info.icons.length > 0 ? info.icons : null,
    protocol_version: textOf('protocol_version'),
    capability_flags: (info.capabilities as Record<string, unknown> | undefined) ?? null,
    instructions: textOf('instructions'),
    sync_status: syncStatus ?? null,
    last_synced_at: lastSyncedAt?.toISOString() ?? null,
    sync_error: syncError ?? null,
    object: 'mcp-integration-metadata',
  };
}
