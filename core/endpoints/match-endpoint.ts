import type { Endpoint, WireFormat } from '../contract/plugin/requests/endpoint.ts';
import { isGeminiPath } from '../contract/plugin/requests/gemini-paths.ts';
import { agentEndpoint } from './agent-endpoint.ts';
import { deploymentPaths, isAzurePath, readAzurePath } from './azure-paths.ts';
import { compileRoutes } from './compile-routes.ts';
import { ownerOf } from './control-plane-paths.ts';
import { mcpEndpoint } from './mcp-endpoint.ts';
import { catalogueModelEndpoint } from './models-endpoint.ts';
import { isExplicitProxy, proxyEndpoint, proxyMethods } from './pass-through.ts';
import { routeNames, routes, standaloneRoutes } from './routes.ts';

const find = compileRoutes(routes, standaloneRoutes);

/**
 * Paths of Google's file uploads. Google names the address for the bytes in `x-goog-upload-url`, and its SDKs for Go and JavaScript replace
 * the host in it by that of their base URL, but not the path.
 */
const googleUpload = /^\/upload\/v\d[a-z0-9]*\//;

/** An endpoint of the data plane, the control plane, a path reserved for the service, or nothing (404, 405). */
export type Match = Endpoint | 'control-plane' | 'reserved' | 'not-found' | 'method-not-allowed';

/** Finds the endpoint of a request. `path` has no query. */
export function matchEndpoint(method: string, path: string): Match {
  // Cohere's own path. Its clients cannot be configured to use another one.
  if (path === '/v2/rerank') return find(method, '/rerank') ?? 'method-not-allowed';
  if (!path.startsWith('/v1/')) {
    if (isAzurePath(path)) return matchAzure(method, path);
    if (googleUpload.test(path)) return proxyEndpoint(method, path) ?? 'method-not-allowed';
    return ownerOf(path) ?? mcpEndpoint(method, path) ?? 'not-found';
  }
  const below = path.slice('/v1'.length);
  const known = find(method, below) ?? catalogueModelEndpoint(method, below);
  if (known) return known;
  if (isBatchNote(method, below)) return 'control-plane';
  const agent = agentEndpoint(method, below);
  if (agent !== null) return agent;
  if (isExplicitProxy(below)) return proxyEndpoint(method, below) ?? 'method-not-allowed';
  const owner = ownerOf(path);
  if (owner !== null) return owner;
  const endpoint = proxyEndpoint(method, below);
  if (endpoint === null) return 'method-not-allowed';
  // A second `/v1` is removed on the way to a provider. The rest of the path is subject to the same rules.
  return ownerOf(`/v1${endpoint.proxyPath}`) === null ? endpoint : 'reserved';
}

/**
 * The endpoint of a path below `/openai`: the routes below `/v1` that are OpenAI's, and pass-through. Nothing that belongs to the service
 * itself is reachable there.
 */
function matchAzure(method: string, path: string): Match {
  const azure = readAzurePath(path);
  if (azure === null) return 'not-found';
  const { below, deployment: azureDeployment } = azure;
  if (ownerOf(`/v1${below}`) !== null || isExplicitProxy(below)) return 'not-found';
  if (azureDeployment !== null && !deploymentPaths.includes(below)) return 'not-found';
  const known = azureDeployment === null || method === 'POST' ? find(method, below) : null;
  if (known) return { ...known, azureDeployment };
  const endpoint = azureDeployment !== null || isBatchNote(method, below) ? null : proxyEndpoint(method, below);
  if (endpoint === null) return 'method-not-allowed';
  return ownerOf(`/v1${endpoint.proxyPath}`) === null ? endpoint : 'not-found';
}

/** True for the notes that the control plane stores about batches. Everything else about batches is the data plane's. */
function isBatchNote(method: string, below: string): boolean {
  return method === 'PUT' && batchPath.test(below);
}

const batchPath = /^\/batches\/[^/]+$/;

/**
 * Returns the methods of the routes at a path, without pass-through. Empty if there is no route. A route with exactly this path
 * takes precedence over routes that would match a segment of it as an id.
 */
export function routeMethods(path: string): readonly string[] {
  if (path === '/v2/rerank') return ['POST'];
  if (isAzurePath(path)) return azureMethods(path);
  if (!path.startsWith('/v1/')) return [];
  const below = path.slice('/v1'.length);
  const own = proxyMethods.filter((method) => routeNames.includes(`${method} ${below}`));
  if (own.length > 0) return own;
  return proxyMethods.filter((method) => find(method, below) !== null || isBatchNote(method, below));
}

function azureMethods(path: string): readonly string[] {
  const azure = readAzurePath(path);
  if (azure === null || ownerOf(`/v1${azure.below}`) !== null) return [];
  if (azure.deployment !== null) return deploymentPaths.includes(azure.below) ? ['POST'] : [];
  return proxyMethods.filter((method) => find(method, azure.below) !== null);
}

/** Returns the format of an error if only method and path of its request are known. */
export function errorFormatOf(method: string, path: string): WireFormat | 'gemini' | 'control-plane' {
  if (isBatchNote(method, path.slice('/v1'.length))) return 'control-plane';
  if (ownerOf(path) === 'control-plane' && routeMethods(path).length === 0) return 'control-plane';
  if (isGeminiPath(path)) return 'gemini';
  return path === messagesPath || path.startsWith(`${messagesPath}/`) ? 'messages' : 'chat';
}

const messagesPath = '/v1/messages';
