import * as v from 'valibot';
import { isForwardable } from '../../../../core/contract/protocol/mcp/mcp-headers.ts';
import {
  bodyArgument,
  formType,
  type RestOperation,
  type RestParameter,
} from '../../../../core/contract/protocol/mcp/mcp-rest.ts';
import { pathOf, reasonOf } from '../../../../core/contract/values/errors/input-issues.ts';
import { isObject } from '../../../../core/contract/values/json/json.ts';
import type { ListedOperation } from './list-operations.ts';
import {
  type OpenApiDocument,
  type OpenApiParameter,
  openApiBody,
  openApiOperation,
  openApiParameter,
} from './openapi-schema.ts';
import { followed, OperationError } from './references.ts';
import { ToolSchemas } from './tool-schema.ts';

/** Maximum length of the definition of a tool as JSON. */
const definitionLengthMax = 65_536;
const nameLengthMax = 64;

/** Returns an operation as a tool. Throws OperationError if it cannot be one. */
export function toOperation(document: OpenApiDocument, { id, method, path, operation, shared }: ListedOperation): RestOperation {
  if (isObject(operation) && operation.servers !== undefined)
    throw new OperationError('servers: only servers of the document are possible');
  const { parameters: own, requestBody, summary, description } = parsed(openApiOperation, operation, '');
  const schemas = new ToolSchemas(document);
  const properties: Record<string, unknown> = {};
  const parameters = parametersOf(document, [...shared, ...own]).map((parameter): RestParameter => {
    const argument = argumentOf(parameter, properties);
    properties[argument] = described(schemas.of(schemaOf(parameter)), parameter.description);
    return {
      argument,
      name: parameter.name,
      in: parameter.in as RestParameter['in'],
      required: isRequired(parameter),
      ...styleOf(parameter),
    };
  });
  requirePath(path, parameters);
  const body = bodyOf(document, requestBody, schemas, properties);
  const required = [
    ...parameters.filter((one) => one.required).map((one) => one.argument),
    ...(body?.required ? [bodyArgument] : []),
  ];
  const definitions = schemas.definitions();
  const tool = {
    name: nameOf(id),
    ...(summary ? { title: summary } : {}),
    description: description || summary || `${method} ${path}`,
    inputSchema: {
      ...{ type: 'object', properties, additionalProperties: false },
      ...(required.length === 0 ? {} : { required }),
      ...(definitions ? { $defs: definitions } : {}),
    },
    annotations: {
      ...{ readOnlyHint: method === 'GET', destructiveHint: method !== 'GET' && method !== 'POST' },
      ...{ idempotentHint: method !== 'POST' && method !== 'PATCH', openWorldHint: true },
    },
  };
  if (JSON.stringify(tool).length > definitionLengthMax)
    throw new OperationError(`its schema has more than ${definitionLengthMax} characters`);
  return { tool, method, path, parameters, body };
}

/** Returns the parameters that are arguments. Those of the operation replace those of its path. Credentials belong to the integration. */
function parametersOf(document: OpenApiDocument, sent: readonly unknown[]): OpenApiParameter[] {
  const all = new Map<string, OpenApiParameter>();
  for (const [index, one] of sent.entries()) {
    const parameter = parsed(openApiParameter, followed(document, one), `parameters[${index}]`);
    all.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  return [...all.values()].filter(
    ({ in: location, name }) => location !== 'cookie' && (location !== 'header' || isArgumentHeader(name)),
  );
}

function isArgumentHeader(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name) && isForwardable(name.toLowerCase()) && !/^x-svc-/i.test(name);
}

/** Returns a name that providers accept as the name of a property, and that no other argument has. */
function argumentOf({ name, in: location }: OpenApiParameter, taken: object): string {
  const plain = name.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, nameLengthMax);
  for (const one of [plain, `${plain}_${location}`, ...Array.from({ length: 100 }, (_, index) => `${plain}_${index + 2}`)]) {
    if (one !== bodyArgument && one !== '__proto__' && !Object.hasOwn(taken, one)) return one;
  }
  throw new OperationError(`parameters: more than 100 are named ${plain}`);
}

