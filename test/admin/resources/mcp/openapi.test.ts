import { describe, expect, it } from 'vitest';
import { listOperations } from '../../../../admin/resources/mcp-integrations/rest/list-operations.ts';
import { readOpenApi } from '../../../../admin/resources/mcp-integrations/rest/read-openapi.ts';
import { serverUrlOf, toRestApi } from '../../../../admin/resources/mcp-integrations/rest/to-rest-api.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';

/** OpenAPI documents of REST APIs as tools. */
const documentOf = (paths: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ openapi: '3.1.0', info: { title: 'Pets', version: '1' }, paths },
  ...more,
});
const toolOf = (operation: JsonObject, more: JsonObject = {}, path = '/pets') =>
  toRestApi(readOpenApi(documentOf({ [path]: { get: operation } }, more)), [`GET ${path}`]).operations[0];

describe('a document', () => {
  it.each<[string, string | JsonObject, string]>([
    ['YAML', 'openapi: 3.1.0\ninfo: {title: A, version: "1"}\npaths:\n  /a:\n   get: {}\n  - b', 'document: line 6, column 1:'],
    ['JSON', '{"openapi": "3.1.0",\n "info": }', 'document: the text is not valid JSON'],
    ['text', 'hello', 'document: an OpenAPI document is expected'],
    ['a list', '[1]', 'document: an OpenAPI document is expected'],
    ['an unknown version', documentOf({}, { openapi: '4.0.0' }), 'document.openapi: OpenAPI 3.0, 3.1 or 3.2'],
    ['no info', { openapi: '3.1.0', paths: {} }, 'document.info: required'],
    ['no paths', { openapi: '3.1.0', info: {} }, 'document.paths: required'],
    ['a relative path', documentOf({ pets: {} }), 'document.paths.pets: a path begins with /'],
    ['info of another type', documentOf({}, { info: 5 }), 'document.info: expected object, received number'],
    ['a server without a URL', documentOf({}, { servers: [{}] }), 'document.servers[0].url: required'],
    ['a server of another type', documentOf({}, { servers: [5] }), 'document.servers[0]: expected object, received number'],
    ['U+0000', documentOf({}, { info: { title: 'a\0' } }), 'document: a text contains U+0000'],
    [
      'many levels',
      documentOf({ '/a': JSON.parse(`${'{"a":'.repeat(120)}1${'}'.repeat(120)}`) }),
      'document: at most 100 levels',
    ],
    [
      'aliases of aliases',
      `openapi: 3.1.0\na: &a [1,1,1,1,1,1,1,1,1]\n${'bcdefghij'
        .split('')
        .map((one, i) => `${one}: &${one} [${`*${'abcdefghij'[i]},`.repeat(9)}]`)
        .join('\n')}`,
      'document: Excessive alias count',
    ],
    [
      'many keys',
      JSON.stringify(documentOf({}, { x: Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [i, 1])) })),
      'document: at most 30000 keys',
    ],
    [
      'many operations',
      documentOf(Object.fromEntries(Array.from({ length: 2_501 }, (_, i) => [`/${i}`, { get: {}, put: {} }]))),
      'document.paths: at most 5000 operations',
    ],
    ['a large object', documentOf({ '/a': { description: 'x'.repeat(1_048_576) } }), 'document: at most 1048576 characters'],
  ])('is refused with field and line: %s', (_, sent, message) => {
    expect(() => readOpenApi(sent)).toThrow(`configurations.openapi.${message}`);
  });

  it.each([
    [
      'Swagger 2.0',
      { swagger: '2.0', host: 'api.example.com', basePath: '/v2', schemes: ['https'] },
      'https://api.example.com/v2',
    ],
    [
      'OpenAPI 3.0',
      { openapi: '3.0.3', servers: [{ url: 'https://{region}.example.com/', variables: { region: { default: 'eu' } } }] },
      'https://eu.example.com',
    ],
    ['OpenAPI 3.1', { openapi: '3.1.0', servers: [{ url: '/v1' }] }, null],
    ['OpenAPI 3.2', { openapi: '3.2.0' }, null],
  ])('has the URL of its server: %s', (_, more, url) => {
    const given: JsonObject = { info: { title: 'A', version: '1' }, paths: {}, ...more };
    expect(serverUrlOf(readOpenApi(given))).toBe(url);
    expect(serverUrlOf(readOpenApi(JSON.stringify(given)))).toBe(url);
  });

  it('names operations by operationId, or by method and path', () => {
    const paths = {
      '/a': { get: { operationId: 'one' }, post: { operationId: 'two' }, head: {} },
      '/b': { get: { operationId: 'two' }, delete: {} },
    };
    expect(listOperations(readOpenApi(documentOf(paths))).map(({ id }) => id)).toEqual(['one', 'POST /a', 'GET /b', 'DELETE /b']);
  });
});

