import type { Operation, Parameter } from './document.ts';
import { failureRefs } from './responses.ts';
import type { JsonSchema } from './to-json-schema.ts';

/** A route without a key, served in addition to the tables of routes. */
interface ServiceRoute {
  readonly name: string;
  readonly tag: string;
  readonly summary: string;
  readonly plane: Operation['x-svc-plane'];
  /** Base URLs, the primary one first. */
  readonly bases: readonly string[];
  /** Required query parameters. */
  readonly query?: readonly string[];
  /** Responses by status, in addition to those of `failures`. */
  readonly responses: Readonly<Record<number, JsonSchema>>;
  /** Statuses with the common body of the control plane. */
  readonly failures: readonly number[];
}

const below = ['/v1', '/v2'];
const atRootToo = ['/v1', '/v2', '/'];
const text = { type: 'string' };
const nullable = (type: string): JsonSchema => ({ type: [type, 'null'] });
/** Cents per unit. */
const rate: JsonSchema = { type: 'object', required: ['price'], properties: { price: { type: 'number', minimum: 0 } } };

function json(description: string, required: readonly string[], properties: JsonSchema, more: JsonSchema = {}): JsonSchema {
  const schema = { type: 'object', required, properties };
  return { description, ...more, content: { 'application/json': { schema } } };
}

const page = (description: string): JsonSchema => ({ description, content: { 'text/html': { schema: text } } });
const bytes: JsonSchema = { schema: { type: 'string', format: 'binary' } };
const exportFiles = {
  'application/x-ndjson': { schema: text },
  'application/gzip': bytes,
  'application/vnd.apache.parquet': bytes,
};
const modelMissing = json('The price list does not have the model', ['error'], { error: { const: 'Model not found' } });

/** Refusals that a gateway sends for any path of the control plane, and the control plane for any address. */
const usual = [400, 405, 414, 429, 431, 500, 503];

/** Routes by path; all of them are GET. */
const routes: Readonly<Record<string, ServiceRoute>> = {
  '/model-configs/pricing/{provider}/{model}': {
    name: 'getModelConfigsPricing',
    tag: 'model_configs',
    summary: 'Read the public prices of a model, in cents per unit. The model may hold slashes',
    plane: 'control',
    bases: atRootToo,
    responses: {
      200: json('Done', ['pay_as_you_go', 'currency'], {
        pay_as_you_go: {
          type: 'object',
          properties: { additional_units: { type: 'object', additionalProperties: rate }, fixed_cost: rate },
          additionalProperties: rate,
        },
        currency: { const: 'USD' },
      }),
      404: modelMissing,
    },
    failures: usual,
  },
  '/model-configs/general/{provider}/{model}': {
    name: 'getModelConfigsGeneral',
    tag: 'model_configs',
    summary: 'Read what the price list holds about a model beside prices. The model may hold slashes',
    plane: 'control',
    bases: atRootToo,
    responses: {
      200: json('Done', ['model', 'name', 'description', 'context_window', 'deprecated'], {
        model: text,
        name: text,
        description: nullable('string'),
        context_window: nullable('integer'),
        deprecated: { type: 'boolean' },
      }),
      404: modelMissing,
    },
    failures: usual,
  },
  '/logs/exports/{exportId}/file': {
    name: 'getLogsExportsFile',
    tag: 'log_exports',
    summary: 'Download the file of an export of logs. The download route returns the whole URL with its signature',
    plane: 'control',
    bases: below,
    query: ['expires', 'signature'],
    responses: { 200: { description: 'The file, by its format', content: exportFiles } },
    failures: [...usual, 404],
  },
  '/openapi.json': {
    name: 'getOpenapi',
    tag: 'service',
    summary: 'This document',
    plane: 'control',
    bases: below,
    responses: { 200: json('OpenAPI 3.1', ['openapi', 'info', 'paths'], { openapi: text }) },
    failures: usual,
  },
  '/docs': {
    name: 'getDocs',
    tag: 'service',
    summary: 'This document as a page without scripts',
    plane: 'control',
    bases: below,
    responses: { 200: page('The page') },
    failures: usual,
  },
  '/health': {
    name: 'getHealth',
    tag: 'service',
    summary: 'The process runs',
    plane: 'both',
    bases: atRootToo,
    responses: {
      200: json('Done', ['status', 'message'], {
        status: { const: 'success' },
        message: text,
        version: { type: 'string', description: 'Version of the package; sent by gateways' },
      }),
    },
    failures: usual,
  },
  '/ready': {
    name: 'getReady',
    tag: 'service',
    summary: 'The process can serve requests',
    plane: 'both',
    bases: atRootToo,
    responses: {
      200: json('It can', ['status', 'message'], {
        status: { const: 'success' },
        message: text,
        warnings: {
          type: 'array',
          items: text,
          description:
            'Failures although requests are served, such as a full disk of the database; absent if there are none; sent by the control plane',
        },
        gateways: {
          type: 'object',
          description: 'Gateway processes that report in time and that do not; sent by the control plane',
          required: ['healthy', 'unhealthy'],
          properties: { healthy: { type: 'integer', minimum: 0 }, unhealthy: { type: 'integer', minimum: 0 } },
        },
      }),
      503: json(
        'It cannot',
        ['status', 'message', 'reasons'],
        {
          status: { const: 'failure' },
          message: text,
          reasons: {
            type: 'array',
            items: { type: 'object', required: ['dependency', 'message'], properties: { dependency: text, message: text } },
          },
        },
        { headers: { 'retry-after': { schema: { type: 'integer', minimum: 1 }, description: 'Seconds to wait' } } },
      ),
    },
    failures: usual.filter((status) => status !== 503),
  },
};

/** Operations of the routes that are neither admin routes nor routes of the data plane, with method and path. */
export function serviceOperations(): readonly (readonly [method: 'get', path: string, Operation])[] {
  return Object.entries(routes).map(([path, route]) => ['get', path, operationOf(path, route)]);
}

function operationOf(path: string, route: ServiceRoute): Operation {
  const { name, tag, summary, plane, bases, query = [], responses, failures } = route;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter ?? '');
  return {
    operationId: name,
    summary,
    tags: [tag],
    servers: bases.map((url) => ({ url })),
    security: [],
    'x-svc-plane': plane,
    'x-svc-scopes': [],
    parameters: [...inPath.map((one) => requiredParameter('path', one)), ...query.map((one) => requiredParameter('query', one))],
    responses: { ...failureRefs(failures), ...responses },
  };
}

function requiredParameter(at: 'path' | 'query', name: string): Parameter {
  return { name, in: at, required: true, schema: { type: 'string', minLength: 1 } };
}
