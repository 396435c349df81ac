import type * as v from 'valibot';
import type { Settings } from '../../config/settings.ts';
import { unversionedOAuthPaths } from '../../core/contract/protocol/unversioned-paths.ts';
import type { PublicRoute } from '../http/public-route.ts';
import { noControlCharacters } from '../http/request/schemas.ts';
import type { AdminRoute } from '../http/route.ts';
import { apiText } from './api-text.ts';
import { dataPlaneOperations, gatewayErrorSchema, gatewayFailures } from './data-plane.ts';
import { exampleOf } from './example-of.ts';
import { pageOperations } from './page-routes.ts';
import {
  adminErrorSchema,
  browserRepliesOf,
  failureResponses,
  failuresOf,
  oauthReplies,
  protocolFailuresOf,
  type Replying,
  replyHeaders,
} from './responses.ts';
import { serviceOperations } from './service-routes.ts';
import { describe, type JsonSchema, type SharedSchemas } from './to-json-schema.ts';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonSchema;
  readonly servers: readonly JsonSchema[];
  readonly tags: readonly { readonly name: string }[];
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: JsonSchema;
}

/** One route. Schemas are inline, except for recursive ones. */
export interface Operation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly summary: string;
  readonly tags: readonly string[];
  /** Absent: those of the document. */
  readonly servers?: readonly JsonSchema[];
  readonly security: readonly JsonSchema[];
  /** `data`: the gateway itself. `control`: the control plane, reached through a gateway or directly. `both`: each of them. */
  readonly 'x-svc-plane': 'data' | 'control' | 'both';
  /** A key needs one of these. */
  readonly 'x-svc-scopes': readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, JsonSchema>>;
}

export interface RequestBody {
  readonly required: boolean;
  readonly description?: string;
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly description?: string;
}

const unversioned = ['/v1', '/v2', '/'].map((url) => ({ url }));
/** Servers of paths that providers also have below `/v1`. */
const sharedServers = [{ url: '/v2' }, { url: '/v1', description: 'Only with an organisation key or a session' }];

/** Version of the API. It differs from that of the package, because clients choose their code by it. */
const apiVersion = '2.0.0';

/**
 * Describes both planes as OpenAPI 3.1. The control plane is described by the schemas that check its requests and replies, the
 * data plane by core/contract/protocol/route-descriptions.ts.
 */
export function openApiDocument(
  routes: readonly AdminRoute[],
  publicRoutes: readonly PublicRoute[],
  settings: Pick<Settings, 'headerPrefix'>,
): OpenApiDocument {
  const shared: SharedSchemas = new Map();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of [...publicRoutes, ...routes]) {
    const path = templateOf(route.path);
    paths[path] ??= {};
    const operation = operationOf(route, shared, settings.headerPrefix);
    const servers = unversionedOAuthPaths.has(path) ? unversioned : route.resource === 'deployments' ? sharedServers : null;
    paths[path][route.method.toLowerCase()] = servers ? { ...operation, servers } : operation;
  }
  const others = [...dataPlaneOperations(settings.headerPrefix), ...serviceOperations(), ...pageOperations()];
  for (const [method, path, operation] of others) {
    paths[path] ??= {};
    paths[path][method] = operation;
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const tags = [...new Set(operations.flatMap((operation) => operation.tags))].sort();
  return {
    openapi: '3.1.0',
    info: { title: 'AI gateway', version: apiVersion, description: apiText(settings.headerPrefix) },
    servers: [{ url: '/v1' }, { url: '/v2', description: 'The same routes' }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: `${settings.headerPrefix}api-key` },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, the token of a session, a JWT of the organisation, or for its directory a SCIM token',
        },
        clusterKey: { type: 'http', scheme: 'bearer', description: 'CLUSTER_KEY, for services of the deployment' },
      },
      schemas: { Error: adminErrorSchema, GatewayError: gatewayErrorSchema, ...Object.fromEntries(shared) },
      responses: { ...failureResponses(), ...gatewayFailures() },
    },
  };
}

