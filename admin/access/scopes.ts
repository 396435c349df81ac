import { standardResources } from '../../core/contract/protocol/resources.ts';
import type { ScopesByType } from '../http/caller/callers.ts';

const crud = ['create', 'read', 'update', 'delete', 'list'] as const;

/** Scopes that keys of workspaces and of organisations may have. */
const workspaceResources = each(crud, [
  ...standardResources.map((name) => name.replaceAll('-', '_')),
  'workspace_integrations',
  'workspace_mcp_integrations',
  'workspace_agent_integrations',
  'mcp_servers',
  'agent_servers',
  'agent_server_skills',
  'agent_integration_skills',
  'agent_server_user_access',
]).concat([
  'prompts.publish',
  'virtual_keys.copy',
  'virtual_keys.duplicate',
  'analytics.view',
  'logs.list',
  'logs.view',
  'logs.export',
]);

const keyManagement = each([...crud, 'rotate'], ['workspace_service_api_keys', 'workspace_user_api_keys']);

/** Scopes that only workspace keys can hold: model calls and related requests. */
export const dataPlaneScopes: readonly string[] = [
  'completions.write',
  'prompts.render',
  'mcp.invoke',
  'agents.invoke',
  'guardrails.invoke',
  'logs.write',
  'logs.read',
  'completions.read',
  'feedbacks.read',
  'feedbacks.write',
  'models.list',
];

/**
 * Returns the scopes that an organisation key or an admin with these scopes may give to keys of workspaces: the same ones, and those for model
 * calls. `logs.read` shows what `logs.view` shows, so it takes that scope.
 */
export function grantableInWorkspaces(own: ReadonlySet<string>): Set<string> {
  return new Set([...own, ...dataPlaneScopes.filter((scope) => scope !== 'logs.read' || own.has('logs.view'))]);
}

const workspaceUser = [
  ...workspaceResources,
  ...dataPlaneScopes,
  'organisation_integrations.list',
  'organisation_mcp_integrations.list',
  'organisation_agent_integrations.list',
  'workspaces.read',
  'workspaces.update',
  'workspaces.list',
];

const organisationOnly = [
  ...each(crud, [
    'organisation_users',
    'organisation_guardrails',
    'deployments',
    'workspaces',
    'workspace_users',
    'organisation_integrations',
    'organisation_mcp_integrations',
    'organisation_agent_integrations',
  ]),
  ...each([...crud, 'rotate'], ['organisation_service_api_keys']),
  'organisation_settings.read',
  'organisation_settings.update',
  'organisation_exclusions.list',
  'organisation_exclusions.update',
  'audit_logs.list',
  'plugins.create',
  'plugins.update',
  'plugins.list',
];

/** All scopes that a key of each type may have. */
export const scopesByType: ScopesByType = {
  'organisation-service': new Set([...workspaceResources, ...keyManagement, ...organisationOnly]),
  'workspace-service': new Set([...workspaceUser, ...keyManagement]),
  'workspace-user': new Set(workspaceUser),
};

/** Scopes that no route requires. */
const withoutRoute: readonly string[] = [
  ...each(['create', 'delete'], ['agent_server_skills', 'agent_integration_skills', 'agent_server_user_access']),
  'feedbacks.read',
  ...['virtual_keys.copy', 'virtual_keys.duplicate', 'completions.read'],
];

/** Returns the scopes of a list that have no effect; `prompts.*` stands for all scopes of a resource. */
export function unusedScopes(scopes: unknown): readonly string[] {
  if (!Array.isArray(scopes)) return [];
  const named = new Set(scopes.flatMap((scope) => (typeof scope === 'string' ? [scope, `${scope.split('.')[0]}.*`] : [])));
  return withoutRoute.filter((pattern) => named.has(pattern));
}

function each(actions: readonly string[], resources: readonly string[]): string[] {
  return resources.flatMap((resource) => actions.map((action) => `${resource}.${action}`));
}
