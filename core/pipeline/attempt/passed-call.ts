import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import { isSession } from '../../contract/plugin/requests/is-session.ts';
import { shapeParams } from '../../contract/plugin/requests/shape-params.ts';
import type { OutgoingCall } from '../../contract/provider/provider.ts';
import type { UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import { holdsCredential } from '../../contract/values/credentials/api-key.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isConnectionHeader } from '../../contract/values/http/connection-headers.ts';
import { credentialHeaders } from '../../contract/values/http/credential-headers.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { withoutOwnCookies } from '../../contract/values/http/own-cookies.ts';
import { isGatewayHeader } from '../request/gateway-headers.ts';
import { joinsCall, meteredBody } from '../request/passed-request.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';
import type { Outgoing, OutgoingOptions } from './outgoing-call.ts';
import { passedProtocols } from './socket-protocols.ts';

type PassedOptions = Pick<OutgoingOptions, 'prefixes' | 'streamedBodyBytesMax'>;

/** Returns the call of a pass-through route, or the handshake of a session. */
export function passedCall(
  ctx: RequestContext,
  target: Target,
  resolved: ResolvedTarget,
  options: PassedOptions,
  timeouts: UpstreamTimeouts,
): Outgoing {
  const passed = proxyCall(ctx, resolved, options, timeouts);
  return isSession(ctx.endpoint, ctx.request) ? socketCall(ctx, target, resolved, passed) : passed;
}

/**
 * Returns the client's request without the gateway's own headers, plus the provider's credential.
 */
function proxyCall(ctx: RequestContext, resolved: ResolvedTarget, options: PassedOptions, timeouts: UpstreamTimeouts): Outgoing {
  const below = ctx.endpoint?.proxyPath ?? '';
  const path = resolved.adapter.proxyPath ? resolved.adapter.proxyPath(below, resolved.settings) : below;
  const headers = passedClientHeaders(ctx, resolved, options.prefixes);
  const call = {
    tenant: ctx.identity?.organisationId ?? '',
    origin: resolved.origin,
    path: resolved.basePath + path + (ctx.query === '' ? '' : `?${ctx.query}`),
    method: ctx.request.method,
    headers,
    body:
      ctx.body ??
      (ctx.request.body.length === 0 ? null : meteredBody(ctx.passed, ctx.takeBody(ctx.peekedBody ?? ctx.request.body))),
    timeouts,
    bodyBytesMax: options.streamedBodyBytesMax,
  };
  if (!resolved.adapter.adjustProxyCall) return { call, operation: null, operationCall: null, json: null, model: null };
  const adjusted: OutgoingCall = { ...call, body: ctx.body };
  resolved.adapter.adjustProxyCall(adjusted, ctx.request);
  const changed = { path: adjusted.path, headers: adjusted.headers, body: adjusted.body ?? call.body };
  return { call: { ...call, ...changed }, operation: null, operationCall: null, json: null, model: null };
}

/**
 * Returns the headers of a pass-through call: those of the target, and the client's without hop-by-hop headers, headers and keys of
 * the gateway, and credentials that a stored provider replaces.
 */
function passedClientHeaders(ctx: RequestContext, resolved: ResolvedTarget, prefixes: readonly string[]): HeaderList {
  const headers: HeaderList = [...resolved.headers];
  const fixed = resolved.headers.length;
  const sent = ctx.request.headers;
  const sentKey = keyIn(resolved);
  const hopNames =
    ctx.request
      .header('connection')
      ?.toLowerCase()
      .split(/[,\s]+/) ?? [];
  for (let i = 0; i < sent.length; i += 2) {
    const name = sent[i] as string;
    if (isConnectionHeader(name) || isGatewayHeader(name, prefixes)) continue;
    const value = withoutOurKey(ctx, name, sent[i + 1] as string);
    if (value === null) continue;
    if (hopNames.includes(name)) continue;
    // Google rejects a key as bearer token, even beside the header that holds it.
    if (credentialHeaders.has(name) && value.replace(/^bearer\s+/i, '') === sentKey) continue;
    if (resolved.slug !== null && (credentialHeaders.has(name) || name === 'x-goog-api-key')) continue;
    if (hasHeader(headers, name, fixed)) continue;
    // The reply is read.
    if (name === 'accept-encoding' && ctx.endpoint?.namesResults) continue;
    headers.push(name, value);
  }
  return headers;
}

/** Returns the API key if the target's headers hold it. */
function keyIn({ headers, credentials }: ResolvedTarget): string | null {
  const key = credentials.api_key?.reveal() ?? '';
  return key !== '' && headers.some((value) => value.includes(key)) ? key : null;
}

/** Returns the value of a client header without the cookies of this service; null if the header holds a key of the gateway, or nothing is left. */
export function withoutOurKey(ctx: RequestContext, name: string, value: string): string | null {
  if (name === ctx.keyHeader || holdsCredential(value, ctx.token)) return null;
  return name === 'cookie' ? withoutOwnCookies(value) || null : value;
}

/** Looks at the names before the index `end`. */
export function hasHeader(headers: HeaderList, name: string, end: number): boolean {
  for (let i = 0; i < end; i += 2) if (headers[i] === name) return true;
  return false;
}

/** Returns the handshake of a session, made of the pass-through call `outgoing`. */
function socketCall(ctx: RequestContext, target: Target, resolved: ResolvedTarget, outgoing: Outgoing): Outgoing {
  const { timeouts } = outgoing.call;
  const { id, responsesOverChat } = resolved.adapter;
  if (responsesOverChat && ctx.request.path === '/v1/responses') {
    // Codex repeats a handshake five times after any other status, and then sends a POST.
    throw new GatewayError('unsupported_operation', {
      status: 426,
      message: `WebSocket sessions of /v1/responses are not supported by ${id}, which has no Responses API of its own. Send POST /v1/responses, or open the session below /v1/proxy`,
    });
  }
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
  return { path: resolved.basePath + realtime.path(query, sent ?? '', resolved.settings), model: joinsCall(query) ? null : sent };
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

/** A handshake is one round trip, while a request may take ten minutes. */
const handshakeMsMax = 60_000;
