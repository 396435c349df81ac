import { standardResources } from '../contract/protocol/resources.ts';
import { registryAlias, unversionedOAuthPaths } from '../contract/protocol/unversioned-paths.ts';
import type { InboundRequest } from '../contract/values/http/http.ts';

/** `control-plane`: the control plane replies. `reserved`: a route of the service that this version does not have. */
export type PathOwner = 'control-plane' | 'reserved';

/**
 * First path segments below `/v1` that belong to the control plane: those of its resources, and those that the service reserves.
 * `test/admin/tables.test.ts` compares them with the routes.
 */
export const controlPlaneSegments: readonly string[] = [
  ...standardResources,
  '.well-known',
  'admin',
  'agent-integrations',
  'agent-servers',
  'analytics',
  'api-keys',
  'audit-logs',
  'auth',
  'collections',
  'config',
  'docs',
  'feedback',
  'health',
  'integrations',
  'labels',
  'ledger',
  'logs',
  'mcp-integrations',
  'mcp-registry',
  'mcp-servers',
  'mcp-virtual-servers',
  'model-configs',
  'oauth',
  'openapi.json',
  'organisation',
  'organisations',
  'otel',
  'plugins',
  'ready',
  'scim',
  'tools',
  'users',
  'utils',
  'workspace-exclusions',
  'workspaces',
];

/**
 * First path segments below `/v1` that belong to the service. No request to them is sent to a provider; `/v1/proxy/…` reaches a
 * provider's route of the same name. A name is listed here only if the service uses or reserves it: everything else below `/v1`
 * passes through.
 */
const owners: ReadonlyMap<string, PathOwner> = new Map([
  ...ownedBy('control-plane', controlPlaneSegments),
  ...ownedBy('reserved', [
    'agent',
    'datasets',
    'dataservice',
    'fine-tuning',
    'finetune',
    'gateway',
    'mcp',
    'registry',
    'verify-ping',
  ]),
]);

/** `.` and `..`, also percent-encoded. A URL parser resolves them, so the path could leave `/v1` and `/v2`. */
const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

const registryPath = registryAlias.base + registryAlias.path;

/**
 * Returns the owner of a path; null when it belongs to no part of the service. A path with a dot segment is never the control
 * plane's: its internal API lies beside the public one.
 */
export function ownerOf(path: string): PathOwner | null {
  // Public prices and OAuth have no version in their path.
  if (path.startsWith('/v2/') || path.startsWith('/model-configs/') || unversionedOAuthPaths.has(path))
    return dotSegment.test(path) ? null : 'control-plane';
  if (path === registryPath) return 'control-plane';
  if (!path.startsWith('/v1/')) return null;
  const end = path.indexOf('/', 4);
  const owner = owners.get(end === -1 ? path.slice(4) : path.slice(4, end)) ?? null;
  return owner !== null && dotSegment.test(path) ? 'reserved' : owner;
}

/** True for a path that a URL parser would shorten. */
export function hasDotSegment(path: string): boolean {
  return dotSegment.test(path);
}

/** Paths of the control plane that providers also have. */
const sharedPath = /^\/v1\/deployments(?:\/[^/]+(?:\/ping)?)?\/?$/;
/** Organisation keys and sessions cannot call models. */
const adminCredential = /^(?:bearer +)?svc_(?:admin|session)_/i;

/** True for a request to a path that providers also have, with a credential that is only for the control plane. */
export function isAdminCall(
  request: Pick<InboundRequest, 'path' | 'header'>,
  gatewayHeaders: ReadonlyMap<string, string>,
): boolean {
  const { path } = request;
  if (!sharedPath.test(path) || dotSegment.test(path)) return false;
  return adminCredential.test(gatewayHeaders.get('api-key') ?? request.header('authorization') ?? '');
}

function ownedBy(owner: PathOwner, segments: readonly string[]): (readonly [string, PathOwner])[] {
  return segments.map((segment) => [segment, owner] as const);
}
