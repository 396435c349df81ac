import { hasDotSegment } from './control-plane-paths.ts';
import { routes } from './routes.ts';

/** A path of Azure's SDKs: the path below `/v1` that it corresponds to, and its deployment, decoded; null if it names none. */
export interface AzurePath {
  readonly below: string;
  readonly deployment: string | null;
}

const base = /^\/openai(?:\/v1)?(?=\/)/;
const deploymentPath = /^\/deployments\/([^/]*)(\/.+)$/;
/** SDKs for Python and LangChain do not encode the `/` in `@slug/model`. */
const slugPath = /^\/deployments\/(?:@|%40)[^/]+\/[^/]/i;

/**
 * Paths of the POST routes that a deployment may precede: those of models in OpenAI's format, and batches, because Azure's SDKs send their
 * deployment with them too.
 */
export const deploymentPaths: readonly string[] = routes
  .filter(
    ({ method, format, isStored, hasModelsInFile }) => method === 'POST' && format === 'chat' && (!isStored || hasModelsInFile),
  )
  .map(({ path }) => path);

/** True for all paths below `/openai`. */
export function isAzurePath(path: string): boolean {
  return path.startsWith('/openai/');
}

/**
 * Reads a path below `/openai`, with or without its `/v1`. Null for a path that a URL parser would shorten, and for a deployment that is
 * empty or not percent-encoded text.
 */
export function readAzurePath(path: string): AzurePath | null {
  if (hasDotSegment(path)) return null;
  const below = path.replace(base, '');
  const [, segment, rest] = deploymentPath.exec(below) ?? [];
  if (segment === undefined || rest === undefined) return { below, deployment: null };
  const route = slugPath.test(below) ? longestRoute(rest) : null;
  if (route === null) return withDeployment(segment, rest);
  return withDeployment(segment + rest.slice(0, -route.length), route);
}

/** Returns the longest route that the path ends with: `/chat/completions` rather than `/completions`. */
function longestRoute(path: string): string | null {
  const ends = deploymentPaths.filter((route) => path.endsWith(route));
  return ends.reduce<string | null>((longest, route) => (route.length > (longest?.length ?? 0) ? route : longest), null);
}

/** Decodes a deployment. It becomes the model of the request, which adapters may put into paths and forms, so other texts give null. */
function withDeployment(encoded: string, below: string): AzurePath | null {
  let deployment: string;
  try {
    deployment = decodeURIComponent(encoded);
  } catch {
    return null;
  }
  const isName = deployment !== '' && !/\p{Cc}/u.test(deployment) && !hasDotSegment(`/${deployment}`);
  return isName ? { below, deployment } : null;
}
