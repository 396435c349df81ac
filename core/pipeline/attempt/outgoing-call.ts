import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import type { Operation, OperationCall, OutgoingCall } from '../../contract/provider/provider.ts';
import type { UpstreamCall } from '../../contract/provider/upstream.ts';
import { holdsCredential } from '../../contract/values/api-key.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import type { HeaderList } from '../../contract/values/http.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { callerOf } from '../request/caller.ts';
import { isGatewayHeader } from '../request/gateway-headers.ts';
import { stepBytes } from '../request/large-json/json-steps.ts';
import { meteredBody } from '../request/passed-request.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';
import { encode, otherContent, shapedForm, takenOnce } from './outgoing-body.ts';
import { leaveDefaults, shapeParams } from './shape-params.ts';

export interface OutgoingOptions {
  readonly prefixes: readonly string[];
  /** Parameter values that select the provider's default, see `defaultWordsOf`. */
  readonly defaultWords: readonly string[];
  readonly timeouts: { readonly requestMs: number; readonly connectMs: number; readonly idleMs: number };
  readonly streamedBodyBytesMax: number;
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
}

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
    form: ctx.form && shapedForm(ctx, ctx.form, params),
    pathParams: ctx.endpoint?.pathParams,
    query: ctx.query,
    header: (name) => ctx.request.header(name),
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
  ctx.model = operationCall.model === '' ? ctx.model : operationCall.model;
  const { contentType, body, json } = operation.steps ? noContent : contentOf(ctx, operation, params, operationCall, options);
  if (target.strictParams && operationCall.dropped.length > 0)
    throw unsupportedParams(operationCall.dropped, resolved.adapter.id);
  const headers: HeaderList = contentType === null ? [] : ['content-type', contentType];
  if (operation.headers) for (const header of operation.headers(operationCall)) headers.push(header);
  headers.push('accept', acceptOf(ctx, operation));
  for (const header of resolved.headers) headers.push(header);
  for (const forwarded of resolved.adapter.forwards ?? []) forward(ctx, forwarded, headers);
  addForwarded(ctx, target, headers, options);
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
  if (!resolved.adapter.adjustProxyCall) return { call, operation: null, operationCall: null, json: null };
  const adjusted: OutgoingCall = { ...call, body: ctx.body };
  resolved.adapter.adjustProxyCall(adjusted, ctx.request);
  const changed = { path: adjusted.path, headers: adjusted.headers, body: adjusted.body ?? call.body };
  return { call: { ...call, ...changed }, operation: null, operationCall: null, json: null };
}

/** Returns true if this client header holds a key of the gateway. Such a header is never sent. */
function carriesOurKey(ctx: RequestContext, name: string, value: string): boolean {
  return name === ctx.keyHeader || holdsCredential(value, ctx.token) || (name === 'cookie' && value.includes('svc_session='));
}

function addForwarded(ctx: RequestContext, target: Target, headers: HeaderList, options: OutgoingOptions): void {
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
function forward(ctx: RequestContext, name: string, headers: HeaderList): void {
  const value = ctx.request.header(name);
  if (value === undefined || carriesOurKey(ctx, name, value) || hasHeader(headers, name, headers.length)) return;
  headers.push(name, value);
}

function hasHeader(headers: HeaderList, name: string, end: number): boolean {
  for (let i = 0; i < end; i += 2) if (headers[i] === name) return true;
  return false;
}

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
