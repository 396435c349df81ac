import type { PublicRoute } from './public-route.ts';
import type { AdminRoute } from './route.ts';

/**
 * Throws with one line per issue if a route does not declare its rights, tenant, audit action, summary and reply, or if two
 * routes are the same. A control plane with such a route does not start.
 */
export function checkRoutes(routes: readonly AdminRoute[], publicRoutes: readonly PublicRoute[]): void {
  const issues = [
    ...routes.flatMap((route) =>
      issuesOf(route, Array.isArray(route.scopes) && (route.scopes.length > 0 || route.signedIn === 'required')),
    ),
    ...publicRoutes.flatMap((route) => issuesOf({ ...route, tenant: 'either', query: true }, true)),
    ...repeated([...routes, ...publicRoutes].map(shapeOf)).map((shape) => `${shape}: declared twice`),
  ];
  if (issues.length > 0) throw new Error(`routes of the control plane are not declared completely:\n${issues.join('\n')}`);
}

type Declared = { readonly method: string; readonly path: string } & { readonly [key: string]: unknown };

function issuesOf(route: object, hasPermission: boolean): string[] {
  const { method, path, ...rest } = route as Declared;
  const missing = [
    ...(hasPermission ? [] : ['scopes']),
    ...(['organisation', 'workspace', 'either'].includes(String(rest.tenant)) ? [] : ['tenant']),
    ...['resource', 'action', 'summary'].filter((field) => typeof rest[field] !== 'string' || rest[field] === ''),
    ...['query', 'reply', 'handle'].filter((field) => !rest[field]),
    ...(rest.body === undefined ? ['body'] : []),
  ];
  return missing.map((field) => `${method} ${path}: ${field} is missing`);
}

/** Two paths that differ only in the names of their parameters are equal. */
function shapeOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path.replace(/:[A-Za-z]+/g, ':')}`;
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