describe('an operation', () => {
  it('becomes a tool with one schema of its arguments', () => {
    const paths = {
      '/pets/{id}': {
        parameters: [{ $ref: '#/components/parameters/Id' }],
        put: {
          ...{ operationId: 'pets.update', summary: 'Update a pet', description: 'Changes a pet.' },
          parameters: [
            { name: 'filter[tag]', in: 'query', style: 'deepObject', schema: { type: 'object' } },
            { name: 'id', in: 'query', schema: { type: 'integer' } },
            { name: 'Authorization', in: 'header', required: true, schema: { type: 'string' } },
            { name: 'X-Svc-Api-Key', in: 'header', schema: { type: 'string' } },
            { name: 'session', in: 'cookie', schema: { type: 'string' } },
            { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
            { name: 'q', in: 'query', content: { 'application/json': { schema: { type: 'array' } } } },
          ],
          requestBody: { $ref: '#/components/requestBodies/Pet' },
        },
      },
    };
    const components = {
      parameters: { Id: { name: 'id', in: 'path', required: true, description: 'Id of the pet', schema: { type: 'string' } } },
      requestBodies: {
        Pet: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
      },
      schemas: {
        Pet: {
          type: 'object',
          properties: {
            ...{
              name: { type: 'string', nullable: true, example: 'Rex' },
              age: { type: 'number', minimum: 0, exclusiveMinimum: true },
            },
            ...{ parent: { $ref: '#/components/schemas/Pet' }, example: { type: 'string' } },
          },
          ...{ xml: { name: 'pet' }, 'x-internal': true, default: { 'x-kept': 1, $ref: 'data' } },
        },
      },
    };
    const { title, operations } = toRestApi(readOpenApi(documentOf(paths, { openapi: '3.0.3', components })), ['pets.update']);
    expect(title).toBe('Pets');
    expect(operations).toEqual([
      {
        tool: {
          ...{ name: 'pets_update', title: 'Update a pet', description: 'Changes a pet.' },
          inputSchema: {
            ...{ type: 'object', additionalProperties: false, required: ['id', 'body'] },
            properties: {
              id: { type: 'string', description: 'Id of the pet' },
              filter_tag_: { type: 'object' },
              id_query: { type: 'integer' },
              'X-Trace': { type: 'string' },
              q: { type: 'array' },
              body: { $ref: '#/$defs/Pet' },
            },
            $defs: {
              Pet: {
                type: 'object',
                properties: {
                  ...{ name: { type: ['string', 'null'], examples: ['Rex'] }, age: { type: 'number', exclusiveMinimum: 0 } },
                  ...{ parent: { $ref: '#/$defs/Pet' }, example: { type: 'string' } },
                },
                default: { 'x-kept': 1, $ref: 'data' },
              },
            },
          },
          annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
        },
        ...{ method: 'PUT', path: '/pets/{id}', body: { contentType: 'application/json', required: true } },
        parameters: [
          { argument: 'id', name: 'id', in: 'path', required: true, style: 'simple', explode: false },
          { argument: 'filter_tag_', name: 'filter[tag]', in: 'query', required: false, style: 'deepObject', explode: false },
          { argument: 'id_query', name: 'id', in: 'query', required: false, style: 'form', explode: true },
          { argument: 'X-Trace', name: 'X-Trace', in: 'header', required: false, style: 'simple', explode: false },
          { argument: 'q', name: 'q', in: 'query', required: false, style: 'json', explode: false },
        ],
      },
    ]);
  });

  const inPath = { name: 'id', in: 'path', required: true, schema: {} };
  const body = (type: string) => ({ requestBody: { required: true, content: { [type]: {} } } });
  it.each<[string, JsonObject, string, string?]>([
    [
      'a reference to a file',
      { parameters: [{ $ref: 'other.yaml#/a' }] },
      '$ref other.yaml#/a: only references within the document',
    ],
    [
      'a reference to a URL',
      { parameters: [{ name: 'a', in: 'query', schema: { $ref: 'https://example.com/a' } }] },
      'only references within',
    ],
    [
      'an unknown reference',
      { parameters: [{ $ref: '#/components/x' }] },
      '$ref #/components/x: the document has no such member',
    ],
    [
      'a member of every object',
      { parameters: [{ $ref: '#/constructor' }] },
      '$ref #/constructor: the document has no such member',
    ],
    ['a circle', { parameters: [{ $ref: '#/paths/~1pets/get/parameters/0' }] }, 'refers to itself'],
    ['a parameter without a name', { parameters: [{ in: 'query' }] }, 'parameters[0].name: required'],
    ['a parameter of another type', { parameters: [null] }, 'parameters[0]: expected object, received null'],
    [
      'a schema of another type',
      { parameters: [{ ...inPath, schema: 5 }] },
      'parameters[0].schema: expected object or boolean, received number',
    ],
    [
      'an unknown place',
      { parameters: [{ name: 'a', in: 'body' }] },
      'parameters[0].in: path, query, header or cookie is expected',
    ],
    [
      'an unknown style',
      { parameters: [{ ...inPath, style: 'matrix' }] },
      'id has the style matrix, which is not possible in path',
      '/pets/{id}',
    ],
    ['a parameter in XML', { parameters: [{ name: 'a', in: 'query', content: { 'text/xml': {} } }] }, 'Only JSON is possible'],
    ['a missing path parameter', {}, 'parameters: {id} of the path is missing', '/pets/{id}'],
    ['a path parameter that the path lacks', { parameters: [inPath] }, 'parameters: the path has no {id}'],
    ['a path with a query', {}, 'the path has characters that must be escaped', '/pets?a=1'],
    ['a path to the directory above', {}, 'the path has characters that must be escaped', '/pets/../admin'],
    ['a path with an escaped slash', {}, 'the path has characters that must be escaped', '/pets/%2e%2E%2fadmin'],
    ['servers of its own', { servers: [{ url: 'https://other.example.com' }] }, 'servers: only servers of the document'],
    ['a form with files', body('multipart/form-data'), 'requestBody: multipart/form-data is not possible'],
    [
      'a long schema',
      { parameters: [{ name: 'a', in: 'query', schema: { description: 'x'.repeat(70_000) } }] },
      'its schema has more than 65536 characters',
    ],
    ['no object', null as never, 'an object is expected'],
  ])('with %s cannot be a tool', (_, operation, reason, path = '/pets') => {
    expect(() => toolOf(operation, {}, path)).toThrow(reason);
    expect(() => toolOf(operation, {}, path)).toThrow(`configurations.openapi.operations[0]: GET ${path} cannot be a tool: `);
  });

  it.each<[string, string[], string]>([
    ['an unknown name', ['GET /pets', 'nothing'], 'operations[1]: the document has no such operation'],
    ['two names of one operation', ['GET /pets', 'GET /pets'], 'operations[1]: another selected operation is named GET_pets too'],
  ])('is not selected by %s', (_, selected, message) => {
    expect(() => toRestApi(readOpenApi(documentOf({ '/pets': { get: {} } })), selected)).toThrow(
      `configurations.openapi.${message}`,
    );
  });

  it('leaves out a body of an unknown type that is not required', () => {
    expect(toolOf({ requestBody: { content: { 'image/png': {} } } })?.body).toBeNull();
    expect(toolOf(body('application/vnd.api+json'))?.body).toEqual({ contentType: 'application/vnd.api+json', required: true });
  });
});
