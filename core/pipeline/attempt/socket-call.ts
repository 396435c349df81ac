import type { Endpoint, RequestContext } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import { holdsApiKey } from '../../contract/values/api-key.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import type { HeaderList, InboundRequest } from '../../contract/values/http.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';
import type { Outgoing } from './outgoing-call.ts';
import { shapeParams } from './shape-params.ts';

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

/** Returns the handshake of a session, made of the pass-through call `outgoing`: the client's headers without those of the gateway, plus the provider's credential. */
export function socketCall(ctx: RequestContext, target: Target, resolved: ResolvedTarget, outgoing: Outgoing): Outgoing {
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
