import type { Identity } from '../contract/plugin/context.ts';
import type { McpCall } from '../contract/plugin/requests/mcp-call.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { isEmptyObject, type JsonObject } from '../contract/values/json/json.ts';
import { isPromise } from '../contract/values/maybe.ts';
import { type ClientMessage, nameOf, parseMessage, RpcError, rpcCodes } from '../json-rpc/messages.ts';
import { ownMeta } from '../json-rpc/tool-guardrails.ts';
import type { AttemptReply } from '../pipeline/attempt-reply.ts';
import { JsonLimits } from '../pipeline/request/json-limits.ts';
import type { BodyLimits } from '../pipeline/request/read-body.ts';
import { callOf } from './call-of.ts';
import { checkedReply } from './check-reply.ts';
import { checkedTask, isOfTask, isPlace } from './check-task.ts';
import { authorised } from './credentials/authorised.ts';
import { exchange, type Outgoing, type Work } from './exchange.ts';
import { checkRoutingHeaders, repeatedArguments } from './headers/routing-headers.ts';
import { lists, requireEnabled } from './lists/capabilities.ts';
import { readItems } from './lists/list-items.ts';
import type { ToolList } from './lists/tool-lists.ts';
import { reportListed, requireApproved } from './pinning/require-approved.ts';
import { checksWithoutTool } from './server/checks-without-tool.ts';
import type { ServerSettings } from './server/server-settings.ts';
import { callerOf } from './sessions/session-id.ts';

/** Maximum length of a message of a client in bytes. */
const requestBytesMax = 4 * 1024 * 1024;

export interface Received {
  readonly body: Uint8Array;
  readonly message: ClientMessage;
  /** True if the headers that repeat parts of the body were compared with it. */
  readonly hasRoutingHeaders: boolean;
}

/** Reads and checks the message of a request, and notes it in the call. Throws RpcError, and GatewayError `body_too_large`. */
export async function receive({ ctx, call, options }: Pick<Work, 'ctx' | 'call' | 'options'>): Promise<Received> {
  // A small body has been read already.
  const body = ctx.body ?? (await ctx.readBytes(requestBytesMax));
  ctx.body = body;
  ctx.holdBytes(heapBytesOf(body, options.bodies));
  const parsed = parseMessage(body);
  const repeated = repeatedArguments(ctx.request, parsed);
  const message = repeated === undefined ? parsed : { ...parsed, repeated };
  call.id = message.id;
  call.method = message.method;
  call.name = shortName(message);
  return { body, message, hasRoutingHeaders: checkRoutingHeaders(ctx.request, message) };
}

/** Returns the heap bytes of the parsed message. Throws RpcError for one that is nested too deeply or has too many keys, GatewayError for too many values. */
function heapBytesOf(body: Uint8Array, { jsonValuesMax }: BodyLimits): number {
  const limits = new JsonLimits(jsonValuesMax);
  try {
    limits.push(body);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.code !== 'bad_request') throw thrown;
    throw new RpcError(rpcCodes.invalidRequest, thrown.message);
  }
  return limits.heapBytes;
}

/** Sends a message to the server, if flags, pins, limits and guardrails allow it. */
export async function forward(given: Work, message: ClientMessage, asked: Omit<Outgoing, 'checks'>): Promise<AttemptReply> {
  const { ctx, parts, call } = given;
  requireEnabled(given.server, message);
  const token = authorised(given);
  const work = isPromise(token) ? await token : token;
  const { server } = work;
  const outgoing = withoutContent.has(message.method) ? await withCheckedParams(work, message, asked) : asked;
  if (server.pins !== null) await requireApproved(parts.toolLists, server, callerOf(ctx.identity as Identity, server), message);
  if (message.kind === 'response') return exchange(work, { ...(await checkedReply(work, outgoing)), checks: null });
  if (isOfTask(message.method)) return forwardOfTask(work, message, outgoing);
  if (message.method === 'tools/list' && server.pins !== null) {
    const listed = exchange(work, { ...outgoing, checks: null });
    return reportListed(parts.toolLists, server, callerOf(ctx.identity as Identity, server), listed);
  }
  if (message.method !== 'tools/call') return forwardOther(work, message, outgoing);
  await takeFromLimits(work, message);
  const found = parts.toolGuardrails.of(ctx, server.document, call.name ?? '');
  const checks = isPromise(found) ? await found : found;
  if (checks === null) return exchange(work, { ...outgoing, checks: null });
  const checking = checks.checkArguments(message);
  const checked = isPromise(checking) ? await checking : checking;
  return exchange(work, { ...withMessage(outgoing, message, checked), checks });
}

/** Methods of the protocol without content, and lists, whose tools can be pinned. */
const withoutContent: ReadonlySet<string | null> = new Set([
  ...['initialize', 'ping', 'server/discover', 'logging/setLevel', 'subscriptions/listen', ...Object.keys(lists)],
]);

/** Parameters that the protocol defines for these methods. */
const ownParams: ReadonlySet<string> = new Set(['capabilities', 'clientInfo', 'notifications']);
const placeParams: ReadonlySet<string> = new Set(['cursor', 'level', 'protocolVersion']);

