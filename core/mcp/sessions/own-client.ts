import type { UpstreamCall, UpstreamSender, UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import { GatewayError, toGatewayError } from '../../contract/values/errors/errors.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { framesIn } from '../../contract/values/text/event-frames.ts';
import { dataOf, isEventStream } from '../../contract/values/text/event-text.ts';
import { unmarkedTextOf } from '../../contract/values/text/utf8.ts';
import { withoutCredentials } from '../../json-rpc/hiding-reader.ts';
import { isAmbiguous } from '../../json-rpc/messages.ts';
import type { OpenStreams } from '../../json-rpc/open-streams.ts';
import { type ExchangeStream, exchangeStream } from '../../pipeline/attempt/exchange-stream.ts';
import { parsedMessage } from '../server/message-text.ts';
import { nameServer, rejectionDetail } from '../server/server-errors.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import { type OnMessage, openSse, type SseConnection } from '../sse/sse-connection.ts';
import { ownReply, replyWith } from './reply-to-question.ts';

/** The revision that the gateway requests from servers with sessions. */
const sessionRevision = '2025-11-25';
/** The revision without sessions. */
export const statelessRevision = '2026-07-28';
/** The last revision with the transport HTTP+SSE. */
const sseRevision = '2024-11-05';
/** `detail` of the error if the server refused a message as invalid. */
const refusedDetail = 'status 400';
const replyBytesMax = 8 * 1024 * 1024;

/** A session that the gateway opens with a server on its own behalf. */
export interface OwnSession {
  readonly revision: string;
  /** Null if the server keeps no sessions. */
  readonly sessionId: string | null;
  /** Result of `initialize` or `server/discover`. */
  readonly opened: JsonObject;
  /** The connection, for servers of the transport HTTP+SSE. */
  readonly sse?: SseConnection;
}

export interface OwnClientParts {
  readonly sender: UpstreamSender;
  readonly server: ServerSettings;
  readonly timeouts: UpstreamTimeouts;
  /** Ends connections when the process stops. */
  readonly streams?: OpenStreams;
  /** Receives the status of each reply to a request. */
  readonly onStatus?: (status: number) => void;
}

/** Opens a session: first as a client of the stateless revision, then with `initialize`. Throws GatewayError `upstream_…`. */
export async function openSession(parts: OwnClientParts): Promise<OwnSession> {
  if (parts.server.document.transport === 'sse') return initialize(parts);
  const discovered = await discover(parts);
  return discovered === null ? initialize(parts) : { revision: statelessRevision, sessionId: null, opened: discovered };
}

/**
 * Opens a session with `initialize`, or as a client of the stateless revision if the server supports no other. Throws GatewayError
 * `upstream_…`.
 */
export async function initializeOrDiscover(parts: OwnClientParts): Promise<OwnSession> {
  try {
    return await initialize(parts);
  } catch (thrown) {
    const discovered = isRefused(thrown) ? await discover(parts) : null;
    if (discovered === null) throw thrown;
    return { revision: statelessRevision, sessionId: null, opened: discovered };
  }
}

/** True for the error of a message that the server refused as invalid. Servers with sessions refuse messages without one so. */
export function isRefused(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.detail === refusedDetail;
}

/** Opens a session with `initialize`. `onMessage`: as for `openSse`. Throws GatewayError `upstream_…`. */
export async function initialize(parts: OwnClientParts, onMessage?: OnMessage): Promise<OwnSession> {
  const params = { protocolVersion: sessionRevision, capabilities: {}, clientInfo };
  if (parts.server.document.transport === 'sse') return initializeSse(parts, params, onMessage);
  const { headers, message } = await send(parts, null, { id: 1, method: 'initialize', params });
  const opened = resultOf(message, parts.server);
  const revision = typeof opened.protocolVersion === 'string' ? opened.protocolVersion : sessionRevision;
  const session = { revision, sessionId: findHeader(headers, 'mcp-session-id') ?? null, opened };
  await send(parts, session, { method: 'notifications/initialized' });
  return session;
}

async function initializeSse(parts: OwnClientParts, params: JsonObject, onMessage?: OnMessage): Promise<OwnSession> {
  const sse = await openSse(parts, onMessage);
  try {
    const opened = resultOf(await sse.request({ jsonrpc: '2.0', id: 1, method: 'initialize', params }, []), parts.server);
    await sse.notify({ jsonrpc: '2.0', method: 'notifications/initialized' }, []);
    parts.onStatus?.(200);
    return { revision: sseRevision, sessionId: null, opened, sse };
  } catch (thrown) {
    sse.end();
    throw nameServer(toGatewayError(thrown), parts.server.document.slug);
  }
}

/** The server does not have the method (-32601). */
export class UnknownMethod extends GatewayError {
  constructor(message: string) {
    super('upstream_invalid', { message });
  }
}

/** Sends a request in a session, and returns its result. Throws GatewayError `upstream_…`. */
export async function request(
  parts: OwnClientParts,
  session: OwnSession,
  method: string,
  params: JsonObject = {},
): Promise<JsonObject> {
  if (session.sse) return resultOf(await session.sse.request({ jsonrpc: '2.0', id: 2, method, params }, []), parts.server);
  const isStateless = session.revision >= statelessRevision;
  const sent = isStateless ? { ...params, _meta: ownMeta } : params;
  return resultOf((await send(parts, session, { id: 2, method, params: sent })).message, parts.server);
}

/** Opens the stream of notices of a session; null if the server has none. Throws GatewayError `upstream_…`. */
export async function openNotices(parts: OwnClientParts, session: OwnSession): Promise<ExchangeStream | null> {
  const stream = noticesOf(parts, session);
  if ((await stream.head).status === 200) return stream;
  stream.abort();
  return null;
}

/** Sends the request for the stream of notices of a session. */
export function noticesOf({ timeouts, ...parts }: OwnClientParts, session: OwnSession): ExchangeStream {
  const silent = { ...parts, timeouts: { ...timeouts, idleMs: 0, totalMs: 0 } };
  return exchangeStream(parts.sender, callOf(silent, 'GET', ['accept', 'text/event-stream', ...sessionHeaders(session)], null));
}

/** Sends the reply to a question of the server in a session. */
export async function sendReply(parts: OwnClientParts, session: OwnSession, reply: JsonObject): Promise<void> {
  const headers = [
    'accept',
    'application/json, text/event-stream',
    'content-type',
    'application/json',
    ...sessionHeaders(session),
  ];
  const stream = exchangeStream(parts.sender, callOf(parts, 'POST', headers, Buffer.from(JSON.stringify(reply))));
  await stream.head;
  stream.abort();
}

function sessionHeaders({ revision, sessionId }: OwnSession): HeaderList {
  return ['mcp-protocol-version', revision, ...(sessionId === null ? [] : ['mcp-session-id', sessionId])];
}

/** Ends a session, so that the server can free its memory. */
export async function closeSession(parts: OwnClientParts, session: OwnSession): Promise<void> {
  session.sse?.end();
  if (session.sessionId === null) return;
  const stream = exchangeStream(parts.sender, callOf(parts, 'DELETE', sessionHeaders(session), null));
  await stream.head.catch(() => undefined);
  stream.abort();
}

const clientInfo = { name: 'svc-gateway', version: '1' };
/** Members of `_meta` of each request in the revision without sessions. */
export const ownMeta = {
  'io.modelcontextprotocol/protocolVersion': statelessRevision,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/**
 * Returns the reply to `server/discover`; null if the server supports earlier revisions only. Throws GatewayError if it rejects the
 * credential.
 */
export async function discover(parts: OwnClientParts): Promise<JsonObject | null> {
  const session = { revision: statelessRevision, sessionId: null, opened: {} };
  const { message } = await send(parts, session, { id: 1, method: 'server/discover', params: { _meta: ownMeta } }, true);
  return message !== null && isObject(message.result) ? message.result : null;
}

interface Sent {
  readonly headers: HeaderList;
  /** Null if there was no message. */
  readonly message: JsonObject | null;
}

/** `mayFail`: an error status is no error, because the message is read anyway. */
async function send(...given: Parameters<typeof sendMessage>): Promise<Sent> {
  try {
    return await sendMessage(...given);
  } catch (thrown) {
    throw nameServer(toGatewayError(thrown), given[0].server.document.slug);
  }
}

async function sendMessage(
  parts: OwnClientParts,
  session: OwnSession | null,
  message: { readonly id?: number; readonly method: string; readonly params?: JsonObject },
  mayFail = false,
): Promise<Sent> {
  const headers: HeaderList = ['accept', 'application/json, text/event-stream', 'content-type', 'application/json'];
  if (session !== null) headers.push(...sessionHeaders(session));
  if (session?.revision === statelessRevision) headers.push('mcp-method', message.method);
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const stream = exchangeStream(parts.sender, callOf(parts, 'POST', headers, body));
  const head = await stream.head;
  if (message.id !== undefined) parts.onStatus?.(head.status);
  try {
    const rejection = rejectionDetail(head.status, head.headers);
    if (head.status >= 300 && !(mayFail && head.status >= 400 && rejection === undefined)) {
      const message = `The MCP server replied with status ${head.status}`;
      throw new GatewayError('upstream_status', {
        message,
        status: 502,
        ...(rejection !== undefined ? { detail: rejection } : head.status === 400 ? { detail: refusedDetail } : {}),
      });
    }
    const isStream = isEventStream(findHeader(head.headers, 'content-type'));
    const onQuestion = session?.sessionId ? replyWith((reply) => sendReply(parts, session, reply), ownReply) : undefined;
    return { headers: head.headers, message: await readMessage(stream, isStream, message.id, onQuestion) };
  } finally {
    stream.abort();
  }
}

function callOf(
  { server, timeouts }: OwnClientParts,
  method: string,
  headers: HeaderList,
  body: Uint8Array | null,
): UpstreamCall {
  const own = Object.entries(server.headers).flat();
  const { origin, path, document } = server;
  return {
    tenant: document.workspaceId,
    origin,
    path,
    method,
    headers: [...own, ...headers, 'user-agent', 'svc-gateway'],
    body,
    timeouts,
  };
}

/** Returns the reply to the request `id`, from JSON or from a stream with questions of the server. Null if there is none. */
async function readMessage(
  stream: ExchangeStream,
  isStream: boolean,
  id: number | undefined,
  onQuestion: ((question: JsonObject) => void) | undefined,
): Promise<JsonObject | null> {
  if (!isStream) {
    const body = await stream.whole(replyBytesMax);
    if (body === null) throw tooLarge();
    return id === undefined ? null : parsedMessage(unmarkedTextOf(body) ?? '');
  }
  for await (const frames of framesIn(limited(stream.body))) {
    for (const frame of frames) {
      const message = parsedMessage(dataOf(frame) ?? '');
      if (message === null) continue;
      if (message.id === id && message.method === undefined) return message;
      if (typeof message.method === 'string' && !isAmbiguous(message)) onQuestion?.(message);
    }
  }
  return null;
}

async function* limited(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > replyBytesMax) throw tooLarge();
    yield chunk;
  }
}

function tooLarge(): GatewayError {
  return new GatewayError('upstream_invalid', { message: `The MCP server sent a reply of more than ${replyBytesMax} bytes` });
}

function resultOf(message: JsonObject | null, { headers }: ServerSettings): JsonObject {
  if (isObject(message?.result)) return message.result;
  const error = isObject(message?.error) ? message.error : {};
  const text = typeof error.message === 'string' ? withoutCredentials(error.message, headers).slice(0, 500) : null;
  const why = `The MCP server ${text === null ? 'sent no result' : `replied with an error: ${text}`}`;
  throw error.code === -32601 ? new UnknownMethod(why) : new GatewayError('upstream_invalid', { message: why });
}
