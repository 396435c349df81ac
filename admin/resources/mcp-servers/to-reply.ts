import type { Settings } from '../../../config/settings.ts';
import { maskUrlCredentials } from '../../audit/mask-secrets.ts';
import type { McpIntegration } from '../mcp-integrations/entity.ts';
import { shownSettings } from '../mcp-integrations/headers.ts';
import type { Workspace } from '../workspaces/entity.ts';
import type { McpServer } from './entity.ts';

type Public = Pick<Settings, 'mcpPublicUrl'>;

function toEntries({ mcpPublicUrl }: Public, row: McpServer, workspace: Workspace, isUsable: boolean) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description ?? null,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    owner_id: row.ownerId,
    status: isUsable ? row.status : 'archived',
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    mcp_integration_id: row.integrationId,
    tool_search: row.toolSearch,
    url: `${mcpPublicUrl}/${workspace.slug}/${row.slug}/mcp`,
    object: 'mcp-server',
  };
}

/** A server in a list. `isUsable` is false if its workspace can no longer use the integration. */
export function toRow(settings: Public, row: McpServer, workspace: Workspace, integration: McpIntegration, isUsable: boolean) {
  return {
    ...toEntries(settings, row, workspace, isUsable),
    mcp_integration_slug: integration.slug,
    mcp_integration_url: maskUrlCredentials(integration.url),
    auth_type: integration.authType,
    workspace_name: workspace.name,
    workspace_slug: workspace.slug,
  };
}

/**
 * A server alone. It shows no settings of an integration that the organisation shares. Credentials in the URL are masked, as in lists:
 * callers need no right to read the integration.
 */
export function toDetail(settings: Public, row: McpServer, workspace: Workspace, integration: McpIntegration, isUsable: boolean) {
  const { id, slug, status, url, transport, authType } = integration;
  return {
    ...toEntries(settings, row, workspace, isUsable),
    mcp_integration_details: {
      ...{ id, slug, status, url: maskUrlCredentials(url), transport, auth_type: authType },
      configurations: integration.workspaceId ? shownSettings(integration) : {},
    },
  };
}
