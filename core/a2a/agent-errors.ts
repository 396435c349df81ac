import type { RequestContext } from '../contract/plugin/context.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import type { AgentCall } from '../contract/plugin/requests/agent-call.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import { errorBody, type RpcError, rpcCodes } from '../json-rpc/messages.ts';

/** Code for messages that a guardrail rejects, as for tools. */
const blocked = -32446;

/** Names of google.rpc for the statuses that the gateway sends. */
const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
};

/** Returns the reply to a message that the gateway rejects. Agents reply to such messages with the status 200. */
export function rpcErrorReply({ rpcCode, id, message, data }: RpcError): Reply {
  const body = errorBody(id, rpcCode, message, data);
  return { status: 200, headers: ['content-type', 'application/json'], body, isDenial: true };
}

/** Code of A2A for content types that are not supported. */
const contentTypeCode = -32005;
const isJson = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Returns the reply to a request whose body is no JSON by its content type; null if it is JSON or has no content type. */
export function contentTypeReply(ctx: RequestContext, call: AgentCall): Reply | null {
  const type = ctx.request.header('content-type');
  if (type === undefined || isJson.test(type)) return null;
  const message = 'Content-Type: application/json or application/a2a+json is expected';
  const details = [detail('CONTENT_TYPE_NOT_SUPPORTED', 'a2a-protocol.org')];
  const headers = ['content-type', 'application/json'];
  if (call.binding !== 'JSONRPC') {
    const error = { code: 415, status: 'INVALID_ARGUMENT', message, details };
    return { status: 415, headers, body: JSON.stringify({ error }), isDenial: true };
  }
  call.errorCode = contentTypeCode;
  const error = { code: contentTypeCode, message, data: details };
  return { status: 200, headers, body: JSON.stringify({ jsonrpc: '2.0', id: null, error }), isDenial: true };
}

/** Returns the reply to a failed request in the form of its binding; null, before the agent is known: the gateway's usual error. */
export function agentErrorReply(ctx: RequestContext, error: GatewayError): Reply | null {
  const { agent } = ctx;
  if (agent === null) return null;
  const body = errorBodyOf(agent, error);
  const retry = error.retryAfterMs === null ? [] : ['retry-after', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)))];
  return { status: error.status, headers: ['content-type', 'application/json', ...retry], body, isDenial: true };
}

/** Returns the body of an error in the form of the binding, and notes its code. */
export function errorBodyOf(call: AgentCall, error: GatewayError): string {
  return call.binding === 'JSONRPC' ? rpcBody(call, error) : restBody(error);
}

function rpcBody(call: AgentCall, error: GatewayError): string {
  const code = error.code === 'request_denied' || error.code === 'response_denied' ? blocked : rpcCodes.internal;
  call.errorCode = code;
  return JSON.stringify({
    ...{ jsonrpc: '2.0', id: call.id },
    error: { code, message: error.message, data: [detailOf(error)] },
  });
}

/** The form of errors of A2A 1.0 over REST. */
function restBody(error: GatewayError): string {
  const status = statusNames[error.status] ?? (error.status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL');
  // The official SDKs have this reason for -32602, and read every unknown reason as an internal error.
  const info = error.code === 'bad_request' ? detail('INVALID_PARAMS', 'a2a-protocol.org') : detailOf(error);
  return JSON.stringify({ error: { code: error.status, status, message: error.message, details: [info] } });
}

function detailOf({ code }: GatewayError) {
  return detail(code.toUpperCase(), 'svc-gateway');
}

function detail(reason: string, domain: string) {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain };
}
