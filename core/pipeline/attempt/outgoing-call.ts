import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import { leaveDefaults, shapeParams } from '../../contract/plugin/requests/shape-params.ts';
import type { Caller, Operation, OperationCall, OutgoingCall } from '../../contract/provider/provider.ts';
import type { UpstreamCall, UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import type { FormPart } from '../../contract/values/bodies/form.ts';
import { holdsCredential } from '../../contract/values/credentials/api-key.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isUnforwardedHeader } from '../../contract/values/http/connection-headers.ts';
import { credentialHeaders } from '../../contract/values/http/credential-headers.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { childSpanId, w3cTraceId } from '../../contract/values/http/trace-ids.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { encodeSteps } from '../../contract/values/large-json/encode-steps.ts';
import { stepBytes } from '../../contract/values/large-json/json-steps.ts';
import { spliceMembers } from '../../contract/values/large-json/splice-members.ts';
import { isPromise, type Maybe } from '../../contract/values/maybe.ts';
import { asksForStream } from '../request/asks-for-stream.ts';
import { encodeForm } from '../request/form-data.ts';
import { isGatewayHeader } from '../request/gateway-headers.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';
import { encode, shapedForm, withModel } from './outgoing-body.ts';
import { hasHeader, passedCall, withoutOurKey } from './passed-call.ts';
import { withServedModel } from './served-model.ts';

export interface OutgoingOptions {
  readonly prefixes: readonly string[];
  /** Parameter values that select the provider's default, see `defaultMarkersOf`. */
  readonly defaultMarkers: readonly string[];
  readonly timeouts: { readonly requestMs: number; readonly connectMs: number; readonly idleMs: number };
  readonly streamedBodyBytesMax: number;
  /** True: calls name their span in `traceparent`. */
  readonly traceContext?: boolean;
  /** A larger form is not held, so it cannot be changed or converted for another provider. */
  readonly formBytesMax: number;
  readonly now: () => number;
  readonly newId: () => string;
  /** See `OperationCall`. */
  readonly withoutReasoning?: boolean;
}

/** A body and its content type. Both are null for requests without a body. */
interface Body {
  readonly contentType: string | null;
  readonly body: UpstreamCall['body'];
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
  // The target's defaults, overrides and drops may change what the request asks for.
  if (shaped.operationCall) ctx.stream = shaped.operationCall.stream;
  if (options.traceContext) setTraceContext(ctx, shaped.call.headers);
  const outgoing =
    timeMs === Number.POSITIVE_INFINITY
      ? shaped
      : { ...shaped, call: { ...shaped.call, timeouts: within(shaped.call.timeouts, timeMs) } };
  const { json } = outgoing;
  if (!json) return outgoing;
  return ctx
    .writeInTurns(() => encodeSteps(json, ctx.requestBytes), ctx.requestBytes)
    .then((body) => ({ ...outgoing, call: { ...outgoing.call, body } }));
}

function callOf(ctx: RequestContext, target: Target, resolved: ResolvedTarget, options: OutgoingOptions): Outgoing {
  if (!ctx.endpoint?.operation) return passedCall(ctx, target, resolved, options, timeoutsOf(ctx, target, options, null, false));
  try {
    return shapedCall(ctx, target, resolved, options);
  } catch (thrown) {
    throw isWithoutText(thrown) ? new GatewayError('bad_request', { message: withoutText, cause: thrown }) : thrown;
  }
}

const withoutText = 'The body has an object or a list where a text is expected';

/**
 * True for the error that V8 throws when an object whose members `toString` and `valueOf` are no functions is used as text. Adapters use
 * many fields of requests as texts, for comparisons and notes.
 */
function isWithoutText(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.message === 'Cannot convert object to primitive value';
}

/** Returns the call of a shaped route: the adapter's path and body, its headers, and the few client headers that it names. */
export function shapedCall(ctx: RequestContext, target: Target, resolved: ResolvedTarget, options: OutgoingOptions): Outgoing {
  const name = ctx.endpoint?.operation;
  const known = name ? resolved.adapter.operations[name] : undefined;
  if (!name || !known) {
    throw new GatewayError('unsupported_operation', {
      message: `${ctx.request.method} ${ctx.request.path} is not supported by ${resolved.adapter.id}. Use another provider, or a path below /v1/proxy, whose requests reach the provider unchanged`,
    });
  }
  const given = ctx.params as JsonObject;
  const params = leaveDefaults(shapeParams(given, target), options.defaultMarkers);
  const operationCall: OperationCall = {
    model: typeof params.model === 'string' ? params.model : '',
    stream: asksForStream(params, ctx.form !== null || ctx.streamedForm !== null),
    params,
    // A file that guardrails have read is sent as it came.
    form:
      name === 'uploadFile'
        ? null
        : ctx.form && (params === given && !ctx.bodyChanged ? ctx.form : shapedForm(ctx.form, given, params)),
    pathParams: ctx.endpoint?.pathParams,
    query: ctx.query,
    header: (name) => ctx.request.header(name),
    gatewayHeader: (name) => ctx.gatewayHeaders.get(name),
    settings: resolved.settings,
    metadata: ctx.metadata,
    caller: ctx.endpoint?.isStored ? callerOf(ctx) : null,
    strict: ctx.requestTarget?.strict ?? target.strict ?? true,
    withoutReasoning: options.withoutReasoning,
    dropped: [],
    adapted: [],
    nowSeconds: Math.floor(options.now() / 1000),
    clockSeconds: () => Math.floor(options.now() / 1000),
    newId: (prefix) => prefix + options.newId(),
  };
  if (known.changesInPlace) ctx.bodyLayout = null;
  const operation = known.ofCall?.(operationCall) ?? known;
  const { contentType, body, json } = operation.steps ? noContent : contentOf(ctx, operation, params, operationCall, options);
  if (target.strictParams && operationCall.dropped.length > 0)
    throw unsupportedParams(operationCall.dropped, resolved.adapter.id);
  const headers: HeaderList = contentType === null ? [] : ['content-type', contentType];
  if (operation.headers) for (const header of operation.headers(operationCall)) headers.push(header);
  headers.push('accept', acceptOf(ctx, operation, operationCall.stream));
  for (const header of resolved.headers) headers.push(header);
  addClientHeaders(ctx, target, resolved, headers, options.prefixes);
  return {
    call: {
      tenant: ctx.identity?.organisationId ?? '',
      origin: resolved.origin,
      path: resolved.basePath + withClientQuery(ctx, operation.path(operationCall)),
      method: operation.method ?? ctx.endpoint?.method ?? 'POST',
      headers,
      body,
      timeouts: timeoutsOf(ctx, target, options, operation, operationCall.stream),
      bodyBytesMax: options.streamedBodyBytesMax,
    },
    operation: withServedModel(operation, params, resolved.adapter, (model) => ctx.nameModel(model)),
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
  const isLarge = ctx.requestBytes > stepBytes;
  if (isLarge) ctx.holdCopy(ctx.requestBytes);
  const spliced = ctx.bodyLayout === null ? null : spliceMembers(ctx.bodyLayout, body);
  if (spliced === null && ctx.needsSteps) return { contentType: jsonType, body: null, json: body };
  const written = spliced ?? encode(body);
  if (isLarge) ctx.holdCopy(written.length);
  return { contentType: jsonType, body: written, json: null };
}

/**
 * Returns the body of a request that is not the JSON of `toProvider`: the body made by the operation, the client's form, a
 * streamed body, or none. Null if it is that JSON. Throws `body_too_large` if a form of over `formBytesMax` would have to be
 * changed.
 */
function otherContent(ctx: RequestContext, operation: Operation, call: OperationCall, formBytesMax: number): Body | null {
  if (ctx.streamedForm) return streamedForm(ctx, ctx.streamedForm, operation, call, formBytesMax);
  const content = operation.toContent?.(call.params, call) ?? null;
  if (content?.kind === 'json') return { contentType: 'application/json', body: encode(content.body) };
  if (content?.kind === 'bytes') return content;
  const form = content?.parts ?? call.form;
  if (form) return formOf(ctx, content ? form : withModel(form, operation, call));
  const kind = ctx.endpoint?.body;
  if (kind === 'none') return { contentType: null, body: null };
  if (kind !== 'stream') return null;
  const type = ctx.request.header('content-type') ?? 'application/octet-stream';
  return { contentType: type, body: ctx.request.body.length === 0 ? null : ctx.takeBody(ctx.peekedBody ?? ctx.request.body) };
}

/** Returns the client's own bytes and boundary if the form is unchanged. */
function formOf(ctx: RequestContext, parts: readonly FormPart[]): Body {
  return parts === ctx.form ? { contentType: contentTypeOf(ctx), body: ctx.body } : encodeForm(parts);
}

function streamedForm(
  ctx: RequestContext,
  form: NonNullable<RequestContext['streamedForm']>,
  operation: Operation,
  call: OperationCall,
  bytesMax: number,
): Body {
  const known = ctx.params ?? {};
  const model = operation.modelInForm?.(call) ?? call.model;
  const changed = Object.keys({ ...known, ...call.params }).find((name) => name !== 'model' && call.params[name] !== known[name]);
  const isStuck = known.model === undefined && model !== '' && model !== undefined;
  const isRemade = operation.toContent !== undefined && !operation.takesForms;
  if (isRemade || changed !== undefined || isStuck) {
    const why = isRemade ? 'this provider needs the body in another form' : `${changed ?? 'model'} has to be changed in it`;
    throw new GatewayError('body_too_large', {
      message: `Payload size exceeds the limit: a form over ${bytesMax} bytes is streamed unchanged, but ${why}`,
    });
  }
  return { contentType: contentTypeOf(ctx), body: ctx.takeBody(form.body(model === '' ? null : model)) };
}

function contentTypeOf(ctx: RequestContext): string {
  return ctx.request.header('content-type') as string;
}

/** For operations whose exchanges have bodies of their own. */
const noContent = { contentType: null, body: null, json: null };

const jsonType = 'application/json';

function acceptOf(ctx: RequestContext, operation: Operation, stream: boolean): string {
  if (stream) return 'text/event-stream';
  return operation.passesBytes ? (ctx.request.header('accept') ?? '*/*') : 'application/json';
}

/**
 * Adds to a call of the gateway's own making the client headers that the adapter, the request or the target names. Throws `bad_request` for
 * one that must not be forwarded.
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

/** Adds a client header under its own name, unless the provider's own settings have set it. */
function forward(ctx: RequestContext, name: string, headers: HeaderList): void {
  const sent = ctx.request.header(name);
  if (sent === undefined || hasHeader(headers, name, headers.length)) return;
  const value = withoutOurKey(ctx, name, sent);
  if (value !== null) headers.push(name, value);
}

/** Returns the caller as the service's own store needs it; null before the caller is known. */
function callerOf(ctx: RequestContext): Caller | null {
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

/** Headers of the gateway that the own store does not get: the key is never sent, not even to the control plane. */
const notStored: ReadonlySet<string> = new Set(['api-key', 'file-purpose']);

/** Returns the time limits of one call, in milliseconds. */
function timeoutsOf(
  ctx: RequestContext,
  target: Target,
  options: OutgoingOptions,
  operation: Operation | null,
  stream: boolean,
): UpstreamCall['timeouts'] {
  const requestMs = ctx.requestTarget?.timeoutMs ?? target.timeoutMs ?? options.timeouts.requestMs;
  return {
    connectMs: Math.min(options.timeouts.connectMs, requestMs),
    firstByteMs: requestMs,
    awaitsBody: stream,
    idleMs: options.timeouts.idleMs,
    // A streamed reply may continue for as long as data arrives; its clock stops at the first byte of its body.
    totalMs: stream || operation === null || operation.passesBytes ? 0 : requestMs,
  };
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
export function within(timeouts: UpstreamTimeouts, timeMs: number): UpstreamTimeouts {
  const ms = Math.max(1, Math.ceil(timeMs));
  const least = (limit: number): number => (limit === 0 ? ms : Math.min(limit, ms));
  return {
    ...timeouts,
    connectMs: least(timeouts.connectMs),
    firstByteMs: least(timeouts.firstByteMs),
    totalMs: timeouts.totalMs === 0 ? 0 : least(timeouts.totalMs),
  };
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
