import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import type { Caller } from '../../contract/provider/provider.ts';
import { holdsCredential } from '../../contract/values/api-key.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import type { HeaderList } from '../../contract/values/http.ts';
import { childSpanId, w3cTraceId } from '../../contract/values/trace-ids.ts';
import { isFramingHeader, isUnforwardedHeader } from '../../contract/values/unforwarded-headers.ts';
import { isGatewayHeader } from '../request/gateway-headers.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';

/** Headers in which a client sends its own provider credential. A stored provider replaces them with its own credential. */
const credentialHeaders: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key']);

/** Headers of the gateway that the own store does not get: the key is never sent, not even to the control plane. */
const notStored: ReadonlySet<string> = new Set(['api-key', 'file-purpose']);

/**
 * Returns the headers of a pass-through call: those of the target, and the client's without hop-by-hop headers, headers and keys of
 * the gateway, and credentials that a stored provider replaces.
 */
export function passedClientHeaders(ctx: RequestContext, resolved: ResolvedTarget, prefixes: readonly string[]): HeaderList {
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
    if (isFramingHeader(name) || isGatewayHeader(name, prefixes) || carriesOurKey(ctx, name, value)) continue;
    if (hopNames.includes(name) || (resolved.slug !== null && credentialHeaders.has(name))) continue;
    if (hasHeader(headers, name, fixed)) continue;
    headers.push(name, value);
  }
  return headers;
}

/**
 * Adds to a shaped call the client headers that the adapter, the request or the target names. Throws `bad_request` for one that must not
 * be forwarded.
 */
export function addClientHeaders(
  ctx: RequestContext,
  target: Target,
  { adapter }: ResolvedTarget,
  headers: HeaderList,
  prefixes: readonly string[],
): void {
  for (const name of adapter.forwards ?? []) forward(ctx, name, headers);
  for (const name of ctx.requestTarget?.forwardHeaders ?? target.forwardHeaders ?? []) {
    if (isUnforwardedHeader(name) || isGatewayHeader(name, prefixes)) {
      throw new GatewayError('bad_request', {
        message: `forward_headers: ${name} cannot be forwarded`,
        param: 'forward_headers',
      });
    }
    forward(ctx, name, headers);
  }
}

/** Returns true if this client header holds a key of the gateway. Such a header is never sent. */
function carriesOurKey(ctx: RequestContext, name: string, value: string): boolean {
  return name === ctx.keyHeader || holdsCredential(value, ctx.token) || (name === 'cookie' && value.includes('svc_session='));
}

/** Adds a client header under its own name, unless the provider's own settings have set it. */
function forward(ctx: RequestContext, name: string, headers: HeaderList): void {
  const value = ctx.request.header(name);
  if (value === undefined || carriesOurKey(ctx, name, value) || hasHeader(headers, name, headers.length)) return;
  headers.push(name, value);
}

function hasHeader(headers: HeaderList, name: string, end: number): boolean {
  for (let i = 0; i < end; i += 2) if (headers[i] === name) return true;
  return false;
}

/** Returns the caller as the service's own store needs it; null before the caller is known. */
export function callerOf(ctx: RequestContext): Caller | null {
  const { identity } = ctx;
  if (!identity) return null;
  return {
    organisationId: identity.organisationId,
    workspaceId: identity.workspaceId,
    keyId: identity.keyId,
    userId: identity.userId,
    headers: () => headersOf(ctx),
  };
}

function headersOf(ctx: RequestContext): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of ctx.gatewayHeaders)
    if (!notStored.has(name) && !holdsCredential(value, ctx.token)) headers[name] = value;
  for (const name of credentialHeaders) {
    const value = ctx.request.header(name);
    if (value === undefined || name === ctx.keyHeader || holdsCredential(value, ctx.token)) continue;
    headers.authorization = name === 'authorization' ? value : `Bearer ${value}`;
    break;
  }
  return headers;
}

/** Sets `traceparent` to the span of the next attempt, which the control plane exports. Replaces one of the client. */
export function setTraceContext(ctx: RequestContext, headers: HeaderList): void {
  const value = `00-${w3cTraceId(ctx.traceId)}-${childSpanId(ctx.id, ctx.attempts.length + 1)}-01`;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'traceparent') {
      headers[i + 1] = value;
      return;
    }
  }
  headers.push('traceparent', value);
}
