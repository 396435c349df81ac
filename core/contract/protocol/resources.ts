/**
 * Folders of `admin/resources`, and the only list of resources: the control plane loads `admin/resources/<name>/resource.ts`. `standard`:
 * gateways send `/v1/<name>` to the control plane, and keys can have the scopes `<name>.create`, `.read`, `.update`, `.delete` and
 * `.list`, with `_` for `-`. `own`: `core/endpoints/control-plane-paths.ts` lists its paths, and `admin/access/scopes.ts` its scopes.
 */
const resources: Readonly<Record<string, 'standard' | 'own'>> = {
  'agent-integrations': 'own',
  'agent-servers': 'own',
  analytics: 'own',
  'api-keys': 'own',
  'audit-logs': 'own',
  batches: 'own',
  'cached-replies': 'own',
  configs: 'standard',
  deployments: 'own',
  'email-domains': 'own',
  feedbacks: 'own',
  files: 'own',
  guardrails: 'standard',
  integrations: 'own',
  'ledger-entries': 'own',
  'loaded-plugins': 'own',
  'log-exports': 'own',
  logs: 'own',
  'mcp-connections': 'own',
  'mcp-integrations': 'own',
  'mcp-registry': 'own',
  'mcp-servers': 'own',
  'mcp-virtual-servers': 'own',
  'model-configs': 'own',
  'oauth-grants': 'own',
  'organisation-members': 'own',
  'organisation-utilities': 'own',
  organisations: 'own',
  otel: 'own',
  plugins: 'own',
  policies: 'standard',
  'prompt-collections': 'own',
  'prompt-labels': 'own',
  'prompt-partials': 'own',
  'prompt-tests': 'own',
  'prompt-tools': 'own',
  prompts: 'standard',
  providers: 'standard',
  reconciliations: 'own',
  repricings: 'own',
  'second-factors': 'own',
  'scim-groups': 'own',
  'scim-tokens': 'own',
  'scim-users': 'own',
  'secret-references': 'standard',
  sessions: 'own',
  'sso-connections': 'own',
  'user-invites': 'own',
  users: 'own',
  'virtual-keys': 'standard',
  webhooks: 'standard',
  'workspace-exclusions': 'own',
  'workspace-users': 'own',
  workspaces: 'own',
};

/** Every resource of the control plane. */
export const resourceNames: readonly string[] = Object.keys(resources);

/** Resources with a path and scopes of their own name. */
export const standardResources: readonly string[] = resourceNames.filter((name) => resources[name] === 'standard');
