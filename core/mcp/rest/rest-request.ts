import { bodyArgument, formType, type RestOperation, type RestParameter } from '../../contract/protocol/mcp/mcp-rest.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

export interface RestRequest {
  /** Path with query, below the path of the integration. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array | null;
}

/** An argument that does not fit the operation. The message names it. */
export class ArgumentError extends Error {}

/** Maximum length of path and query in characters. */
const targetLengthMax = 8_192;

/** Returns the request of a call. Throws ArgumentError for missing and unknown arguments and for values that cannot be sent in a URL or header. */
export function restRequest(operation: RestOperation, sent: JsonObject): RestRequest {
  const { parameters, body } = operation;
  const known = new Set([...parameters.map(({ argument }) => argument), ...(body === null ? [] : [bodyArgument])]);
  for (const name of Object.keys(sent)) {
    if (!known.has(name)) throw new ArgumentError(`arguments.${name.slice(0, 100)}: this tool has no such argument`);
  }
  const segments = new Map<string, string>();
  const query: string[] = [];
  const headers: HeaderList = [];
  for (const parameter of parameters) {
    const value = Object.hasOwn(sent, parameter.argument) ? sent[parameter.argument] : undefined;
    if (value === undefined || value === null) {
      if (parameter.required) throw new ArgumentError(`arguments.${parameter.argument}: required`);
    } else if (parameter.in === 'path') segments.set(parameter.name, segmentOf(parameter, value));
    else if (parameter.in === 'query') query.push(...pairsOf(parameter, value));
    else headers.push(parameter.name.toLowerCase(), headerOf(parameter, value));
  }
  // Replaces in one pass, so that braces in a value are not replaced again.
  const path = operation.path.replace(/\{([^{}]*)\}/g, (_, name: string) => segments.get(name) ?? '');
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
  if (target.length > targetLengthMax) {
    throw new ArgumentError(`arguments: the URL would have more than ${targetLengthMax} characters`);
  }
  const bytes = body === null ? null : bodyOf(body, sent[bodyArgument]);
  if (bytes !== null && body !== null) headers.push('content-type', body.contentType);
  return { path: target, headers, body: bytes };
}

/** Returns the escaped value of a path parameter. It stays one segment: it cannot be empty or lead to another path. */
function segmentOf(parameter: RestParameter, value: unknown): string {
  const text = joined(parameter, value, (item) => item);
  if (text === '' || text === '.' || text === '..') {
    throw new ArgumentError(`arguments.${parameter.argument}: this value cannot be sent in a path`);
  }
  return joined(parameter, value, (item) => escaped(parameter, item));
}

function pairsOf(parameter: RestParameter, value: unknown): string[] {
  const { name, style, explode } = parameter;
  const pair = (key: string, one: unknown) => `${escaped(parameter, key)}=${escaped(parameter, scalar(one))}`;
  if (style === 'deepObject' && isObject(value)) {
    return Object.entries(value).map(([key, one]) => pair(`${name}[${key}]`, one));
  }
  if (style === 'form' && explode && Array.isArray(value)) return value.map((one) => pair(name, one));
  if (style === 'form' && explode && isObject(value)) return Object.entries(value).map(([key, one]) => pair(key, one));
  return [`${escaped(parameter, name)}=${joined(parameter, value, (item) => escaped(parameter, item))}`];
}

function headerOf(parameter: RestParameter, value: unknown): string {
  const text = joined(parameter, value, (item) => item);
  if (!/^[\x20-\x7e]*$/.test(text)) {
    throw new ArgumentError(`arguments.${parameter.argument}: this value cannot be sent in a header`);
  }
  return text;
}

const separators: { readonly [Style in RestParameter['style']]?: string } = { spaceDelimited: '%20', pipeDelimited: '%7C' };

/** Returns the text of a value: items of lists and members of objects with separators between them. */
function joined({ style, explode }: RestParameter, value: unknown, encode: (item: string) => string): string {
  if (style === 'json') return encode(JSON.stringify(value));
  const separator = separators[style] ?? ',';
  if (Array.isArray(value)) return value.map((one) => encode(scalar(one))).join(separator);
  if (!isObject(value)) return encode(scalar(value));
  const members = Object.entries(value).map(([key, one]) => [encode(key), encode(scalar(one))]);
  return style === 'simple' && explode ? members.map((one) => one.join('=')).join(',') : members.flat().join(separator);
}

function bodyOf({ contentType, required }: NonNullable<RestOperation['body']>, value: unknown): Uint8Array | null {
  if (value === undefined) {
    if (required) throw new ArgumentError(`arguments.${bodyArgument}: required`);
    return null;
  }
  if (contentType !== formType) return Buffer.from(JSON.stringify(value));
  if (!isObject(value)) throw new ArgumentError(`arguments.${bodyArgument}: an object is expected`);
  const form = new URLSearchParams();
  for (const [name, one] of Object.entries(value)) {
    for (const each of Array.isArray(one) ? one : [one]) form.append(name, scalar(each));
  }
  return Buffer.from(form.toString());
}

function escaped({ argument }: RestParameter, text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    // Half of a surrogate pair has no bytes.
    throw new ArgumentError(`arguments.${argument}: this value cannot be sent in a URL`);
  }
}

function scalar(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
