import { Validator } from '@seriousme/openapi-schema-validator';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopesByType } from '../../../admin/access/scopes.ts';
import { createApp } from '../../../admin/app.ts';
import type { OpenApiDocument, Operation } from '../../../admin/openapi/document.ts';
import { pageOperations } from '../../../admin/openapi/page-routes.ts';
import { serviceOperations } from '../../../admin/openapi/service-routes.ts';
import type { JsonSchema } from '../../../admin/openapi/to-json-schema.ts';
import { exportFormats, formatOf } from '../../../admin/resources/log-exports/formats.ts';
import { adminRoutes, publicRoutes } from '../../../admin/tables.ts';
import { registryAlias } from '../../../core/contract/protocol/unversioned-paths.ts';
import { errorTable } from '../../../core/contract/values/errors/errors.ts';
import { isAdminCall } from '../../../core/endpoints/control-plane-paths.ts';
import { matchEndpoint } from '../../../core/endpoints/match-endpoint.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

interface Described {
  readonly schema: { readonly properties: { readonly scopes: { readonly items: { readonly enum: string[] } } } };
  readonly example: { readonly scopes: string[] };
}

describe('the API description', () => {
  let plane: Plane;
  let document: OpenApiDocument;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
    const reply = await fetch(`${plane.url}/v1/openapi.json`);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    document = (await reply.json()) as OpenApiDocument;
  });
  afterAll(() => plane?.close());

  const operations = (): Operation[] => Object.values(document.paths).flatMap((methods) => Object.values(methods));

  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document) as never);
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
  });

  it('has every route once, with text, scopes and replies', () => {
    expect(new Set(operations().map((operation) => operation.operationId)).size).toBe(operations().length);
    const service = new Set([...serviceOperations(), ...pageOperations()].map(([, path]) => path));
    const routes = new Map(adminRoutes.map((route) => [`${route.method} ${route.path.replace(/:(\w+)/g, '{$1}')}`, route]));
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const name = `${method.toUpperCase()} ${path}`;
        expect(operation.summary, name).not.toBe('');
        if (operation['x-svc-plane'] === 'data' || service.has(path)) continue;
        const { mediaType = 'application/json', done = [200] } = routes.get(name)?.protocol ?? {};
        const { content = {} } = operation.responses[String(done[0])] as { content?: Record<string, { schema: object }> };
        const hasPageOnly = content[mediaType] === undefined && Object.keys(content).length === 1;
        if (done[0] !== 204 && !hasPageOnly) expect(Object.keys(content[mediaType]?.schema ?? {}), name).not.toEqual([]);
        if (operation.requestBody) {
          const [body] = Object.values(operation.requestBody.content);
          expect(Object.keys(body?.schema ?? {}), name).not.toEqual([]);
        }
        expect(operation['x-svc-scopes'], name).toEqual(routes.get(name)?.scopes ?? []);
      }
    }
  });

  it('has every route that the service registers, with its bases', () => {
    const missing: string[] = [];
    const app = createApp(plane.control.services);
    for (const { method, path } of app.routes) {
      if (method === 'ALL' || path.startsWith('/internal/')) continue;
      // Many generated clients read the servers of the document alone, and would call another path.
      if (path === registryAlias.base + registryAlias.path) {
        expect(document.paths[registryAlias.of]?.get?.summary).toContain(path);
        continue;
      }
      const [, base = '/', below = ''] = /^(\/v[12](?=\/))?(\/.*)$/.exec(path) ?? [];
      const template = below.replace(/:([A-Za-z]+)(\{[^}]*\})?/g, '{$1}');
      const operation = document.paths[template]?.[method.toLowerCase()];
      const bases = (operation?.servers ?? document.servers).map(({ url }) => url);
      if (!operation || !bases.includes(base)) missing.push(`${method} ${path}`);
    }
    expect(missing).toEqual([]);
  });

  it('describes pages, versions, repeated creates and rejections', () => {
    const list = document.paths['/configs']?.get;
    expect(list?.parameters.find((one) => one.name === 'page_size')).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 100 },
    });
    const names = (method: string, path: string) => document.paths[path]?.[method]?.parameters.map((one) => one.name);
    expect(names('post', '/configs')).toContain('idempotency-key');
    expect(names('post', '/logs/{id}/replay')).toContain('idempotency-key');
    expect(names('post', '/guardrails/test')).not.toContain('idempotency-key');
    expect(names('delete', '/workspaces/{workspaceId}/cache')).not.toContain('if-match');
    expect(Object.keys(document.paths['/workspaces/{workspaceId}/cache']?.delete?.responses ?? {})).not.toContain('412');
    expect(names('put', '/configs/{slug}')).toEqual(expect.arrayContaining(['slug', 'if-match']));
    expect(Object.keys(document.paths['/configs/{slug}']?.put?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '400', '401', '403', '404', '409', '405', '412', '413', '414', '429', '431', '500', '503']),
    );
    expect(Object.keys(document.paths['/configs']?.post?.responses ?? {})).toContain('422');
    expect(Object.keys(document.paths['/auth/login']?.post?.responses ?? {})).not.toContain('422');
    expect(document.paths['/configs']?.post?.responses['200']).toMatchObject({
      headers: { 'x-request-id': {}, 'x-svc-unused-settings': {}, 'idempotency-replayed': {} },
    });
    expect(document.paths['/auth/login']?.post?.security).toEqual([]);
    expect(list?.security).toEqual([{ apiKey: [] }, { bearer: [] }, { clusterKey: [] }]);
    expect(document.paths['/providers']?.get?.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
  });

  it('describes the data plane: routes, service headers, errors by status', () => {
    const chat = document.paths['/chat/completions']?.post;
    expect(chat).toMatchObject({ 'x-svc-plane': 'data', requestBody: { required: true } });
    expect(chat?.servers).toEqual([{ url: '/v1' }, { url: '/openai' }, { url: '/openai/v1' }]);
    const ofDeployment = document.paths['/deployments/{deployment}/chat/completions']?.post;
    expect(ofDeployment).toMatchObject({ operationId: 'chatCompleteOfDeployment', servers: [{ url: '/openai' }] });
    expect(ofDeployment?.parameters[0]).toMatchObject({ name: 'deployment', in: 'path', required: true });
    expect(chat?.parameters.map((one) => one.name)).toEqual(expect.arrayContaining(['x-svc-config', 'x-svc-provider']));
    expect(chat?.responses['200']).toMatchObject({ content: { 'application/json': {}, 'text/event-stream': {} } });
    const components = document.components.responses as Record<string, { description: string }>;
    for (const [code, { status }] of Object.entries(errorTable)) {
      if (code === 'client_closed') continue;
      expect(components[`Gateway${status}`]?.description, code).toContain(`\`${code}\``);
      if (status !== 426) expect(chat?.responses[String(status)], code).toBeDefined();
    }
    expect(Object.keys(document.paths['/batches/{id}'] ?? {}).sort()).toEqual(['get', 'put']);
    expect(chat?.parameters.find((one) => one.name === 'x-svc-cache')?.schema).toMatchObject({
      enum: ['simple', 'true', 'false'],
    });
    const explain = document.paths['/configs/explain']?.post?.requestBody?.content['application/json']?.schema;
    expect(explain).toMatchObject({ additionalProperties: false, properties: { config: {}, request: {} } });
  });

  it('describes prices, health, and itself', () => {
    for (const path of ['/model-configs/pricing/{provider}/{model}', '/openapi.json', '/docs', '/health', '/ready']) {
      expect(document.paths[path]?.get, path).toMatchObject({ security: [], responses: { 200: {}, 405: {}, 429: {} } });
    }
    expect(document.paths['/ready']?.get?.responses['503']).toMatchObject({ content: { 'application/json': {} } });
    expect(document.paths['/health']?.get).toMatchObject({
      'x-svc-plane': 'both',
      servers: [{ url: '/v1' }, { url: '/v2' }, { url: '/' }],
    });
  });

  it('has the version of the API', () => {
    expect(document.info.version).toBe('2.0.0');
  });

  it('describes each body by an example that the route accepts', () => {
    for (const route of [...adminRoutes, ...publicRoutes]) {
      if (!route.body) continue;
      const operation = document.paths[route.path.replace(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()];
      const [example] = Object.values(operation?.requestBody?.content ?? {}).map((content) => content.example);
      expect(v.safeParse(route.body, example).issues, `${route.method} ${route.path}`).toBeUndefined();
    }
  });

  it('lists the scopes of each type of key', () => {
    const bodyOf = (path: string) => document.paths[path]?.post?.requestBody?.content['application/json'];
    for (const type of ['organisation-service', 'workspace-service', 'workspace-user'] as const) {
      const { schema, example } = bodyOf(`/api-keys/${type.replace('-', '/')}`) as Described;
      const possible = schema.properties.scopes.items.enum;
      expect(new Set(possible)).toEqual(scopesByType[type]);
      expect(possible).toEqual(expect.arrayContaining(example.scopes));
    }
  });

  it('lists provider types, and requires one of both spellings in an integration', () => {
    const body = document.paths['/integrations']?.post?.requestBody?.content['application/json'];
    expect(body?.schema).toMatchObject({
      anyOf: [{ required: ['ai_provider_id'] }, { required: ['integration_id'] }],
      properties: { ai_provider_id: { enum: expect.arrayContaining(['openai', 'mock', 'x-ai', 'xai']) } },
    });
    expect(body?.example).toMatchObject({ ai_provider_id: 'openai' });
  });

  it('uses no pattern that needs Unicode properties for names and passwords', () => {
    const body = document.paths['/workspaces']?.post?.requestBody?.content['application/json']?.schema as JsonSchema;
    expect(body).toMatchObject({ type: 'object', properties: { name: { pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' } } });
  });

  it('uses only forms of schemas that client generators read', () => {
    const hasTwice = (list: unknown) => Array.isArray(list) && new Set(list.map((one) => JSON.stringify(one))).size < list.length;
    const refused: string[] = [];
    const walk = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const schema = value as JsonSchema;
      const isSchema = !/\.(properties|example|enum)$/.test(at);
      if (isSchema && Array.isArray(schema.const)) refused.push(`${at}: a list as const`);
      if (isSchema && Array.isArray(schema.enum) && schema.enum.some(Array.isArray)) refused.push(`${at}: a list in an enum`);
      if (isSchema && schema.type === 'array' && !schema.items && !schema.prefixItems) refused.push(`${at}: no items`);
      if (isSchema && JSON.stringify(schema.default) === '{}') refused.push(`${at}: {} as default`);
      if (/\.parameters\.\d+\.schema$/.test(at) && schema.enum && !schema.type) refused.push(`${at}: values without a type`);
      if (isSchema && hasTwice(schema.anyOf)) refused.push(`${at}: an alternative twice`);
      // Generators name the fields of a class without separators and in one case.
      const names = Object.keys(isSchema && schema.type === 'object' ? (schema.properties ?? {}) : {});
      if (hasTwice(names.map((name) => name.toLowerCase().replaceAll('_', '')))) refused.push(`${at}: two spellings of a field`);
      for (const [key, inner] of Object.entries(value)) walk(inner, `${at}.${key}`);
    };
    walk(document, '');
    expect(refused).toEqual([]);
  });

  it('describes errors of routes for browsers as pages, and files of exports in each format', () => {
    const types = (path: string, method: string, status: string) =>
      Object.keys((document.paths[path]?.[method]?.responses[status]?.content ?? {}) as object);
    expect(types('/auth/signed-in', 'get', '200')).toEqual(['text/html']);
    expect(types('/oauth/consent', 'post', '401')).toEqual(['application/json', 'text/html']);
    expect(types('/oauth/authorize', 'get', '400')).toEqual(['application/json', 'text/html']);
    expect(types('/auth/callback', 'get', '503')).toEqual(['application/json', 'text/html']);
    const ofFormats = exportFormats.map((name) => formatOf(name).contentType);
    expect(types('/logs/exports/{exportId}/file', 'get', '200')).toEqual(ofFormats);
  });

  it('describes the signature of the file of an export as required', () => {
    const { parameters = [] } = document.paths['/logs/exports/{exportId}/file']?.get ?? {};
    const required = parameters.filter((one) => one.in === 'query' && one.required).map((one) => one.name);
    expect(required).toEqual(['expires', 'signature']);
  });

  // Some generated clients decode errors by the first media type alone.
  it('describes errors of SCIM first as the errors of its protocol', () => {
    const { responses = {} } = document.paths['/scim/{organisationId}/Users']?.get ?? {};
    expect(Object.keys(responses['404']?.content as object)).toEqual(['application/scim+json', 'application/json']);
  });

  // schemathesis ignores patterns with `\0`.
  it('has patterns that name NUL as a Unicode escape', () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
      JSON.parse(text ?? ''),
    );
    expect(patterns.length).toBeGreaterThan(0);
    expect(patterns.filter((pattern) => pattern.includes('\\0'))).toEqual([]);
  });

  it('is reached through a gateway', () => {
    for (const path of ['/v1/openapi.json', '/v1/docs', '/v2/openapi.json', '/v2/docs'])
      expect(matchEndpoint('GET', path)).toBe('control-plane');
    for (const route of [...adminRoutes, ...publicRoutes]) {
      const isShared = isAdminCall({ path: `/v1${route.path}`, header: () => 'Bearer svc_admin_' }, new Map());
      if (!isShared) expect(matchEndpoint(route.method, `/v1${route.path}`), route.path).toBe('control-plane');
      // Keys of a workspace reach a provider at shared paths below /v1.
      const operation = document.paths[route.path.replace(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()];
      expect(operation?.servers?.[0]?.url === '/v2', route.path).toBe(isShared);
      expect(matchEndpoint(route.method, `/v2${route.path}`), route.path).toBe('control-plane');
    }
    for (const [method, path] of [...serviceOperations(), ...pageOperations()]) {
      expect(matchEndpoint(method.toUpperCase(), `/v1${path}`), path).toBe('control-plane');
    }
  });

  it('is a page without scripts and external resources', async () => {
    const reply = await fetch(`${plane.url}/v1/docs`);
    const html = await reply.text();
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(reply.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(html).not.toMatch(/<script|<img|<link|https?:\/\/|javascript:/i);
    for (const path of Object.keys(document.paths)) expect(html).toContain(`<code>${path}</code>`);
    expect(html).toContain('configs.create');
  });
});
