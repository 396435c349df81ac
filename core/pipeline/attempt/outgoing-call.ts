import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import type { Operation, OperationCall, OutgoingCall } from '../../contract/provider/provider.ts';
import type { UpstreamCall, UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import type { HeaderList } from '../../contract/values/http.ts';
import { isPromise, type JsonObject, type Maybe } from '../../contract/values/json.ts';
import { stepBytes } from '../request/large-json/json-steps.ts';
import { encodeLarge } from '../request/large-json/large-json.ts';
import { meteredBody } from '../request/passed-request.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';
import { addClientHeaders, callerOf, passedClientHeaders, setTraceContext } from './client-headers.ts';
import { encode, otherContent, shapedForm } from './outgoing-body.ts';
import { leaveDefaults, shapeParams } from './shape-params.ts';
import { isSession, socketCall } from './socket-call.ts';

export interface OutgoingOptions {
  readonly prefixes: readonly string[];
  /** Parameter values that select the provider's default, see `defaultWordsOf`. */
  readonly defaultWords: readonly string[];
  readonly timeouts: { readonly requestMs: number; readonly connectMs: number; readonly idleMs: number };
  readonly streamedBodyBytesMax: number;
  /** True: calls name their span in `traceparent`. */
  readonly traceContext?: boolean;
  /** A larger form is not held, so it cannot be changed or converted for another provider. */
  readonly formBytesMax: number;
  readonly now: () => number;
  readonly newId: () => string;
}

/** One call ready to be sent, and the data that the adapter needs to read its response. */
export interface Outgoing {
  readonly call: UpstreamCall;
  readonly operation: Operation | null;
  readonly operationCall: OperationCall | null;
  /** A large body that is written later, in turns of the event loop. `call.body` is null until then. */
  readonly json: JsonObject | null;
  /** The model that the call names; null if it names none that the gateway reads. */
  readonly model: string | null;
}

/** Returns the call of an attempt, with its body written and its limits cut to `timeMs` (Infinity: no cut). */
export function outgoingCall(
  ctx: RequestContext,
  target: Target,
  resolved: ResolvedTarget,
  options: OutgoingOptions,
  timeMs: number,
): Maybe<Outgoing> {
  const shaped = callOf(ctx, target, resolved, options);
  if (options.traceContext) setTraceContext(ctx, shaped.call.headers);
  const outgoing =
    timeMs === Number.POSITIVE_INFINITY
      ? shaped
      : { ...shaped, call: { ...shaped.call, timeouts: within(shaped.call.timeouts, timeMs) } };
  if (!outgoing.json) return outgoing;
  return encodeLarge(ctx, outgoing.json, ctx.requestBytes).then((body) => ({ ...outgoing, call: { ...outgoing.call, body } }));
}

function callOf(ctx: RequestContext, target: Target, resolved: ResolvedTarget, options: OutgoingOptions): Outgoing {
  if (ctx.endpoint?.operation) return shapedCall(ctx, target, resolved, options);
  const passed = proxyCall(ctx, target, resolved, options);
  return isSession(ctx.endpoint, ctx.request) ? socketCall(ctx, target, resolved, passed) : passed;
}

/** Returns the call of a shaped route: the adapter's path and body, its headers, and the few client headers that it names. */
export function shapedCall(ctx: RequestContext, target: Target, resolved: ResolvedTarget, options: OutgoingOptions): Outgoing {
  const name = ctx.endpoint?.operation;
  const operation = name ? resolved.adapter.operations[name] : undefined;
  if (!name || !operation) {
    throw new GatewayError('unsupported_operation', {
      message: `${ctx.request.method} ${ctx.request.path} is not supported by ${resolved.adapter.id}`,
    });
  }
  const given = ctx.params as JsonObject;
  const params = leaveDefaults(shapeParams(given, target), options.defaultWords);
  const operationCall: OperationCall = {
    model: typeof params.model === 'string' ? params.model : '',
    stream: ctx.stream,
    params,
    form: ctx.form && (params === given && !ctx.bodyChanged ? ctx.form : shapedForm(ctx.form, given, params)),
    pathParams: ctx.endpoint?.pathParams,
    query: ctx.query,
    header: (name) => ctx.request.header(name),
    gatewayHeader: (name) => ctx.gatewayHeaders.get(name),
    settings: resolved.settings,
    metadata: ctx.metadata,
    caller: ctx.endpoint?.isStored ? callerOf(ctx) : null,
    strict: ctx.requestTarget?.strict ?? target.strict ?? true,
    dropped: [],
    adapted: [],
    nowSeconds: Math.floor(options.now() / 1000),
    clockSeconds: () => Math.floor(options.now() / 1000),
    newId: (prefix) => prefix + options.newId(),
  };
  const { contentType, body, json } = operation.steps ? noContent : contentOf(ctx, operation, params, operationCall, options);
  if (target.strictParams && operationCall.dropped.length > 0)
    throw unsupportedParams(operationCall.dropped, resolved.adapter.id);
  const headers: HeaderList = contentType === null ? [] : ['content-type', contentType];
  if (operation.headers) for (const header of operation.headers(operationCall)) headers.push(header);
  headers.push('accept', acceptOf(ctx, operation));
  for (const header of resolved.headers) headers.push(header);
  addClientHeaders(ctx, target, resolved, headers, options.prefixes);
  return {
    call: {
      tenant: tenantOf(ctx),
      origin: resolved.origin,
      path: resolved.basePath + withClientQuery(ctx, operation.path(operationCall)),
      method: operation.method ?? ctx.endpoint?.method ?? 'POST',
      headers,
      body,
      timeouts: timeoutsOf(ctx, target, options, operation),
      bodyBytesMax: options.streamedBodyBytesMax,
    },
    operation,
    operationCall,
    json,
    model: operationCall.model === '' ? null : operationCall.model,
  };
}

/**
 * Returns the path with the client's query if the provider serves the client's own route: `?beta=true` has the client's meaning
 * there. Another route of a provider would refuse or misread it.
 */
function withClientQuery(ctx: RequestContext, path: string): string {
  if (ctx.query === '' || ctx.request.path !== `/v1${path}`) return path;
  const query = ctx.query.replace(/(^|&)include_provider_details=[^&]*/g, '').replace(/^&/, '');
  return query === '' ? path : `${path}?${query}`;
}

/** The error of `strict_params`: the request fails instead of losing a parameter. */
function unsupportedParams(dropped: readonly string[], provider: string): GatewayError {
  return new GatewayError('bad_request', {
    message: `strict_params: ${provider} does not support ${dropped.join(', ').slice(0, 1000)}`,
    param: dropped[0] as string,
  });
}

/** The request's body for this target, and its type. */
function contentOf(
  ctx: RequestContext,
  operation: Operation,
  params: JsonObject,
  call: OperationCall,
  options: OutgoingOptions,
): { readonly contentType: string | null; readonly body: UpstreamCall['body']; readonly json: JsonObject | null } {
  if (operation.toContent || (ctx.endpoint?.body ?? 'json') !== 'json') {
    const other = otherContent(ctx, operation, call, options.formBytesMax);
    if (other) return { ...other, json: null };
  }
  const body = operation.toProvider ? operation.toProvider(params, call) : params;
  // The body is unchanged: send the client's own bytes, with unknown fields and number spelling intact.
  if (body === ctx.params && !ctx.bodyChanged) return { contentType: jsonType, body: ctx.body, json: null };
  if (ctx.requestBytes > stepBytes) return { contentType: jsonType, body: null, json: body };
  return { contentType: jsonType, body: encode(body), json: null };
}

/** For operations whose exchanges have bodies of their own. */
const noContent = { contentType: null, body: null, json: null };

const jsonType = 'application/json';

function acceptOf(ctx: RequestContext, operation: Operation): string {
  if (ctx.stream) return 'text/event-stream';
  return operation.passesBytes ? (ctx.request.header('accept') ?? '*/*') : 'application/json';
}

/**
 * Returns the call of a pass-through route: the client's request without the gateway's own headers, plus the provider's
 * credential.
 */
function proxyCall(ctx: RequestContext, target: Target, resolved: ResolvedTarget, options: OutgoingOptions): Outgoing {
  const below = ctx.endpoint?.proxyPath ?? '';
  const path = resolved.adapter.proxyPath ? resolved.adapter.proxyPath(below, resolved.settings) : below;
  const headers = passedClientHeaders(ctx, resolved, options.prefixes);
  const call = {
    tenant: tenantOf(ctx),
    origin: resolved.origin,
    path: resolved.basePath + path + (ctx.query === '' ? '' : `?${ctx.query}`),
    method: ctx.request.method,
    headers,
    body:
      ctx.body ??
      (ctx.request.body.length === 0 ? null : meteredBody(ctx.passed, ctx.takeBody(ctx.peekedBody ?? ctx.request.body))),
    timeouts: timeoutsOf(ctx, target, options, null),
    bodyBytesMax: options.streamedBodyBytesMax,
  };
  if (!resolved.adapter.adjustProxyCall) return { call, operation: null, operationCall: null, json: null, model: null };
  const adjusted: OutgoingCall = { ...call, body: ctx.body };
  resolved.adapter.adjustProxyCall(adjusted, ctx.request);
  const changed = { path: adjusted.path, headers: adjusted.headers, body: adjusted.body ?? call.body };
  return { call: { ...call, ...changed }, operation: null, operationCall: null, json: null, model: null };
}

/** Returns the time limits of one call, in milliseconds. */
function timeoutsOf(
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

function tenantOf(ctx: RequestContext): string {
  return ctx.identity?.organisationId ?? '';
}

/** Returns the call after `sign`, which may change headers, path and origin. */
export function signedCall(outgoing: Outgoing, sign: (call: OutgoingCall) => Maybe<void>): Maybe<Outgoing> {
  const { call } = outgoing;
  const draft: OutgoingCall = { ...call, headers: [...call.headers], body: call.body instanceof Uint8Array ? call.body : null };
  const signed = (): Outgoing => {
    const { headers, path, origin } = draft;
    return { ...outgoing, call: { ...call, headers, path, origin } };
  };
  const signing = sign(draft);
  return isPromise(signing) ? signing.then(signed) : signed();
}

/**
 * Returns the usual time limits, none of them longer than `timeMs`. A streamed reply may continue, because its clock stops at the
 * first byte.
 */
function within(timeouts: UpstreamTimeouts, timeMs: number): UpstreamTimeouts {
  const ms = Math.max(1, Math.ceil(timeMs));
  const least = (limit: number): number => (limit === 0 ? ms : Math.min(limit, ms));
  return {
    connectMs: least(timeouts.connectMs),
    firstByteMs: least(timeouts.firstByteMs),
    idleMs: timeouts.idleMs,
    totalMs: timeouts.totalMs === 0 ? 0 : least(timeouts.totalMs),
  };
}
