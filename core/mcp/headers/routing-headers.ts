import type { HeaderList, InboundRequest } from '../../contract/values/http/http.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { type ClientMessage, nameOf, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import { statelessRevision } from '../sessions/own-client.ts';

const versionKey = 'io.modelcontextprotocol/protocolVersion';

/** Methods whose name or URI the header `mcp-name` repeats. */
const named: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/**
 * Compares the routing headers of a request with its body, in revisions that have them. Returns true if they may be sent on, false for
 * earlier revisions. Throws RpcError -32020 if a header is missing or differs: servers may route by headers alone. The server itself
 * refuses a body that states no revision.
 */
export function checkRoutingHeaders(request: InboundRequest, message: ClientMessage): boolean {
  const { id, method, params } = message;
  const version = request.header('mcp-protocol-version');
  const meta = isObject(params._meta) ? params._meta[versionKey] : undefined;
  if (meta === undefined && !isStateless(version)) return false;
  if (message.kind !== 'request') return true;
  if (meta !== undefined) requireEqual('mcp-protocol-version', version, meta, id);
  requireEqual('mcp-method', request.header('mcp-method'), method, id);
  if (repeatsName(method)) requireEqual('mcp-name', decoded(request.header('mcp-name')), nameOf(message), id);
  return true;
}

/** True for methods whose name or URI the header `mcp-name` repeats. */
export function repeatsName(method: string | null): boolean {
  return named.has(method ?? '');
}

/** True for a revision without sessions. */
export function isStateless(version: unknown): boolean {
  return typeof version === 'string' && /^\d{4}-\d\d-\d\d$/.test(version) && version >= statelessRevision;
}

function requireEqual(name: string, header: string | undefined, body: unknown, id: ClientMessage['id']): void {
  if (header !== undefined && header === body) return;
  const issue = header === undefined ? 'is missing' : 'does not match the body';
  throw new RpcError(rpcCodes.headerMismatch, `Header mismatch: the header ${name} ${issue}`, { id });
}

/** Headers that repeat arguments of a tool, as its definition demands. */
const argumentHeader = /^mcp-param-/;

/** Returns the values of the headers that repeat arguments, which servers read like these. Undefined: there are none. */
export function repeatedArguments(request: InboundRequest, { method }: ClientMessage): readonly string[] | undefined {
  const values = method === 'tools/call' ? valuesOf(request, argumentHeader) : [];
  return values.length === 0 ? undefined : values;
}

/** Returns the headers of a client that repeat parts of its message, with the values that guardrails have changed. */
export function clientRouting(request: InboundRequest, message: ClientMessage): HeaderList {
  const sent = request.headers;
  // Servers with extensions name other things too, such as a task.
  const name = repeatsName(message.method) ? nameOf(message) : null;
  const { repeated = [] } = message;
  const headers: HeaderList = [];
  let at = 0;
  for (let i = 0; i < sent.length; i += 2) {
    const header = sent[i] as string;
    const value = sent[i + 1] as string;
    if (argumentHeader.test(header)) {
      const current = repeated[at++];
      if (current !== undefined) headers.push(header, current === decoded(value) ? value : encoded(current));
    } else if (header === 'mcp-name') headers.push(header, name === null || name === decoded(value) ? value : encoded(name));
    else if (header === 'mcp-method') headers.push(header, value);
  }
  return headers;
}

function valuesOf({ headers }: InboundRequest, named: RegExp): string[] {
  const values: string[] = [];
  for (let i = 0; i < headers.length; i += 2)
    if (named.test(headers[i] as string)) values.push(decoded(headers[i + 1]) as string);
  return values;
}

/** Returns a text as the value of a header: encoded, unless it is plain ASCII. */
export function encoded(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Header values that are not plain ASCII are sent as `=?base64?<text>?=`. */
function decoded(value: string | undefined): string | undefined {
  const found = value === undefined ? null : /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value);
  return found ? Buffer.from(found[1] as string, 'base64').toString('utf8') : value;
}
