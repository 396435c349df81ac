import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Operation, OperationCall, ProviderAdapter, ProviderError } from '../../contract/provider/provider.ts';
import { contextLengthCode } from '../../contract/values/errors/context-length.ts';
import { errorTable, GatewayError, toGatewayError } from '../../contract/values/errors/errors.ts';
import { messagesErrorType } from '../../contract/values/errors/messages-errors.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';
import { isObject, type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { encodeSteps } from '../../contract/values/large-json/encode-steps.ts';
import { stepBytes } from '../../contract/values/large-json/json-steps.ts';
import { JsonStepError, parseSteps } from '../../contract/values/large-json/parse-steps.ts';
import { withoutValues } from '../../contract/values/large-json/without-values.ts';
import type { Maybe } from '../../contract/values/maybe.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { hasTooManyLines } from '../../contract/values/text/line-limit.ts';
import type { AttemptReply, PlainReply } from '../attempt-reply.ts';
import { errorFormatOf } from '../error-format.ts';
import { isLittleWork } from '../request/json-limits.ts';
import { unfinishedUsage, usageOfCall } from '../usage/estimate-usage.ts';
import { EventStream } from './event-stream.ts';
import type { Outgoing } from './outgoing-call.ts';
import { eventStreamType, excerpt, isJson, isStream, parseErrorBody } from './reply-body.ts';
import { passedHeaders, requestIdOf } from './reply-headers.ts';
import { resultsAtGateway } from './results-address.ts';
import type { WholeReply } from './whole-reply.ts';

/** Sets the usage of the attempt, and the number of events if the reply is a stream. */
type CountUsage = (usage: Usage | null, events: number) => void;

/**
 * Returns the reply of the route for a response that was read whole, and passes its usage to `count`. Large JSON gives a promise and is parsed
 * and written in turns of the event loop. Never throws or rejects.
 */
export function plainReply(
  ctx: RequestContext,
  adapter: ProviderAdapter,
  outgoing: Outgoing,
  reply: WholeReply,
  count: CountUsage,
): Maybe<AttemptReply> {
  const { status, headers, body } = reply;
  const { operation, operationCall } = outgoing;
  const ok = status >= 200 && status < 300;
  if (!operation || !operationCall) {
    const error = ok ? null : errorOf(ctx, adapter, reply, false).error;
    const named = ok && ctx.endpoint?.namesResults ? resultsAtGateway(ctx.request, headers, body) : null;
    if (named !== null) return plain(reply, passedHeaders(headers, 'application/json'), named, null, null);
    return plain(reply, passedHeaders(headers, null), body, error, null);
  }
  if (!ok) return errorReply(ctx, adapter, operationCall, reply);
  /** Returns the error for a response that could not be read, which the provider bills, or in which the provider refused the call. */
  const unusable = (thrown: unknown): AttemptReply => {
    // An adapter that gives a reason throws a GatewayError.
    const error = toGatewayError(thrown, 'upstream_invalid');
    const isRefused = error.reported !== null;
    if (ctx.usage === null && !isRefused) count(unfinishedUsage(ctx, outgoing, { usage: null, events: 0, body }), 0);
    return { kind: 'error', error };
  };
  try {
    if (operationCall.stream && isStream(headers, operation)) return streamReply(ctx, operation, operationCall, reply, count);
    if (!isJson(headers)) {
      if (operation.fromBytes) return bytesReply(operation, operation.fromBytes, operationCall, reply, count);
      if (operation.passesBytes) {
        count(usageOfCall(outgoing), 0);
        return plain(reply, passedHeaders(headers, null), body, null, operationCall);
      }
    }
    if (body.length > stepBytes) return largeReply(ctx, adapter, operation, operationCall, reply, count).catch(unusable);
    const opaque = body.length > opaqueBytesMin ? opaqueMemberOf(ctx, operation) : null;
    const rest = opaque === null ? null : withoutValues(body, opaque).next().value;
    if (rest) {
      const passed = shapeReply(adapter, operation, operationCall, reply, parseObject(rest), count, false);
      if (passed.kind !== 'json') return passed;
    }
    const shaped = shapeReply(adapter, operation, operationCall, reply, parseObject(body), count, true);
    if (shaped.kind !== 'json') return shaped;
    return jsonReply(reply, Buffer.from(JSON.stringify(shaped.json)), shaped.json, operationCall);
  } catch (thrown) {
    return unusable(thrown);
  }
}

async function largeReply(
  ctx: RequestContext,
  adapter: ProviderAdapter,
  operation: Operation,
  call: OperationCall,
  given: WholeReply,
  count: CountUsage,
): Promise<AttemptReply> {
  const opaque = opaqueMemberOf(ctx, operation);
  const rest = opaque === null ? null : await ctx.inTurns(withoutValues(given.body, opaque));
  if (rest !== null) {
    ctx.holdBytes(rest.length, 'response');
    const passed = shapeReply(adapter, operation, call, given, await parseLarge(ctx, rest), count, false);
    if (passed.kind !== 'json') return passed;
  }
  ctx.holdBytes(given.body.length - (rest?.length ?? 0), 'response');
  // Plugins that judge the reply would parse it again, in one turn of the event loop.
  const keepsJson = ctx.plan.onAttemptResponse.length > 0;
  const shaped = shapeReply(adapter, operation, call, given, await parseLarge(ctx, given.body), count, keepsJson);
  if (shaped.kind !== 'json') return shaped;
  return jsonReply(
    given,
    await ctx.writeInTurns(() => encodeSteps(shaped.json, given.body.length), given.body.length, 'response'),
    keepsJson ? shaped.json : null,
    call,
  );
}

/** Name of the member whose long values no one reads in a reply. Null if all of it is to be parsed. */
function opaqueMemberOf(ctx: RequestContext, { opaqueMember }: Operation): string | null {
  return ctx.plan.onAttemptResponse.length > 0 ? null : (opaqueMember ?? null);
}

/** A smaller reply is parsed whole. */
const opaqueBytesMin = 4096;

/** Parses a reply in turns of the event loop, in one if it is little work. Returns null if it is no JSON object. */
async function parseLarge(ctx: RequestContext, bytes: Uint8Array): Promise<JsonObject | null> {
  if (isLittleWork(bytes)) {
    await ctx.memory?.turn();
    return parseObject(bytes);
  }
  try {
    return await ctx.inTurns(parseSteps(bytes));
  } catch (thrown) {
    if (thrown instanceof JsonStepError) return null;
    throw thrown;
  }
}

function jsonReply(given: WholeReply, body: Uint8Array, json: JsonObject | null, call: OperationCall): AttemptReply {
  return plain(given, passedHeaders(given.headers, 'application/json'), body, null, call, json);
}

/** Returns the reply, or the JSON that is to be written as its body. Throws GatewayError `upstream_invalid` for a body that is not JSON. */
function shapeReply(
  adapter: ProviderAdapter,
  operation: Operation,
  call: OperationCall,
  given: WholeReply,
  reply: JsonObject | null,
  count: CountUsage,
  keepsJson: boolean,
): AttemptReply | { readonly kind: 'json'; readonly json: JsonObject } {
  const { headers, body } = given;
  if (!reply) {
    const message = `Invalid response received from ${adapter.id}: ${excerpt(body)}`;
    throw new GatewayError('upstream_invalid', { message });
  }
  const stated = operation.usage(reply, call);
  count(stated, 0);
  const bytes = operation.toBytes?.(reply, call) ?? null;
  const shaped = bytes === null && operation.fromProvider ? operation.fromProvider(reply, call) : reply;
  // A call that the provider has refused has thrown by now.
  if (stated === null) count(usageOfCall({ operation, operationCall: call }), 0);
  if (bytes) return plain(given, passedHeaders(headers, bytes.contentType), bytes.body, null, call);
  if (shaped !== reply) return { kind: 'json', json: shaped };
  return plain(given, passedHeaders(headers, null), body, null, call, keepsJson ? reply : null);
}

/** Returns a reply that is not JSON as the JSON of the route. */
function bytesReply(
  operation: Operation,
  fromBytes: NonNullable<Operation['fromBytes']>,
  call: OperationCall,
  given: WholeReply,
  count: CountUsage,
): AttemptReply {
  const { headers, body } = given;
  const reply = fromBytes({ contentType: findHeader(headers, 'content-type') ?? '', body }, call);
  count(operation.usage(reply, call) ?? usageOfCall({ operation, operationCall: call }), 0);
  return plain(given, passedHeaders(headers, 'application/json'), Buffer.from(JSON.stringify(reply)), null, call);
}

/** Translates a stream that a plugin reads whole at once instead of chunk by chunk. */
function streamReply(
  ctx: RequestContext,
  operation: Operation,
  call: OperationCall,
  given: WholeReply,
  count: CountUsage,
): AttemptReply {
  const { headers, body } = given;
  if (!operation.decodeStream && hasTooManyLines(body)) {
    throw new GatewayError('upstream_invalid', {
      message: 'The provider sent a stream with too many lines for one that is read whole',
    });
  }
  const translator = operation.translateStream?.(call) ?? null;
  const reader = operation.streamReader();
  const events = new EventStream(reader, translator, operation.decodeStream);
  const text = events.push(body) + events.end();
  const usage = reader.usage();
  const error = reader.error?.() ?? (reader.complete() ? null : new GatewayError('stream_incomplete'));
  if (error) {
    const seen = { usage, events: events.count, body: null };
    const isRefused = error.reported !== null && events.isErrorFirst === true;
    count(isRefused ? usage : unfinishedUsage(ctx, { operation, operationCall: call }, seen), events.count);
    return { kind: 'error', error };
  }
  count(usage, events.count);
  const passed = passedHeaders(headers, translator ? eventStreamType : null);
  return plain(given, passed, translator ? Buffer.from(text) : body, null, call);
}

/** Returns the reply for an error response on a route whose replies have a shape of their own. */
export function errorReply(
  ctx: RequestContext,
  adapter: ProviderAdapter,
  call: OperationCall | null,
  given: WholeReply,
): FailedReply {
  const { error, text } = errorOf(ctx, adapter, given, true);
  const headers = [...passedHeaders(given.headers, 'application/json'), ...retryHeadersOf(error, given.headers)];
  return { ...plain(given, headers, Buffer.from(text), error, call), error };
}

/** A reply with the error of a provider. */
export interface FailedReply extends PlainReply {
  readonly error: GatewayError;
}

/** Clients read the delay from a header. Gemini sends it in the body. Claude Code repeats a 401 for over a minute unless a header forbids it. */
function retryHeadersOf({ status, retryAfterMs }: GatewayError, headers: HeaderList): HeaderList {
  const lacks = (...names: readonly string[]) => names.every((name) => findHeader(headers, name) === undefined);
  const added: string[] = [];
  if (retryAfterMs !== null && lacks('retry-after', 'retry-after-ms')) {
    added.push('retry-after', String(Math.ceil(retryAfterMs / 1000)));
  }
  if (status === 401 && lacks('x-should-retry')) added.push('x-should-retry', 'false');
  return added;
}

/** The provider's error as a GatewayError, and the body for the client of a shaped route as JSON. */
interface ShapedError {
  readonly error: GatewayError;
  readonly text: string;
}

/** An error with objects where texts are expected, or with endless nesting, is treated as one that is not JSON. */
function errorOf(ctx: RequestContext, adapter: ProviderAdapter, reply: WholeReply, isShaped: boolean): ShapedError {
  try {
    return parsedErrorOf(ctx, adapter, reply, parseErrorBody(reply.body), isShaped);
  } catch {
    return parsedErrorOf(ctx, adapter, reply, null, isShaped);
  }
}

/** The provider's own error is `provider_error`. */
function parsedErrorOf(
  ctx: RequestContext,
  adapter: ProviderAdapter,
  { status, headers, body: raw }: WholeReply,
  parsed: JsonObject | null,
  isShaped: boolean,
): ShapedError {
  const failure = adapter.error(status, parsed, headers);
  const message = parsed || !isShaped ? failure.message : `Invalid response received from ${adapter.id}: ${excerpt(raw)}`;
  const error = new GatewayError('upstream_status', { status, message, retryAfterMs: failure.retryAfterMs ?? undefined });
  return { error, text: errorText(ctx, adapter, headers, error, failure, parsed) };
}

function errorText(
  ctx: RequestContext,
  { id }: ProviderAdapter,
  headers: HeaderList,
  { status, message, code }: GatewayError,
  failure: ProviderError,
  parsed: JsonObject | null,
): string {
  const isMessages = errorFormatOf(ctx.endpoint, ctx.request) === 'messages';
  const type = isMessages ? messagesErrorType(status, failure.type) : (failure.type ?? errorTable[code].type);
  const original = providerError(parsed);
  const body: JsonObject = {
    error: {
      message,
      type,
      param: failure.param,
      code: isMessages ? failure.code : (contextLengthCode(status, message) ?? failure.code),
      ...(isMessages ? detailsIn(parsed) : {}),
      ...(original === null ? {} : { provider_error: original }),
    },
    provider: id,
  };
  return JSON.stringify(isMessages ? { type: 'error', ...body, request_id: requestIdOf(ctx, headers) } : body);
}

/**
 * Returns an attempt that failed with an error in a response with a success status, such as the first event of a stream, or in one of several
 * exchanges as an error response with the same error. All other replies are returned unchanged.
 */
export function withReportedError(
  ctx: RequestContext,
  adapter: ProviderAdapter,
  { operationCall }: Outgoing,
  reply: AttemptReply,
): AttemptReply {
  if (reply.kind !== 'error' || reply.error.reported === null || operationCall === null) return reply;
  const { error, headers = [] } = reply;
  try {
    const failure = adapter.error(error.status, error.reported, headers);
    const body = Buffer.from(errorText(ctx, adapter, headers, error, failure, error.reported));
    const shown = [...passedHeaders(headers, 'application/json'), ...retryHeadersOf(error, headers)];
    return plain({ status: error.status, headers, body }, shown, body, error, operationCall);
  } catch {
    // An error with objects where texts are expected.
    return reply;
  }
}

/** Anthropic's clients choose the class of an error by `details.error_code`. */
function detailsIn(parsed: JsonObject | null): JsonObject {
  const { details } = isObject(parsed?.error) ? parsed.error : ({} as JsonObject);
  return isObject(details) ? { details } : {};
}

/**
 * Returns the provider's own error: the member `error` if the envelope has nothing else but its type, otherwise the whole body.
 */
function providerError(parsed: JsonObject | null): JsonObject | null {
  if (parsed === null) return null;
  const { error, type: _type, ...rest } = parsed;
  return isObject(error) && Object.keys(rest).length === 0 ? error : parsed;
}

function plain(
  { status }: WholeReply,
  headers: HeaderList,
  body: Uint8Array,
  error: GatewayError | null,
  call: OperationCall | null,
  json: JsonObject | null = null,
): PlainReply {
  return { kind: 'plain', status, headers, body, json, error, retryAfterMs: error?.retryAfterMs ?? null, call };
}
