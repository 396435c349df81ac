import type { RequestRecord } from '../../contract/plugin/record/record.ts';
import { azureBases, basesOf, routeDescriptions } from '../../contract/protocol/route-descriptions.ts';
import { attributesOf, type KeyValue } from './attributes.ts';

/** Scheme that clients of the service use. */
export type Scheme = 'http' | 'https';

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE']);

/** Attributes of the conventions for HTTP servers in version 1.41. A record has no headers, so that those about the host are absent. */
export function httpAttributes(record: RequestRecord, scheme: Scheme): KeyValue[] {
  const { method, status, path, clientAddress } = record;
  const isKnown = methods.has(method);
  return attributesOf({
    'http.request.method': isKnown ? method : '_OTHER',
    'http.request.method_original': isKnown ? null : method,
    'http.route': routeOf(record),
    'http.response.status_code': status,
    'network.protocol.version': '1.1',
    'url.path': path,
    'url.scheme': scheme,
    'client.address': clientAddress || null,
  });
}

const routes = new Map(
  Object.entries(routeDescriptions).map(([key, route]) => [
    route.name,
    // The longest first, because one base is the beginning of another.
    { below: key.slice(key.indexOf(' ') + 1), bases: basesOf(route).toSorted((one, other) => other.length - one.length) },
  ]),
);
const deployments = `${azureBases[0]}/deployments/`;

/** Returns the template of the path; null for requests without a route of their own, such as those that are passed through. */
function routeOf({ endpoint, path }: RequestRecord): string | null {
  const route = routes.get(endpoint ?? '');
  if (route === undefined) return null;
  if (path.startsWith(deployments)) return `${deployments}{deployment}${route.below}`;
  const base = route.bases.find((one) => path.startsWith(`${one}/`));
  return base === undefined ? null : base + route.below;
}
