import type { EntityManager } from '../../db/open-database.ts';
import { workspaces } from '../workspaces/entity.ts';
import { type McpIntegration, mcpIntegrationWorkspaces } from './entity.ts';
import { shownSettings } from './headers.ts';

/** `isOwner` false: the reader only uses it, so it has no settings and no header names. */
export function toRow(row: McpIntegration, isOwner: boolean) {
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
    secret_mappings: [],
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'mcp-integration',
  };
}

export function globalAccessOf(row: McpIntegration) {
  return row.workspaceId ? null : { enabled: row.globalWorkspaceAccess };
}

/** Counts the active workspaces that may use each integration of the organisation, by its id. */
export async function countWorkspaces(em: EntityManager, rows: readonly McpIntegration[]): Promise<Map<string, number>> {
  const shared = rows.filter(({ workspaceId }) => !workspaceId);
  const [first] = shared;
  if (!first) return new Map();
  const { organisationId } = first;
  const active = new Set((await em.find(workspaces, { organisationId, status: 'active' })).map(({ id }) => id));
  const decisions = await em.find(mcpIntegrationWorkspaces, {
    organisationId,
    integrationId: { $in: shared.map(({ id }) => id) },
  });
  return new Map(
    shared.map((row) => {
      const own = decisions.filter((one) => one.integrationId === row.id && active.has(one.workspaceId));
      const opened = own.filter(({ enabled }) => enabled).length;
      return [row.id, row.globalWorkspaceAccess ? active.size - (own.length - opened) : opened];
    }),
  );
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
    icons: Array.isArray(info.icons) ? info.icons : [],
    protocol_version: textOf('protocol_version'),
    capability_flags: (info.capabilities as Record<string, unknown> | undefined) ?? null,
    instructions: textOf('instructions'),
    sync_status: syncStatus ?? null,
    last_synced_at: lastSyncedAt?.toISOString() ?? null,
    sync_error: syncError ?? null,
    object: 'mcp-integration-metadata',
  };
}
