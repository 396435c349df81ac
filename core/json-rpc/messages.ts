import type { GatewayError } from '../contract/values/errors/errors.ts';
import { hasDuplicateKeys } from '../contract/values/json/duplicate-keys.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { unmarkedTextOf } from '../contract/values/text/utf8.ts';
import { otherSpelling } from './spellings.ts';

/** JSON-RPC error codes. The revisions of MCP define those below -32020. */
export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The session does not exist; the client must initialize again. */
  sessionNotFound: -32001,
  notAcceptable: -32000,
  headerMismatch: -32020,
} as const;

/** A guardrail denied the call or its result. */
export const guardrailDenied = -32446;

export type RpcId = string | number;

/** A message of a client. */
export interface ClientMessage {
  readonly kind: 'request' | 'notification' | 'response';
  /** Null for notifications. */
  readonly id: RpcId | null;
  /** Null for responses. */
  readonly method: string | null;
  readonly params: JsonObject;
  /** Values of the headers that repeat arguments of a tool, in their order; absent: there are none. */
  readonly repeated?: readonly string[];
  /** True if the message has members that JSON-RPC does not define. */
  readonly hasOthers?: true;
}

/** A message that the gateway rejects itself. */
export class RpcError extends Error {
  readonly rpcCode: number;
  readonly status: number;
  readonly id: RpcId | null;
  readonly data: JsonObject | undefined;

  constructor(rpcCode: number, message: string, more: { status?: number; id?: RpcId | null; data?: JsonObject } = {}) {
    super(message);
    this.rpcCode = rpcCode;
    this.status = more.status ?? 400;
    this.id = more.id ?? null;
    this.data = more.data;
  }
}

/**
 * Parses the body of a POST. Throws RpcError for text that is not UTF-8 or JSON, for batches, which no supported revision has, and for
 * anything that is not a JSON-RPC 2.0 message.
 */
export function parseMessage(body: Uint8Array): ClientMessage {
  const value = parse(body);
  if (Array.isArray(value))
    throw new RpcError(rpcCodes.invalidRequest, 'Batches are not supported. Send one message per request');
  if (!isObject(value) || value.jsonrpc !== '2.0') {
    throw new RpcError(rpcCodes.invalidRequest, 'A JSON-RPC 2.0 message is expected: jsonrpc must be "2.0"');
  }
  const id = readId(value);
  const { method, params = {} } = value;
  requireSpelling(value, otherMember, '', id);
  if (method === undefined) {
    if (id === null || (value.result === undefined) === (value.error === undefined)) {
      throw new RpcError(
        rpcCodes.invalidRequest,
        'method: required, unless the message is a response with id and result or error',
      );
    }
    return { kind: 'response', id, method: null, params: {} };
  }
  if (typeof method !== 'string' || method === '' || method.length > 255) {
    throw new RpcError(rpcCodes.invalidRequest, 'method: a text of 1 to 255 characters is expected', { id });
  }
  if (!isObject(params)) throw new RpcError(rpcCodes.invalidParams, 'params: an object is expected', { id });
  requireSpelling(params, otherParameter, 'params.', id);
  if (isObject(params.ref)) requireSpelling(params.ref, otherParameter, 'params.ref.', id);
  const named = namedBy(method);
  // A subscription to nothing needs no check. Servers of revisions without subscriptions refuse the method, whatever its parameters.
  const isOfNothing = params[named ?? ''] === undefined && subscriptions.has(method);
  if (named !== null && typeof params[named] !== 'string' && !isOfNothing) {
    throw new RpcError(rpcCodes.invalidParams, `params.${named}: a text is expected`, { id, status: 200 });
  }
  const hasOthers = Object.keys(value).some((name) => !members.has(name));
  return { kind: id === null ? 'notification' : 'request', id, method, params, ...(hasOthers ? { hasOthers } : {}) };
}

const members: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

/** Throws RpcError for an object with a key twice: the gateway would check one of the values, and a server could use the other. */
function parse(body: Uint8Array): unknown {
  const text = unmarkedTextOf(body);
  let value: unknown;
  try {
    if (text !== null) value = JSON.parse(text);
  } catch {}
  if (text === null || value === undefined)
    throw new RpcError(rpcCodes.parse, 'Parse error: the body is not valid JSON in UTF-8');
  if (!isObject(value) || !hasDuplicateKeys(text, value)) return value;
  throw new RpcError(rpcCodes.invalidRequest, 'The body has an object with the same key twice. Send each key once');
}

/** Returns whether a value can be the id of a request. */
export function isRpcId(id: unknown): id is RpcId {
  return typeof id === 'string' ? id.length <= 1_024 : Number.isFinite(id);
}

function readId(message: JsonObject): RpcId | null {
  const { id } = message;
  if (id === undefined) return null;
  if (isRpcId(id)) return id;
  throw new RpcError(rpcCodes.invalidRequest, 'id: a number or a text of at most 1,024 characters is expected');
}

/** Returns the name that a method acts on: a tool, a prompt, or the URI of a resource. Null if it has none. */
export function nameOf({ method, params }: ClientMessage): string | null {
  const named = namedBy(method);
  const value = named === null ? null : params[named];
  return typeof value === 'string' ? value : null;
}

/** The parameter with the name that a method acts on. Servers may make a text of another value, such as a list of one name. */
function namedBy(method: string | null): 'name' | 'uri' | null {
  if (method === 'tools/call' || method === 'prompts/get') return 'name';
  return byUri.has(method ?? '') ? 'uri' : null;
}

type OtherSpelling = ReturnType<typeof otherSpelling>;

/** Finds another spelling of a member of messages. */
export const otherMember = otherSpelling(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
/** Parameters that decide whether a message may pass, or that guardrails check. */
const otherParameter = otherSpelling(['name', 'uri', 'ref', 'type', 'arguments', 'inputResponses', 'task', '_meta']);

function requireSpelling(value: JsonObject, other: OtherSpelling, path: string, id: RpcId | null): void {
  const found = other(value);
  if (found === null) return;
  const text = `${path}${found.sent}: another spelling of ${found.name}. Send ${found.name}, as the server may read both`;
  throw new RpcError(rpcCodes.invalidRequest, text, { id });
}

/** True for a message with a method and a result or an error, which clients take for a request or for a response. */
export function isAmbiguous({ method, result, error }: JsonObject): boolean {
  return method !== undefined && (result !== undefined || error !== undefined);
}

const subscriptions: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe']);
const byUri: ReadonlySet<string> = new Set(['resources/read', ...subscriptions]);

/** The body of an error reply. */
export function errorBody(id: RpcId | null, code: number, message: string, data?: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });
}

/** Returns the JSON-RPC form of a failure behind the endpoint. */
export function toRpcError(error: GatewayError, id: RpcId | null): RpcError {
  const code = error.code === 'request_denied' ? rpcCodes.invalidRequest : rpcCodes.internal;
  return new RpcError(code, error.message, { status: error.status, id, data: { code: error.code } });
}
