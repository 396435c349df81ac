/** First path segments below `/v1` that the control plane answers; everything below `/v2` is its own. */
const segments: ReadonlySet<string> = new Set([
  'admin',
  'agent-integrations',
  'analytics',
  'api-keys',
  'audit-logs',
  'auth',
  'collections',
  'config',
  'configs',
  'deployments',
  'docs',
  'feedback',
  'guardrails',
  'integrations',
  'labels',
  'logs',
  'mcp-integrations',
  'mcp-servers',
  'model-configs',
  'oauth',
  'openapi.json',
  'organisation',
  'organisations',
  'plugins',
  'policies',
  'prompts',
  'providers',
  'scim',
  'secret-references',
  'tools',
  'users',
  'utils',
  'virtual-keys',
  'workspace-exclusions',
  'workspaces',
]);

/** True for paths that go to the control plane as they are. Never true for its internal API. */
export function isControlPlanePath(path: string): boolean {
  if (path.startsWith('/v2/')) return true;
  if (!path.startsWith('/v1/')) return false;
  const end = path.indexOf('/', 4);
  return segments.has(end === -1 ? path.slice(4) : path.slice(4, end));
}
