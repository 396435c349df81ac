/** First path segments below `/v1` that the control plane answers; everything below `/v2` and `/model-configs` is its own. */
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

/** `.` and `..`, also percent-encoded: a URL parser resolves them, and could end up outside `/v1` and `/v2`. */
const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** True for paths that go to the control plane as they are. Never true for its internal API, however it is spelt. */
export function isControlPlanePath(path: string): boolean {
  // Public prices have no version in their path.
  if (path.startsWith('/v2/') || path.startsWith('/model-configs/')) return !dotSegment.test(path);
  if (!path.startsWith('/v1/') || dotSegment.test(path)) return false;
  const end = path.indexOf('/', 4);
  return segments.has(end === -1 ? path.slice(4) : path.slice(4, end));
}