/** A client can send further parameters with every method. The guardrails of every tool read these, and not the reply. */
async function withCheckedParams<Sent extends Pick<Outgoing, 'body' | 'message' | 'routed'>>(
  work: Work,
  message: ClientMessage,
  outgoing: Sent,
): Promise<Sent> {
  if (!work.parts.toolGuardrails.exist(work.ctx, work.server.document)) return outgoing;
  const isOwn = ([name, value]: [string, unknown]) =>
    name === '_meta' ? ownMeta(value) === null : ownParams.has(name) || (placeParams.has(name) && isPlace(value));
  const params = Object.fromEntries(Object.entries(message.params).filter((one) => !isOwn(one)));
  const checks = isEmptyObject(params) ? null : await checksWithoutTool(work);
  const checked = (await checks?.checkParams({ ...message, params })) ?? message;
  if (checks === null || checked.params === params) return withMessage(outgoing, message, message);
  const own = Object.fromEntries(Object.entries(message.params).filter(isOwn));
  return withMessage(outgoing, message, { ...message, params: { ...own, ...checked.params } });
}

/** A server may take content with every method, and reply with content. The guardrails of every tool run. */
async function forwardOther(work: Work, message: ClientMessage, outgoing: Omit<Outgoing, 'checks'>): Promise<AttemptReply> {
  const checks = withoutContent.has(message.method) ? null : await checksWithoutTool(work);
  if (checks === null) return exchange(work, { ...outgoing, checks });
  const checked = await checks.checkParams(message);
  if (checked !== message) requireEnabled(work.server, checked);
  return exchange(work, { ...withMessage(outgoing, message, checked), checks });
}

/** A task names no tool, so the guardrails of all tools of the server run. */
async function forwardOfTask(work: Work, message: ClientMessage, outgoing: Omit<Outgoing, 'checks'>): Promise<AttemptReply> {
  const checks = await work.parts.toolGuardrails.of(work.ctx, work.server.document, null);
  if (checks === null) return exchange(work, { ...outgoing, checks });
  return exchange(work, { ...withMessage(outgoing, message, await checkedTask(checks, message)), checks });
}

/** The request with the message that guardrails returned. They do not read members beside `params`, so these are not sent. */
function withMessage<Sent extends Pick<Outgoing, 'body' | 'message' | 'routed'>>(
  outgoing: Sent,
  message: ClientMessage,
  checked: ClientMessage,
): Sent {
  if (checked === message && !message.hasOthers) return outgoing;
  if (outgoing.routed !== null) return { ...outgoing, message: checked, routed: checked };
  const { id, method, params } = checked;
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...(id === null ? {} : { id }), method, params }));
  return { ...outgoing, message: checked, body };
}

/** Counts a call of a tool. Throws GatewayError if a limit refuses it. */
export async function takeFromLimits({ ctx }: Pick<Work, 'ctx'>, { method }: ClientMessage): Promise<void> {
  if (method !== 'tools/call') return;
  if (ctx.mcp) ctx.mcp.messageLength = ctx.body?.length ?? 0;
  for (const hook of ctx.plan.onToolCall) {
    const taking = hook(ctx);
    if (isPromise(taking)) await taking;
  }
}

/**
 * Sends a message in a session of the gateway, on behalf of a client that named another tool, item or server. The record names both.
 * `name` is the name that the client used.
 */
export function callBehind(
  work: Omit<Work, 'server' | 'tokenId'>,
  server: ServerSettings,
  message: ClientMessage,
  name: string,
): Promise<AttemptReply> {
  const { serverId, server: slug } = work.call;
  const call: McpCall = {
    ...callOf(work.ctx, server.document),
    ...{ id: message.id, method: message.method, name: shortName(message) },
    via: { serverId, server: slug, name },
  };
  work.ctx.mcp = call;
  return forward({ ...work, call, server, tokenId: null }, message, {
    body: null,
    message,
    hasRoutingHeaders: false,
    isOpening: false,
    routed: message,
  });
}

/** The tools that a server lists to the gateway on behalf of the caller. Throws RpcError if the caller must connect an account first. */
export async function listTools({ parts, ctx }: Pick<Work, 'parts' | 'ctx'>, server: ServerSettings): Promise<ToolList> {
  const identity = ctx.identity as Identity;
  const { server: own } = await parts.tokens.authorise(server, identity, null, null);
  return parts.toolLists.get(await parts.transports.settle(own), callerOf(identity, server));
}

/** All items of a list that a server sends to the gateway on behalf of the caller; none if it does not offer them. */
export async function listItemsOf(
  { parts, ctx }: Pick<Work, 'parts' | 'ctx'>,
  server: ServerSettings,
  method: string,
): Promise<readonly JsonObject[]> {
  if (server.rest !== null) return [];
  const identity = ctx.identity as Identity;
  const { server: own } = await parts.tokens.authorise(server, identity, null, null);
  return readItems(parts.routedSessions, await parts.transports.settle(own), callerOf(identity, server), method);
}

function shortName(message: ClientMessage): string | null {
  return nameOf(message)?.slice(0, 2_048) ?? null;
}
