import type { RequestContext } from '../contract/plugin/context.ts';
import type { AgentCall } from '../contract/plugin/requests/agent-call.ts';
import type { AgentBinding, AgentServerDocument } from '../contract/protocol/agents/agents.ts';
import type { ParseUrl } from '../contract/values/addresses/call-address.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import type { ReplySink } from '../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { emptyUsage, type Usage } from '../contract/values/models/usage.ts';
import { hidingReader } from '../json-rpc/hiding-reader.ts';
import { RpcError, rpcCodes } from '../json-rpc/messages.ts';
import type { OpenStreams } from '../json-rpc/open-streams.ts';
import { relayJson, relayStream } from '../json-rpc/relay-reply.ts';
import type { ToolGuardrails } from '../json-rpc/tool-guardrails.ts';
import type { AttemptReply } from '../pipeline/attempt-reply.ts';
import type { EndpointHandler, PipelineOptions } from '../pipeline/run.ts';
import { contentTypeReply, rpcErrorReply } from './agent-errors.ts';
import { agentReader, isMessage, noteRequest } from './agent-messages.ts';
import type { AgentAddress, AgentSettings } from './agent-settings.ts';
import { callAgent, nameAgent } from './call-agent.ts';
import { cardReply, rewriteOf } from './card-reply.ts';
import { messageChecks } from './check-messages.ts';
import { isCardPath } from './fetch-card.ts';
import { findAgent } from './find-agent.ts';
import { charactersOf, partTexts } from './message-parts.ts';
import { type AgentOperation, operationOfMethod, operationOfPath } from './operations.ts';
import { pushTargets } from './push-targets.ts';
import { readMessage } from './read-message.ts';

export interface AgentParts {
  readonly settingsOf: (document: AgentServerDocument) => AgentSettings;
  /** For URLs that are called unchanged. */
  readonly parseUrl: ParseUrl;
  /** Returns the reason why a URL of a client is refused; null if it is allowed. */
  readonly checkUrl: (url: string) => string | null;
  readonly publicUrl: string;
  readonly openStreams: OpenStreams;
  readonly guardrails: ToolGuardrails;
  /** Milliseconds to the head of a reply, and between two chunks of it. */
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
}

export interface Work {
  readonly parts: AgentParts;
  readonly options: PipelineOptions;
  readonly ctx: RequestContext;
  readonly call: AgentCall;
  readonly sink: ReplySink;
  readonly agent: AgentSettings;
}

/** Serves `/v1/agent/{agent}` (JSON-RPC) and the paths below it (REST, and the card). */
export function createAgentHandler(parts: AgentParts): EndpointHandler {
  return async (options, ctx, sink) => {
    const document = await findAgent(ctx, options.services.documents);
    const { rest = '' } = ctx.endpoint?.pathParams ?? {};
    const binding = rest === '' ? 'JSONRPC' : 'HTTP+JSON';
    const call = callOf(ctx, document, binding);
    ctx.agent = call;
    const work = { parts, options, ctx, call, sink, agent: parts.settingsOf(document) };
    if (isCardPath(rest)) return { kind: 'replaced', reply: await cardReply(work) };
    const refused = ctx.request.method === 'POST' ? contentTypeReply(ctx, call) : null;
    if (refused !== null) return { kind: 'replaced', reply: refused };
    if (binding === 'HTTP+JSON') return serveRest(work, rest);
    try {
      return await serveRpc(work);
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) throw thrown;
      call.errorCode = thrown.rpcCode;
      return { kind: 'replaced', reply: rpcErrorReply(thrown) };
    }
  };
}

async function serveRpc(work: Work): Promise<AttemptReply> {
  const { ctx, call, options } = work;
  if (ctx.request.method !== 'POST') throw new GatewayError('method_not_allowed', { allow: ['POST'] });
  const message = await readMessage(ctx, options.bodies).catch(refuseBody);
  if (message === null) throw rpcError(call, rpcCodes.invalidRequest, 'Batches are not supported. Send one message per request');
  call.id = idOf(message);
  if (message.jsonrpc !== '2.0' || typeof message.method !== 'string') {
    throw rpcError(call, rpcCodes.invalidRequest, 'A JSON-RPC 2.0 request is expected: jsonrpc must be "2.0" and method a text');
  }
  const operation = operationOfMethod(message.method);
  if (operation === null) {
    throw rpcError(call, rpcCodes.methodNotFound, `Method not found: ${message.method.slice(0, 200)} is not a method of A2A`);
  }
  call.operation = operation;
  const { params = {} } = message;
  if (!isObject(params)) throw rpcError(call, rpcCodes.invalidParams, 'params: an object is expected');
  noteRequest(call, params);
  const refused = refusedTarget(work, params);
  if (refused !== null) throw rpcError(call, rpcCodes.invalidParams, refused);
  return relay(work, { rest: '', message, params });
}

