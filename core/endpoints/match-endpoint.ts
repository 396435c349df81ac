import type { Endpoint, WireFormat } from '../contract/plugin/context.ts';
import { compileRoutes } from './compile-routes.ts';
import { ownerOf } from './control-plane-paths.ts';
import { isExplicitProxy, proxyEndpoint, proxyMethods } from './pass-through.ts';
import { routeNames, routes, standaloneRoutes } from './routes.ts';

const find = compileRoutes(routes, standaloneRoutes);

/** An endpoint of the data plane, the control plane, a path reserved for the service, or nothing (404, 405). */
export type Match = Endpoint | 'control-plane' | 'reserved' | 'not-found' | 'method-not-allowed';

export function matchEndpoint(method: string, path: string): Match {
  // Cohere's own path, which its clients do not let anybody change.
  if (path === '/v2/rerank') return find(method, '/rerank') ?? 'method-not-allowed';
  if (!path.startsWith('/v1/')) return ownerOf(path) ?? 'not-found';
  const below = path.slice('/v1'.length);
  const known = find(method, below);
  if (known) return known;
  if (isBatchNote(method, below)) return 'control-plane';
  if (isExplicitProxy(below)) return proxyEndpoint(method, below) ?? 'method-not-allowed';
  const owner = ownerOf(path);
  if (owner !== null) return owner;
  const endpoint = proxyEndpoint(method, below);
  if (endpoint === null) return 'method-not-allowed';
  // A second `/v1` is left out on the way to a provider, and must not reach what the first one does not.
  return ownerOf(`/v1${endpoint.proxyPath}`) === null ? endpoint : 'reserved';
}

/** True for the notes that the control plane stores about batches. Everything else about batches is the data plane's. */
function isBatchNote(method: string, below: string): boolean {
  return method === 'PUT' && batchPath.test(below);
}

const batchPath = /^\/batches\/[^/]+$/;

/**
 * Methods of the routes at a path, without pass-through; empty when no route has it. A route with exactly this path comes before
 * routes that would take a segment of it for an id.
 */
export function routeMethods(path: string): readonly string[] {
  if (path === '/v2/rerank') return ['POST'];
  if (!path.startsWith('/v1/')) return [];
  const below = path.slice('/v1'.length);
  const own = proxyMethods.filter((method) => routeNames.includes(`${method} ${below}`));
  if (own.length > 0) return own;
  return proxyMethods.filter((method) => find(method, below) !== null || isBatchNote(method, below));
}

/** The format that an error takes when only method and path of its request can be relied on. */
export function errorFormatOf(method: string, path: string): WireFormat | 'control-plane' {
  if (isBatchNote(method, path.slice('/v1'.length))) return 'control-plane';
  if (ownerOf(path) === 'control-plane' && routeMethods(path).length === 0) return 'control-plane';
  return path === messagesPath || path.startsWith(`${messagesPath}/`) ? 'messages' : 'chat';
}

const messagesPath = '/v1/messages';
