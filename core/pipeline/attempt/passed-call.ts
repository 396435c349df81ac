import type { Endpoint, RequestContext } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import type { Operation, OutgoingCall } from '../../contract/provider/provider.ts';
import type { UpstreamCall } from '../../contract/provider/upstream.ts';
import { holdsApiKey, holdsCredential } from '../../contract/values/api-key.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import type { HeaderList, InboundRequest } from '../../contract/values/http.ts';
import { isGatewayHeader } from '../request/gateway-headers.ts';
import { meteredBody } from '../request/passed-request.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';
import { takenOnce } from './outgoing-body.ts';
import type { Outgoing, OutgoingOptions } from './outgoing-call.ts';
import { shapeParams } from './shape-params.ts';

/**
 * Client headers that are never sent upstream unchanged: framing, hop-by-hop, and those with which the gateway encodes the reply.
 */
const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'expect',
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]);

/** Headers in which a client sends its own provider credential. A stored provider replaces them with its own credential. */
const credentialHeaders: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key']);

/** Header names that would let a caller address a metadata service or an internal router through the gateway. */
const refusedForwards: ReadonlySet<string> = new Set([
  ...ownHeaders,
  'metadata',
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-aws-ec2-metadata-token-ttl-seconds',
  'x-google-metadata-request',
  'x-forwarded-host',
  'x-original-url',
  'x-rewrite-url',
]);

/**
 * Returns the call of a pass-through route: the client's request without the gateway's own headers, plus the provider's
 * credential.
 */
export function proxyCall(ctx: RequestContext, target: Target, resolved: ResolvedTarget, options: OutgoingOptions): Outgoing {
  const below = ctx.endpoint?.proxyPath ?? '';
  const path = resolved.adapter.proxyPath ? resolved.adapter.proxyPath(below, resolved.settings) : below;
  const headers: HeaderList = [...resolved.headers];
  const fixed = resolved.headers.length;
  const sent = ctx.request.headers;
  const hopNames =
    ctx.request
      .header('connection')
      ?.toLowerCase()
      .split(/[,\s]+/) ?? [];
  for (let i = 0; i < sent.length; i += 2) {
    const name = sent[i] as string;
    const value = sent[i + 1] as string;
    if (ownHeaders.has(name) || isGatewayHeader(name, options.prefixes) || carriesOurKey(ctx, name, value)) continue;
    if (hopNames.includes(name) || (resolved.slug !== null && credentialHeaders.has(name))) continue;
    if (hasHeader(headers, name, fixed)) continue;
    headers.push(name, value);
  }
  const call = {
    tenant: tenantOf(ctx),
    origin: resolved.origin,
    path: resolved.basePath + path + (ctx.query === '' ? '' : `?${ctx.query}`),
    method: ctx.request.method,
    headers,
    body:
      ctx.body ?? (ctx.request.body.length === 0 ? null : meteredBody(ctx, takenOnce(ctx, ctx.peekedBody ?? ctx.request.body))),
    timeouts: timeoutsOf(ctx, target, options, null),
    bodyBytesMax: options.streamedBodyBytesMax,
  };
  if (!resolved.adapter.adjustProxyCall) return { call, operation: null, operationCall: null, json: null, model: null };
  const adjusted: OutgoingCall = { ...call, body: ctx.body };
  resolved.adapter.adjustProxyCall(adjusted, ctx.request);
  const changed = { path: adjusted.path, headers: adjusted.headers, body: adjusted.body ?? call.body };
  return { call: { ...call, ...changed }, operation: null, operationCall: null, json: null, model: null };
}

/** True for requests that become a session if the provider supports it. */
export function isSession(endpoint: Endpoint | null, request: InboundRequest): boolean {
  return endpoint?.isRealtime === true || (endpoint?.traffic !== undefined && (request.webSocketProtocols ?? null) !== null);
}

/**
 * Converts a key that was sent as a subprotocol to its header: a key of this service to the gateway's header, any other to
 * Authorization. An existing header takes precedence. The subprotocol itself is never sent upstream, see `socketCall`.
 */
export function adoptProtocolKeys(request: InboundRequest, prefix: string): void {
  for (const protocol of request.webSocketProtocols ?? []) {
    if (!protocol.startsWith(keyProtocol)) continue;
    const key = protocol.slice(keyProtocol.length);
    const name = holdsApiKey(key) ? `${prefix}api-key` : 'authorization';
    if (request.header(name) === undefined) request.headers.push(name, name === 'authorization' ? `Bearer ${key}` : key);
  }
}

/** Returns the handshake of a session: the client's headers without those of the gateway, plus the provider's credential. */
export function socketCall(ctx: RequestContext, target: Target, resolved: ResolvedTarget, options: OutgoingOptions): Outgoing {
  const outgoing = proxyCall(ctx, target, resolved, options);
  const { timeouts } = outgoing.call;
  const realtime = ctx.endpoint?.isRealtime ? realtimeCall(ctx, target, resolved) : null;
  return {
    ...outgoing,
    model: realtime?.model ?? null,
    call: {
      ...outgoing.call,
      ...(realtime === null ? {} : { path: realtime.path }),
      body: null,
      headers: ownHandshake(outgoing.call.headers, realtime !== null),
      webSocket: { protocols: passedProtocols(ctx.request.webSocketProtocols ?? [], resolved.slug !== null) },
      timeouts: { ...timeouts, firstByteMs: Math.min(timeouts.firstByteMs || handshakeMsMax, handshakeMsMax) },
    },
  };
}

