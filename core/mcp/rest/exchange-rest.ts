import type { UpstreamCall } from '../../contract/provider/upstream.ts';
import { toGatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { sendAttempt, type UpstreamResponse } from '../../json-rpc/attempt.ts';
import { type ClientMessage, parseMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Outgoing, Work } from '../exchange.ts';
import { configuredHeaders } from '../headers/upstream-call.ts';
import { withoutDisabled } from '../lists/capabilities.ts';
import { listReply, resultReply } from '../local-replies/local-replies.ts';
import { calledServer, nameServer } from '../server/server-errors.ts';
import { messageReader } from '../server/server-messages.ts';
import type { RestTools } from '../server/server-settings.ts';
import { ArgumentError, type RestRequest, restRequest } from './rest-request.ts';
import { restResult } from './rest-result.ts';

/**
 * Serves `tools/list` and `tools/call` for a REST API. A call is one request to the API, and its response becomes the result of the tool.
 * `renew` returns the work with other credentials; null if there are none.
 */
export async function exchangeRest(
  work: Work,
  outgoing: Outgoing,
  rest: RestTools,
  renew: () => Promise<Work | null>,
): Promise<AttemptReply> {
  const { ctx, server, call } = work;
  const message = outgoing.routed ?? parseMessage(outgoing.body as Uint8Array);
  if (message.method === 'tools/list') {
    const { tools } = await withoutDisabled(server, message.method, { tools: rest.tools });
    return listReply(message, tools as JsonObject[], null);
  }
  const { method, request } = requestOf(rest, message);
  try {
    let response = await send(work, method, request);
    const again = response.status === 401 && !ctx.aborted ? await renew() : null;
    if (again !== null) {
      response.stream.abort();
      response = await send(again, method, request);
    }
    const { status, headers, stream } = response;
    const reply = resultReply(message, await restResult(status, headers, stream));
    const reader = messageReader({ server, call, checks: outgoing.checks, session: null });
    const changed = await reader.read(String(reply.reply.body));
    return changed === null ? reply : { ...reply, reply: { ...reply.reply, body: changed } };
  } catch (thrown) {
    throw thrown instanceof RpcError ? thrown : nameServer(toGatewayError(thrown), server.document.slug);
  }
}

/** Throws RpcError -32602 for an unknown tool, and for arguments that do not fit it. */
function requestOf(rest: RestTools, { params, id }: ClientMessage): { method: string; request: RestRequest } {
  const invalid = (text: string) => new RpcError(rpcCodes.invalidParams, text, { id, status: 200 });
  const operation = rest.byName.get(String(params.name));
  if (!operation) throw invalid(`Tool '${String(params.name).slice(0, 200)}' not found`);
  const sent = params.arguments ?? {};
  if (!isObject(sent)) throw invalid('arguments: an object is expected');
  try {
    return { method: operation.method, request: restRequest(operation, sent) };
  } catch (thrown) {
    throw thrown instanceof ArgumentError ? invalid(thrown.message) : thrown;
  }
}

function send(work: Work, method: string, request: RestRequest): Promise<UpstreamResponse> {
  return sendAttempt(work.ctx, work.options, calledServer(work.server), upstreamCall(work, method, request));
}

/** Settings of the integration replace headers that arguments set. */
function upstreamCall({ ctx, server, parts, options }: Work, method: string, { path, headers, body }: RestRequest): UpstreamCall {
  const configured = configuredHeaders(ctx, server, options.prefixes);
  const own = new Set(configured.filter((_, index) => index % 2 === 0));
  const sent = headers.flatMap((name, index) => (index % 2 === 0 && !own.has(name) ? [name, headers[index + 1] as string] : []));
  const accept = own.has('accept') ? [] : ['accept', 'application/json, text/*;q=0.9, */*;q=0.1'];
  const ms = server.document.timeoutMs ?? parts.requestTimeoutMs;
  return {
    tenant: server.document.workspaceId,
    origin: server.origin,
    path: `${server.path.replace(/\/$/, '')}${path}`,
    method,
    headers: [...configured, ...sent, ...accept, 'user-agent', 'svc-gateway'],
    body,
    timeouts: { connectMs: parts.connectTimeoutMs, firstByteMs: ms, idleMs: ms, totalMs: ms },
  };
}