async function serveRest(work: Work, rest: string): Promise<AttemptReply> {
  const { ctx, call, options } = work;
  const found = operationOfPath(ctx.request.method, rest);
  if (found === null) {
    const shown = `${ctx.request.method} ${rest.slice(0, 200)}`;
    throw new GatewayError('not_found', { message: `${shown} is not a path of A2A` });
  }
  call.operation = found.operation;
  call.taskId = found.taskId?.slice(0, 2_048) ?? null;
  let message: JsonObject | null = null;
  if (ctx.request.body.length !== 0) {
    message = await readMessage(ctx, options.bodies);
    if (message === null) throw new GatewayError('bad_request', { message: 'The body must be a JSON object, not a list' });
    noteRequest(call, message);
    const refused = refusedTarget(work, message);
    if (refused !== null) throw new GatewayError('bad_request', { message: refused });
  }
  return relay(work, { rest, message, params: message ?? {} });
}

/** A request that was read. */
interface Incoming {
  /** Path below that of the agent. */
  readonly rest: string;
  /** The body; null if there is none. */
  readonly message: JsonObject | null;
  /** The part of the body with the parameters of the operation. */
  readonly params: JsonObject;
}

/** Sends the request to the agent, and its reply to the client. */
async function relay(work: Work, { rest, message, params }: Incoming): Promise<AttemptReply> {
  const { parts, ctx, call, agent, options, sink } = work;
  const { connectTimeoutMs } = parts;
  const requestTimeoutMs = agent.document.timeoutMs ?? parts.requestTimeoutMs;
  const address: AgentAddress = agent.addressOf(call.binding, call.version ?? '0.3');
  const checks = await messageChecks(parts.guardrails, ctx, agent.document);
  const isChanged = (await checks?.checkRequest(params)) ?? false;
  const body = isChanged ? Buffer.from(JSON.stringify(message)) : ctx.body;
  const sent = isMessage(call) ? charactersOf(partTexts(params)) : 0;
  let received = 0;
  const count = (characters: number): void => {
    received += characters;
    if (sent + received > 0) ctx.usage = estimatedUsage(sent, received);
  };
  count(0);
  if (isMessage(call)) for (const hook of ctx.plan.onToolCall) await hook(ctx);
  const reply = await callAgent(ctx, options, { agent, address, rest, body, connectTimeoutMs, requestTimeoutMs });
  const { status, headers, stream } = reply;
  const card = rewriteOf(parts.publicUrl, agent.document);
  const { checkReply = null, checkStream = null } = checks ?? {};
  const own = agentReader({
    ...{ call, card, checkReply, onCharacters: count },
    checkStream: reply.isStream ? checkStream : null,
  });
  const reader = hidingReader(own, agent.headers);
  try {
    if (!reply.isStream) return await relayJson(status, headers, stream, reader);
    const { clock } = options.services;
    return await relayStream({
      ...{ ctx, sink, status, headers, exchange: stream, reader, clock },
      // A client subscribes to its task again, at another process.
      listening: { streams: parts.openStreams, find: () => findAgent(ctx, options.services.documents) },
    });
  } catch (thrown) {
    throw nameAgent(toGatewayError(thrown));
  }
}

/** Characters of text per token, roughly. */
const charactersPerToken = 4;

/** Agents report no usage, so the tokens of messages are estimated by their length. */
function estimatedUsage(sent: number, received: number): Usage {
  const tokensOf = (characters: number): number => Math.ceil(characters / charactersPerToken);
  return { ...emptyUsage(), inputTokens: tokensOf(sent), outputTokens: tokensOf(received), estimated: true };
}

/** Returns the reason to refuse a push notification URL of the request; null if there is none. */
function refusedTarget({ parts, call }: Work, params: JsonObject): string | null {
  for (const { path, url } of pushTargets(call.operation as AgentOperation, params)) {
    const reason = typeof url === 'string' ? parts.checkUrl(url) : 'a URL is expected';
    if (reason !== null) return `${path}: ${reason}`;
  }
  return null;
}

function refuseBody(thrown: unknown): never {
  const error = toGatewayError(thrown);
  if (error.code === 'invalid_json') throw new RpcError(rpcCodes.parse, `Parse error: ${error.message}`);
  if (error.code === 'bad_request') throw new RpcError(rpcCodes.invalidRequest, error.message);
  throw error;
}

/** Returns the id of a request. Throws RpcError for an id that no reply could repeat. */
function idOf({ id }: JsonObject): string | number | null {
  if (id === undefined || id === null) return null;
  if (typeof id === 'string' ? id.length <= 1_024 : Number.isFinite(id)) return id as string | number;
  throw new RpcError(rpcCodes.invalidRequest, 'id: a number or a text of at most 1,024 characters is expected');
}

function rpcError({ id }: AgentCall, code: number, message: string): RpcError {
  return new RpcError(code, message, { id });
}

function callOf(ctx: RequestContext, document: AgentServerDocument, binding: AgentBinding): AgentCall {
  const stated = ctx.request.header('a2a-version') ?? new URLSearchParams(ctx.request.query).get('A2A-Version');
  return {
    ...{ id: null, serverId: document.id, server: document.slug, integrationId: document.integrationId, binding },
    ...{ operation: null, version: stated?.slice(0, 64) ?? null, taskId: null, contextId: null, taskState: null },
    ...{ callerAuth: ctx.token === null ? 'api_key' : 'jwt', upstreamAuth: document.authType, errorCode: null },
  };
}
