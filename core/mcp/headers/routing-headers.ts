import type { InboundRequest } from '../../contract/values/http/http.ts';
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

/** Header values that are not plain ASCII are sent as `=?base64?<text>?=`. */
function decoded(value: string | undefined): string | undefined {
  const encoded = value === undefined ? null : /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value);
  return encoded ? Buffer.from(encoded[1] as string, 'base64').toString('utf8') : value;
}
