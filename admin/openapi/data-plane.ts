import {
  azureBases,
  basesOf,
  followsDeployment,
  type RouteDescription,
  replyHeaderTexts,
  requestHeaderTexts,
  routeDescriptions,
} from '../../core/contract/protocol/route-descriptions.ts';
import { type ErrorCode, errorTable } from '../../core/contract/values/errors/errors.ts';
import { headerSchema, memberSchema } from './data-plane-schemas.ts';
import type { Operation, Parameter, RequestBody } from './document.ts';
import type { JsonSchema } from './to-json-schema.ts';

/** Operations of the data plane with method and path. */
export function dataPlaneOperations(headerPrefix: string): readonly (readonly [method: string, path: string, Operation])[] {
  return Object.entries(routeDescriptions).flatMap(([key, route]) => {
    const [method = '', path = ''] = key.split(' ');
    const own = [method.toLowerCase(), path, operationOf(path, route, headerPrefix)] as const;
    return followsDeployment(key, route) ? [own, ofDeployment(path, route, headerPrefix)] : [own];
  });
}

/** The operation as Azure's SDKs call it. The deployment is the model. */
function ofDeployment(below: string, route: RouteDescription, headerPrefix: string) {
  const path = `/deployments/{deployment}${below}`;
  const operation: Operation = {
    ...operationOf(path, route, headerPrefix),
    operationId: `${route.name}OfDeployment`,
    summary: `${route.summary}, with the model in the path, as SDKs of Azure do`,
    servers: [{ url: azureBases[0] }],
  };
  return ['post', path, operation] as const;
}

function operationOf(path: string, route: RouteDescription, headerPrefix: string): Operation {
  const body = bodyOf(route);
  return {
    operationId: route.name,
    summary: route.summary,
    tags: [route.tag],
    servers: basesOf(route).map((url) => ({ url })),
    security: [{ apiKey: [] }, { bearer: [] }],
    'x-svc-plane': 'data',
    'x-svc-scopes': route.scopes ?? ['completions.write'],
    parameters: [...pathParameters(path), ...(route.query ?? []).map(queryParameter), ...headerParameters(headerPrefix)],
    ...(body === null ? {} : { requestBody: body }),
    responses: responsesOf(route, headerPrefix),
  };
}

const text = { type: 'string' } as const;

function pathParameters(path: string): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({ name, in: 'path', required: true, schema: text }));
}

function queryParameter(name: string): Parameter {
  return { name, in: 'query', required: false, schema: text };
}

function headerParameters(prefix: string): Parameter[] {
  return Object.entries(requestHeaderTexts).map(([name, description]) => ({
    name: `${prefix}${name}`,
    in: 'header',
    required: false,
    schema: headerSchema(name),
    description,
  }));
}

const mediaTypes = {
  json: ['application/json'],
  form: ['multipart/form-data'],
  'json-or-form': ['multipart/form-data', 'application/json'],
  stream: ['multipart/form-data'],
  none: [],
} as const;

const model = { type: 'string', description: 'Model, or `@provider/model`. May be left out if the config sets it' };

/** Bodies that are sent to a provider are open objects: providers have parameters of their own. */
function bodyOf({ body, required = [], only, example }: RouteDescription): RequestBody | null {
  if (body === 'none') return null;
  const named = Object.fromEntries((only ?? required).map((name) => [name, memberSchema(name)]));
  const properties = only ? named : { model, ...named };
  const schema = { type: 'object', properties, required, additionalProperties: !only };
  const content = { schema, ...(example ? { example } : {}) };
  return { required: true, content: Object.fromEntries(mediaTypes[body].map((type) => [type, content])) };
}

function responsesOf({ name, replies = ['application/json'] }: RouteDescription, prefix: string): Record<string, JsonSchema> {
  const isSocket = name === 'realtime';
  const headers = Object.fromEntries(
    Object.entries(replyHeaderTexts).map(([header, description]) => [`${prefix}${header}`, { schema: text, description }]),
  );
  const content = Object.fromEntries(
    replies.map((type) => [type, { schema: type === 'application/json' ? { type: 'object' } : text }]),
  );
  return {
    ...(isSocket ? { 101: { description: 'The session is open' } } : { 200: { description: 'Done', headers, content } }),
    ...Object.fromEntries(
      [...codesByStatus]
        .filter(([status]) => isSocket || status !== errorTable.upgrade_required.status)
        .map(([status]) => [status, { $ref: `#/components/responses/${failureName(status)}` }]),
    ),
    default: { description: 'Other statuses come from the provider; the body is an error in the format of the route' },
  };
}

/** Codes by the status they are sent with. No client receives `client_closed`. */
const codesByStatus: ReadonlyMap<number, readonly ErrorCode[]> = groupByStatus();

function groupByStatus(): Map<number, ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>();
  for (const [code, { status }] of Object.entries(errorTable) as [ErrorCode, { status: number }][]) {
    if (code !== 'client_closed') groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}

function failureName(status: number): string {
  return `Gateway${status}`;
}

/** `components.responses` of the data plane: one per status, with the codes that have it. */
export function gatewayFailures(): Record<string, JsonSchema> {
  return Object.fromEntries([...codesByStatus].map(([status, codes]) => [failureName(status), failureOf(status, codes)]));
}

function failureOf(status: number, codes: readonly ErrorCode[]): JsonSchema {
  const header = (description: string): JsonSchema => ({ schema: text, description });
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code].public}`).join('. '),
    headers: {
      'x-request-id': header('Names the request in the log'),
      ...(status === 405 ? { allow: header('The methods of the path') } : {}),
      ...(status === 429 || status === 503 ? { 'retry-after': header('Seconds to wait') } : {}),
    },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/GatewayError' } } },
  };
}

const codes = Object.keys(errorTable);
const nullableText = { type: ['string', 'null'] } as const;

/** Body of the gateway's own errors. A provider's own error passes through, so that `error.name` is absent there. */
export const gatewayErrorSchema: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    type: { type: 'string', description: '`error` on routes of the Anthropic format' },
    status: { type: 'string', description: '`failure` for errors of the gateway' },
    message: text,
    errors: { type: 'array', items: text, description: 'One `path: message` per issue' },
    error: {
      type: 'object',
      required: ['message'],
      properties: {
        message: text,
        type: nullableText,
        param: nullableText,
        code: { description: 'A code of two or three digits for errors of authentication and limits, else the same as `name`' },
        name: { type: 'string', enum: codes, description: 'The code of an error of the gateway' },
        field: { type: ['string', 'null'], description: 'In place of `param` if inline settings are blocked' },
      },
    },
  },
};