function operationOf(route: AdminRoute | PublicRoute, shared: SharedSchemas, headerPrefix: string): Operation {
  const isAlias = 'isAlias' in route && route.isAlias === true;
  const operationId = `${operationIdOf(route)}${isAlias ? 'Alias' : ''}`;
  const isPublic = !('scopes' in route);
  const hasOAuthErrors = !('scopes' in route) && route.hasOAuthErrors === true;
  const ofOAuth = hasOAuthErrors ? oauthReplies : {};
  const runsOnce = route.method === 'POST' && 'scopes' in route && !route.runsAgain;
  const hasVersion = 'scopes' in route && route.method !== 'GET' && route.method !== 'POST' && !route.hasNoVersion;
  const replying: Replying = { method: route.method, isPublic, hasBody: route.body !== null, runsOnce, hasVersion };
  const query = route.query === undefined ? [] : queryParameters(route.query, operationId, shared);
  const reply = describe(route.reply, 'output', `${operationId}Reply`, shared);
  const also = route.alsoProduces ? { [route.alsoProduces]: { schema: { type: 'string' } } } : {};
  const protocol = 'protocol' in route ? route.protocol : undefined;
  // Routes whose reply has no members send pages alone.
  const isPageOnly = route.alsoProduces !== undefined && Object.keys((reply.properties ?? {}) as object).length === 0;
  const content = { ...(isPageOnly ? {} : { [protocol?.mediaType ?? 'application/json']: { schema: reply } }), ...also };
  const headers = replyHeaders(replying, headerPrefix);
  const done = (protocol?.done ?? [200]).map((status) => [
    status,
    { description: 'Done', headers, ...(status === 204 || status === 304 ? {} : { content }) },
  ]);
  return {
    operationId,
    ...(isAlias ? { deprecated: true } : {}),
    summary: route.summary,
    tags: [route.resource],
    security: isPublic ? [] : [{ apiKey: [] }, { bearer: [] }, ...(route.dataServiceToo ? [{ clusterKey: [] }] : [])],
    'x-svc-plane': 'control',
    'x-svc-scopes': isPublic ? [] : route.scopes,
    parameters: [...pathParameters(route.path), ...query, ...headerParameters(replying)],
    ...(route.body ? { requestBody: bodyOf(route, route.body, operationId, shared) } : {}),
    responses: {
      ...Object.fromEntries(done),
      ...(protocol ? protocolFailuresOf(replying, protocol) : failuresOf(replying)),
      ...(isPublic && route.alsoProduces === 'text/html' ? browserRepliesOf(replying, ofOAuth) : ofOAuth),
    },
  };
}

/** `GET /configs/:slug/versions` is `getConfigsBySlugVersions`. */
function operationIdOf({ method, path }: { readonly method: string; readonly path: string }): string {
  const words = path.split('/').filter((part) => part !== '');
  const name = words.map((part) => (part.startsWith(':') ? `By${pascal(part.slice(1))}` : pascal(part)));
  return method.toLowerCase() + name.join('');
}

function pascal(text: string): string {
  return text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());
}

function templateOf(path: string): string {
  return path.replace(/:([A-Za-z]+)/g, '{$1}');
}

function pathParameters(path: string): Parameter[] {
  return [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => ({
    name: name ?? '',
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: v.GenericSchema, operationId: string, shared: SharedSchemas): Parameter[] {
  const described = describe(query, 'input', `${operationId}Query`, shared);
  const required = new Set((described.required as string[] | undefined) ?? []);
  return Object.entries((described.properties ?? {}) as Record<string, JsonSchema>).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.has(name),
    schema: inQuery(schema),
  }));
}

/** Completes the schema of a query parameter: numbers have numbers as defaults, and no text may hold control characters. */
function inQuery(schema: JsonSchema): JsonSchema {
  if (schema.type === 'integer' && schema.default !== undefined) return { ...schema, default: Number(schema.default) };
  const isFreeText = schema.type === 'string' && !schema.pattern && !schema.format && !schema.enum;
  return isFreeText ? { ...schema, pattern: noControlCharacters.requirement.source } : schema;
}

function headerParameters({ isPublic, runsOnce, hasVersion }: Replying): Parameter[] {
  const header = (name: string, description: string): Parameter => ({
    name,
    in: 'header',
    required: false,
    schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
    description,
  });
  if (isPublic) return [];
  if (runsOnce) return [header('idempotency-key', 'A request with the same key is executed once in 24 hours')];
  return hasVersion
    ? [header('if-match', 'The `etag` of the expected version; if another version is current, the reply is 412')]
    : [];
}

function bodyOf(
  { path, ...route }: AdminRoute | PublicRoute,
  body: v.GenericSchema,
  operationId: string,
  shared: SharedSchemas,
): RequestBody {
  const schema = describe(body, 'input', `${operationId}Body`, shared);
  const required = ((schema.required as string[] | undefined) ?? []).length > 0;
  const repeats = path.includes('/:') ? { description: 'May repeat the parameters of the path, with the same values' } : {};
  const isForm = !('scopes' in route) && route.readBody !== undefined;
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  return { required, ...repeats, content: { [type]: { schema, example: exampleOf(schema) } } };
}
