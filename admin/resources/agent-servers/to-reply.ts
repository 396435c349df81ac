import type { Settings } from '../../../config/settings.ts';
import { maskUrlCredentials } from '../../audit/mask-secrets.ts';
import type { AgentIntegration } from '../agent-integrations/entity.ts';
import { shownSettings } from '../agent-integrations/headers.ts';
import type { Workspace } from '../workspaces/entity.ts';
import type { AgentServer } from './entity.ts';

type Public = Pick<Settings, 'publicUrl'>;

function toEntries({ publicUrl }: Public, row: AgentServer, isUsable: boolean) {
  const url = `${publicUrl}/v1/agent/${row.slug}`;
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
    agent_integration_id: row.integrationId,
    url,
    agent_card_url: `${url}/.well-known/agent-card.json`,
    object: 'agent-server',
  };
}

/** A server in a list. `isUsable` is false if its workspace can no longer use the integration. */
export function toRow(
  settings: Public,
  row: AgentServer,
  workspace: Workspace,
  integration: AgentIntegration,
  isUsable: boolean,
) {
  return {
    ...toEntries(settings, row, isUsable),
    agent_integration_slug: integration.slug,
    agent_integration_url: maskUrlCredentials(integration.url),
    auth_type: integration.authType,
    workspace_name: workspace.name,
    workspace_slug: workspace.slug,
  };
}

/**
 * A server alone. It shows no settings of an integration that the organisation shares. Credentials in the URL are masked, as in lists:
 * callers need no right to read the integration.
 */
export function toDetail(settings: Public, row: AgentServer, integration: AgentIntegration, isUsable: boolean) {
  const { id, slug, status, url, authType } = integration;
  const configurations = integration.workspaceId ? shownSettings(integration) : {};
  return {
    ...toEntries(settings, row, isUsable),
    agent_integration_details: { id, slug, status, url: maskUrlCredentials(url), auth_type: authType, configurations },
  };
}