function isRequired({ required, in: location }: OpenApiParameter): boolean {
  return required === true || location === 'path';
}

function schemaOf({ schema, content, name }: OpenApiParameter): unknown {
  if (schema !== undefined) return schema;
  const [[type, media] = ['', undefined]] = Object.entries(content ?? {});
  if (media === undefined) return {};
  if (isJson(type)) return media.schema ?? {};
  throw new OperationError(`parameters: ${name} has content of the type ${type.slice(0, 100)}. Only JSON is possible`);
}

const styles: Readonly<Record<string, readonly string[]>> = {
  ...{ path: ['simple'], header: ['simple'] },
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
};

function styleOf({ name, in: location, style, explode, schema }: OpenApiParameter): Pick<RestParameter, 'style' | 'explode'> {
  if (schema === undefined) return { style: 'json', explode: false };
  const usual = location === 'query' ? 'form' : 'simple';
  const used = style ?? usual;
  if (!styles[location]?.includes(used))
    throw new OperationError(`parameters: ${name} has the style ${used.slice(0, 50)}, which is not possible in ${location}`);
  return { style: used as RestParameter['style'], explode: explode ?? used === 'form' };
}

/** Throws if a part of the path would stay open, or could lead elsewhere. */
function requirePath(path: string, parameters: readonly RestParameter[]): void {
  const names = new Set(parameters.filter((one) => one.in === 'path').map(({ name }) => name));
  const open = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name as string).find((name) => !names.has(name));
  if (open !== undefined) throw new OperationError(`parameters: {${open.slice(0, 100)}} of the path is missing`);
  const unused = [...names].find((name) => !path.includes(`{${name}}`));
  if (unused !== undefined) throw new OperationError(`parameters: the path has no {${unused.slice(0, 100)}}`);
  const literal = path.replace(/\{[^{}]*\}/g, 'x');
  const isPlain = /^(?:\/(?!\.{1,2}(?:\/|$))(?:[\w.~!$&'()*+,;=:@-]|%(?!2[eEfF]|5[cC])[0-9A-Fa-f]{2})*)+$/.test(literal);
  if (!isPlain) throw new OperationError('the path has characters that must be escaped');
}

function bodyOf(
  document: OpenApiDocument,
  sent: unknown,
  schemas: ToolSchemas,
  properties: Record<string, unknown>,
): RestOperation['body'] {
  if (sent === undefined) return null;
  const { content, required = false, description } = parsed(openApiBody, followed(document, sent), 'requestBody');
  const types = Object.keys(content);
  const type = types.find(isJson) ?? types.find((one) => one.split(';')[0]?.trim() === formType);
  if (type === undefined) {
    if (!required) return null;
    throw new OperationError(
      `requestBody: ${types.join(', ').slice(0, 200)} is not possible. application/json or ${formType} is expected`,
    );
  }
  properties[bodyArgument] = described(schemas.of(content[type]?.schema ?? {}), description);
  const isPlain = /^[\w.+-]+\/[\w.+-]+$/.test(type);
  return { contentType: isPlain ? type : isJson(type) ? 'application/json' : formType, required };
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type);
}

function described(schema: unknown, description: string | undefined): unknown {
  if (!description) return schema;
  return isObject(schema) ? { ...schema, ...(schema.description === undefined ? { description } : {}) } : { description };
}

/** Returns a name that providers accept as the name of a tool. */
function nameOf(id: string): string {
  return (
    id
      .replace(/[^A-Za-z0-9_-]+/g, '_')
      .replace(/^_+|(?<!_)_+$/g, '')
      .slice(0, nameLengthMax) || 'operation'
  );
}

function parsed<T>(schema: v.GenericSchema<unknown, T>, value: unknown, path: string): T {
  const found = v.safeParse(schema, value);
  if (found.success) return found.output;
  const [issue] = found.issues;
  const at = [path, pathOf(issue, '')].filter(Boolean).join('.');
  throw new OperationError(`${at === '' ? '' : `${at}: `}${reasonOf(issue)}`);
}