/** Returns path and model of a realtime session. */
function realtimeCall(
  ctx: RequestContext,
  target: Target,
  resolved: ResolvedTarget,
): { readonly path: string; readonly model: string | null } {
  const { realtime, id } = resolved.adapter;
  if (!realtime) throw new GatewayError('unsupported_operation', { message: `realtime is not supported by ${id}` });
  const query = new URLSearchParams(ctx.query);
  const asked = query.get('model');
  // A target may use another model for its sessions. No other parameter is in the address.
  const { model } = shapeParams(asked === null ? {} : { model: asked }, target);
  if (typeof model === 'string' && model !== asked) query.set('model', model);
  const sent = query.get('model');
  return { path: resolved.basePath + realtime.path(query, sent ?? '', resolved.settings), model: sent };
}

/**
 * Returns the headers of the gateway's own handshake. Realtime routes also drop the headers that a browser adds about its page.
 */
function ownHandshake(headers: HeaderList, isRealtime: boolean): HeaderList {
  const remaining: HeaderList = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (name.startsWith('sec-websocket-') || (isRealtime && (name === 'origin' || name === 'cookie'))) continue;
    remaining.push(name, headers[i + 1] as string);
  }
  return remaining;
}

function passedProtocols(protocols: readonly string[], stored: boolean): string[] {
  return protocols.filter((protocol) => {
    if (protocol.startsWith(keyProtocol) || holdsApiKey(protocol)) return false;
    return !(stored && accountProtocols.some((prefix) => protocol.startsWith(prefix)));
  });
}

/** Returns the subprotocol for the client: the provider's choice, otherwise the first offered one that holds no secret. */
export function chosenProtocol(offered: readonly string[], chosen: string | null): string | null {
  if (chosen !== null && offered.includes(chosen)) return chosen;
  return offered.find((protocol) => !protocol.startsWith(keyProtocol) && !holdsApiKey(protocol)) ?? null;
}

/**
 * Subprotocol with which browsers, which cannot set headers, send a key
 * (https://platform.openai.com/docs/guides/realtime-websocket).
 */
const keyProtocol = 'openai-insecure-api-key.';
/** Prefixes of subprotocols that name the billed account. Only the owner of the credential may choose it. */
const accountProtocols = ['openai-organization.', 'openai-project.'];
/** A handshake is one round trip, while a request may take ten minutes. */
const handshakeMsMax = 60_000;

/** Returns true if this client header holds a key of the gateway. Such a header is never sent. */
function carriesOurKey(ctx: RequestContext, name: string, value: string): boolean {
  return name === ctx.keyHeader || holdsCredential(value, ctx.token) || (name === 'cookie' && value.includes('svc_session='));
}

/** Adds the client headers that the request or the target asks for. Throws `bad_request` for one that must not be forwarded. */
export function addForwarded(ctx: RequestContext, target: Target, headers: HeaderList, options: OutgoingOptions): void {
  for (const name of ctx.requestTarget?.forwardHeaders ?? target.forwardHeaders ?? []) {
    if (refusedForwards.has(name) || isGatewayHeader(name, options.prefixes)) {
      throw new GatewayError('bad_request', {
        message: `forward_headers: ${name} cannot be forwarded`,
        param: 'forward_headers',
      });
    }
    forward(ctx, name, headers);
  }
}

/** Adds a client header under its own name, unless the provider's own settings have set it. */
export function forward(ctx: RequestContext, name: string, headers: HeaderList): void {
  const value = ctx.request.header(name);
  if (value === undefined || carriesOurKey(ctx, name, value) || hasHeader(headers, name, headers.length)) return;
  headers.push(name, value);
}

function hasHeader(headers: HeaderList, name: string, end: number): boolean {
  for (let i = 0; i < end; i += 2) if (headers[i] === name) return true;
  return false;
}

/** Returns the time limits of one call, in milliseconds. */
export function timeoutsOf(
  ctx: RequestContext,
  target: Target,
  options: OutgoingOptions,
  operation: Operation | null,
): UpstreamCall['timeouts'] {
  const requestMs = ctx.requestTarget?.timeoutMs ?? target.timeoutMs ?? options.timeouts.requestMs;
  return {
    connectMs: Math.min(options.timeouts.connectMs, requestMs),
    firstByteMs: requestMs,
    idleMs: options.timeouts.idleMs,
    // A streamed reply may continue for as long as data arrives; its clock stops at the first byte.
    totalMs: ctx.stream || operation === null || operation.passesBytes ? 0 : requestMs,
  };
}

export function tenantOf(ctx: RequestContext): string {
  return ctx.identity?.organisationId ?? '';
}
