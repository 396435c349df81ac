import type { Endpoint } from '../contract/plugin/requests/endpoint.ts';
import type { Route } from './routes.ts';

/** Returns the endpoint of a method and a path below `/v1`. Null if there is no such route. */
export type FindRoute = (method: string, path: string) => Endpoint | null;

interface Pattern {
  readonly method: string;
  readonly expression: RegExp;
  readonly endpoint: Endpoint;
}

/**
 * Compiles the table. Routes without braces take one look-up. The others are matched in order by their first segment.
 * `standalone`: endpoints that are not shaped routes, by `METHOD /path`.
 */
export function compileRoutes(routes: readonly Route[], standalone: ReadonlyMap<string, Endpoint>): FindRoute {
  const exact = new Map<string, Endpoint>();
  const patterns = new Map<string, Pattern[]>();
  const all = new Map([...routes.map((route) => [`${route.method} ${route.path}`, endpointOf(route)] as const), ...standalone]);
  for (const [name, endpoint] of all) {
    const [method = '', path = ''] = name.split(' ');
    if (!path.includes('{')) {
      exact.set(name, endpoint);
      continue;
    }
    const first = firstSegment(path);
    const expression = new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    patterns.set(first, [...(patterns.get(first) ?? []), { method, expression, endpoint }]);
  }
  return (method, path) => {
    const known = exact.get(`${method} ${path}`);
    if (known) return known;
    for (const pattern of patterns.get(firstSegment(path)) ?? []) {
      if (pattern.method !== method) continue;
      const found = pattern.expression.exec(path);
      if (found) return { ...pattern.endpoint, pathParams: { ...found.groups } };
    }
    return null;
  };
}

function endpointOf(route: Route): Endpoint {
  return {
    name: route.operation,
    operation: route.operation,
    scopes: route.scopes ?? ['completions.write'],
    format: route.format,
    proxyPath: '',
    body: route.body ?? 'json',
    method: route.method,
    ...(route.isStored ? { isStored: true as const } : {}),
    ...(route.hasModelsInFile ? { hasModelsInFile: true as const } : {}),
    ...(route.takesSvcOptions ? { takesSvcOptions: true as const } : {}),
    ...(route.usesNoTokens ? { usesNoTokens: true as const } : {}),
    ...(route.isEmulated ? { isEmulated: true as const } : {}),
  };
}

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1);
  return end === -1 ? path : path.slice(0, end);
}
