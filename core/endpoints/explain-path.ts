import { nearestName } from '../../config/did-you-mean.ts';
import { isGeminiPath } from '../contract/plugin/requests/gemini-paths.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { deploymentPaths, isAzurePath, readAzurePath } from './azure-paths.ts';
import { controlPlaneSegments } from './control-plane-paths.ts';
import { matchEndpoint, routeMethods } from './match-endpoint.ts';
import { isExplicitProxy, proxyMethods } from './pass-through.ts';
import { routeNames } from './routes.ts';

const passThrough = 'To pass the request through to a provider, set x-svc-provider or x-svc-config.';

/** Paths of all routes, without those that hold an id: an id is no misspelling. */
const plainPaths = [...new Set(routeNames.map((name) => `/v1${name.slice(name.indexOf(' ') + 1)}`))].filter(
  (path) => !path.includes('{'),
);

/**
 * Explains a method and path without a route and without a named provider: a method that the path does not have (405), a base URL
 * with one `/v1` too many or too few, a misspelt route, or a path reserved for the service (404). Null if none of them applies.
 */
export function explainPath(method: string, path: string): GatewayError | null {
  const shown = `${method} ${path.slice(0, 200)}`;
  if (isExplicitProxy(path.slice('/v1'.length))) return null;
  const match = matchEndpoint(method, path);
  if (match === 'reserved') {
    const detour = `/v1/proxy${path.replace(/^(?:\/v1)+/, '')}`.slice(0, 200);
    return notFound(
      `${shown} is reserved for this service, and this version does not implement it. To call the route of a provider, use ${detour}.`,
    );
  }
  const allow = routeMethods(path);
  if (allow.length > 0) {
    return new GatewayError('method_not_allowed', {
      message: `${method} is not allowed on ${path}. Use ${allow.join(' or ')}.${match === 'method-not-allowed' ? '' : ` ${passThrough}`}`,
      allow,
    });
  }
  if (match === 'method-not-allowed') return new GatewayError('method_not_allowed', { allow: proxyMethods });
  if (isAzurePath(path)) return explainAzurePath(shown, path);
  const isBelowV1 = path.startsWith('/v1/');
  const moved = otherBase(path);
  if (moved !== null) return notFound(`${shown} is not a route of the gateway. Did you mean ${moved.path}? ${moved.remedy}`);
  const meant = nearestName(path, plainPaths) ?? controlPlanePath(path);
  if (meant === null)
    return isBelowV1 ? null : notFound(`${shown} is not a route of the gateway. Routes begin with /v1; GET /v1/docs lists them.`);
  return notFound(`${shown} is not a route of the gateway. Did you mean ${meant}?${isBelowV1 ? ` ${passThrough}` : ''}`);
}

/** Explains a path of Azure's SDKs that has no route. Null for a path that a provider may have. */
function explainAzurePath(shown: string, path: string): GatewayError | null {
  const azure = readAzurePath(path);
  if (azure === null)
    return notFound(
      `${shown} is not a path of Azure OpenAI: it has a dot segment, or a deployment that is not percent-encoded text.`,
    );
  if (azure.deployment !== null)
    return notFound(`${shown} is not a route with a deployment. Routes with a deployment: ${deploymentPaths.join(', ')}.`);
  if (matchEndpoint('POST', path) === 'not-found')
    return notFound(`${shown} is not a route of the gateway. Routes that are not OpenAI's have no path below /openai. Use /v1.`);
  const meant = nearestName(`/v1${azure.below}`, plainPaths);
  return meant === null ? null : notFound(`${shown} is not a route of the gateway. Did you mean ${meant}? ${passThrough}`);
}

/** The path with its first segment below `/v1` corrected to one of the control plane; null if none is close. */
function controlPlanePath(path: string): string | null {
  const [, segment = '', rest = ''] = /^\/v1\/([^/]+)(.*)$/.exec(path) ?? [];
  const meant = nearestName(segment, controlPlaneSegments);
  return meant === null ? null : `/v1/${meant}${rest.slice(0, 200)}`;
}

/** The intended route if both the client and its base URL add `/v1`, or neither does, or the endpoint of an Azure SDK has a `/v1`. */
function otherBase(path: string): { readonly path: string; readonly remedy: string } | null {
  const shorter = path.startsWith('/v1/v1/') ? path.slice('/v1'.length) : null;
  if (shorter !== null && routeMethods(shorter).length > 0) {
    return { path: shorter, remedy: 'This client adds /v1 itself: set its base URL without /v1.' };
  }
  const deployment = path.startsWith('/v1/openai/deployments/') ? path.slice('/v1'.length) : null;
  if (deployment !== null && matchEndpoint('POST', deployment) !== 'not-found') {
    return { path: deployment.slice(0, 200), remedy: 'Set the endpoint of the client without /v1.' };
  }
  const longer = `/v1${path}`;
  if (!path.startsWith('/v1/') && (routeMethods(longer).length > 0 || isGeminiPath(path))) {
    return { path: longer.slice(0, 200), remedy: 'Set the base URL of the client with /v1 at its end.' };
  }
  return null;
}

function notFound(message: string): GatewayError {
  return new GatewayError('not_found', { message });
}
