import type { OrganisationRole, WorkspaceRole } from '../http/caller/actor.ts';
import type { SecuritySettings } from '../resources/organisations/security-settings.ts';
import { dataPlaneScopes, scopesByType } from './scopes.ts';

type LimitedRole = 'admin' | 'manager' | 'member';

/** Scopes that one security setting removes or adds when it is set. */
interface Rule {
  readonly setting: keyof SecuritySettings;
  /** Affected role: `admin` is an organisation admin, the others are workspace roles. */
  readonly role: LimitedRole;
  readonly scopes: readonly string[];
}

const all = scopesByType['organisation-service'];
const read = (group: string) => [`${group}.read`, `${group}.list`];
const write = (group: string) => [`${group}.create`, `${group}.update`, `${group}.delete`];
const logs = ['logs.list', 'logs.view', 'logs.export', 'logs.read'];
const userKeys = 'workspace_user_api_keys';
const serviceKeys = 'workspace_service_api_keys';

/** Security settings that determine scopes. The settings missing here determine fields of rows. */
export const securityRules: readonly Rule[] = [
  { setting: 'membersViewLogs', role: 'member', scopes: logs },
  { setting: 'managersViewLogs', role: 'manager', scopes: logs },
  { setting: 'organisationAdminsViewLogs', role: 'admin', scopes: logs },
  { setting: 'membersViewPrompts', role: 'member', scopes: read('prompts') },
  { setting: 'managersViewPrompts', role: 'manager', scopes: read('prompts') },
  { setting: 'membersWritePrompts', role: 'member', scopes: [...write('prompts'), 'prompts.publish'] },
  { setting: 'managersWritePrompts', role: 'manager', scopes: [...write('prompts'), 'prompts.publish'] },
  { setting: 'membersViewAnalytics', role: 'member', scopes: ['analytics.view'] },
  { setting: 'managersViewAnalytics', role: 'manager', scopes: ['analytics.view'] },
  { setting: 'membersViewProviders', role: 'member', scopes: [...read('providers'), ...read('virtual_keys')] },
  { setting: 'managersViewProviders', role: 'manager', scopes: [...read('providers'), ...read('virtual_keys')] },
  { setting: 'membersWriteProviders', role: 'member', scopes: [...write('providers'), ...write('virtual_keys')] },
  {
    setting: 'managersWriteProviders',
    role: 'manager',
    scopes: [...write('providers'), ...write('virtual_keys'), 'virtual_keys.copy', 'virtual_keys.duplicate'],
  },
  { setting: 'membersViewConfigs', role: 'member', scopes: read('configs') },
  { setting: 'managersViewConfigs', role: 'manager', scopes: read('configs') },
  { setting: 'membersWriteConfigs', role: 'member', scopes: write('configs') },
  { setting: 'managersWriteConfigs', role: 'manager', scopes: write('configs') },
  { setting: 'membersViewGuardrails', role: 'member', scopes: read('guardrails') },
  { setting: 'managersViewGuardrails', role: 'manager', scopes: read('guardrails') },
  { setting: 'membersWriteGuardrails', role: 'member', scopes: write('guardrails') },
  { setting: 'managersWriteGuardrails', role: 'manager', scopes: write('guardrails') },
  { setting: 'managersWriteWsIntegrations', role: 'manager', scopes: write('workspace_integrations') },
  { setting: 'managersWriteWsMcpIntegrations', role: 'manager', scopes: write('workspace_mcp_integrations') },
  { setting: 'managersWriteMcpServers', role: 'manager', scopes: write('mcp_servers') },
  { setting: 'membersViewApiKeys', role: 'member', scopes: read(userKeys) },
  { setting: 'managersViewApiKeys', role: 'manager', scopes: [...read(userKeys), ...read(serviceKeys)] },
  { setting: 'membersWriteApiKeys', role: 'member', scopes: [...write(userKeys), `${userKeys}.rotate`] },
  {
    setting: 'managersWriteApiKeys',
    role: 'manager',
    scopes: [userKeys, serviceKeys].flatMap((group) => [...write(group), `${group}.rotate`]),
  },
];

/** Secret references reach beyond one workspace, so they are for owners and admins of the organisation. */
const notOfWorkspaces = (scope: string) => !scope.startsWith('secret_references.');
const isView = (scope: string) => /\.(read|list|view|export)$/.test(scope);
const ofWorkspaceKeys = [...scopesByType['workspace-service']].filter(notOfWorkspaces);
const membersOfWorkspace = ['create', 'read', 'update', 'delete', 'list'].map((action) => `workspace_users.${action}`);

const managing = [...ofWorkspaceKeys, ...membersOfWorkspace];
const possibleInWorkspaces: ReadonlySet<string> = new Set(managing);
/** Addresses of webhooks may hold credentials. */
const notOfMembers = (scope: string) => !scope.startsWith('webhooks.');
const viewing = [...scopesByType['workspace-user']].filter(
  (scope) => notOfWorkspaces(scope) && notOfMembers(scope) && isView(scope),
);

/** Scopes before settings apply. Two settings give members more than this: see `securityRules`. */
const workspaceBase: Readonly<Record<WorkspaceRole, readonly string[]>> = {
  admin: managing,
  manager: managing,
  member: [...viewing, ...dataPlaneScopes],
  // Read access without model calls. Viewers read through logs what data-plane scopes would read.
  viewer: viewing.filter((scope) => !dataPlaneScopes.includes(scope)),
};

/**
 * Rules that apply to each workspace role. The settings treat admins as managers, and viewers as members with read access only.
 */
const ruledAs: Readonly<Record<WorkspaceRole, LimitedRole>> = {
  admin: 'manager',
  manager: 'manager',
  member: 'member',
  viewer: 'member',
};

/** Returns the scopes of a role in a workspace with these settings. */
export function workspaceRoleScopes(role: WorkspaceRole, settings: SecuritySettings): Set<string> {
  const scopes = applyRules(new Set(workspaceBase[role]), possibleInWorkspaces, ruledAs[role], settings);
  if (role !== 'viewer') return scopes;
  return new Set([...scopes].filter(isView));
}

/**
 * Returns the scopes of an owner or admin in all workspaces. Plain members have only the scopes of their workspaces. The settings
 * are those of the current workspace, or of the organisation.
 */
export function organisationRoleScopes(role: OrganisationRole, settings: SecuritySettings): Set<string> {
  if (role === 'member') return new Set();
  return role === 'owner' ? new Set(all) : applyRules(new Set(all), all, 'admin', settings);
}

/**
 * Returns the scopes of an owner's or admin's own key in a workspace. Owners and admins act as workspace admins without
 * membership.
 */
export function implicitAdminScopes(role: 'owner' | 'admin', settings: SecuritySettings): Set<string> {
  const scopes = new Set(managing);
  return role === 'owner' ? scopes : applyRules(scopes, possibleInWorkspaces, 'admin', settings);
}

/** No rule adds a scope outside `possible`. */
function applyRules(
  scopes: Set<string>,
  possible: ReadonlySet<string>,
  role: LimitedRole,
  settings: SecuritySettings,
): Set<string> {
  for (const rule of securityRules) {
    if (rule.role !== role) continue;
    for (const scope of rule.scopes) {
      if (!settings[rule.setting]) scopes.delete(scope);
      else if (possible.has(scope)) scopes.add(scope);
    }
  }
  return scopes;
}
