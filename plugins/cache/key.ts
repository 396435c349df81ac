import { hash } from 'node:crypto';
import { newEntryCache } from '../../core/contract/entry-cache.ts';
import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import type { CachedReply, CacheKey, ReplyForm } from '../../core/contract/protocol/cached-replies.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { hasDuplicateKeys } from '../../core/contract/values/json/duplicate-keys.ts';
import { isObject, parseObject } from '../../core/contract/values/json/json.ts';
import { textOf } from '../../core/contract/values/text/utf8.ts';
import { dependentFields } from './dependent-fields.ts';
import { sharesForms } from './forms/convert.ts';

/** Client headers that an adapter reads without passing them on unchanged. */
const readByAdapters = ['anthropic-beta'] as const;

/** Returns the digest of a request; `path` is that of the target if the targets of the config have different rules. */
export type CacheDigest = (ctx: RequestContext, path: string | null) => string;

/** Client headers that adapters pass on: see `CoreServices`. */
type Forwarding = Pick<CoreServices, 'forwardedHeaders'>;

/** Digests by those of the bytes: a body that was sent before is not written in the order of its keys again, which costs 5 µs. */
const knownMax = 10_000;

/**
 * Returns a function for one digest of everything the reply depends on: workspace, versions of config and guardrails, route, body, the destination that the
 * request's own headers select, and the client headers that targets forward or strategies read. Metadata is part of it unless a namespace replaces it;
 * metadata that conditions read is part of it in any case, because it chooses the target. Two tenants never share an entry, nor do
 * two callers with their own provider keys.
 */
export function createCacheDigest({ forwardedHeaders }: Forwarding): CacheDigest {
  const known = newEntryCache<string, string>(knownMax);
  return (ctx, path) => {
    const place = destination(ctx, path, forwardedHeaders);
    const ofBytes = digestOf(place, ctx.body ?? '');
    if (!sharesForms(ctx.endpoint?.operation ?? null)) return ofBytes;
    let digest = known.get(ofBytes);
    if (digest === undefined) {
      const formless = formlessBody(ctx);
      digest = formless === null ? ofBytes : digestOf(place, formless);
      known.set(ofBytes, digest);
    }
    return digest;
  };
}

/** Two calls of `hash` take less time than one `Hash` object, which the garbage collector must also finalize. */
function digestOf(place: string, body: string | Uint8Array): string {
  return hash('sha256', place + hash('sha256', body, 'base64url'), 'base64url');
}

/**
 * Returns the key of an entry for one form of reply, used while the entry of all forms has a reply that cannot be converted to it. It differs
 * for each such reply, so that a refresh of that entry makes this one unreachable too.
 */
export function keyOfForm(key: CacheKey, form: ReplyForm, { body }: CachedReply): CacheKey {
  return { ...key, digest: hash('sha256', `${key.digest} ${form} ${hash('sha256', body, 'base64url')}`, 'base64url') };
}

/** Larger bodies are not written a second time to compare them: their streams and plain replies have entries of their own. */
const formlessBytesMax = 256 * 1024;

const inexact = /\d{16}|\d[eE][+-]?\d{3}/;

/**
 * Returns the body of an operation that can stream without the parameters that decide about the form of its reply, and with its keys in one
 * order. Null for other bodies. Parameters that a plugin changed do not count: texts of different clients may have become equal.
 */
function formlessBody(ctx: RequestContext): string | null {
  const { body } = ctx;
  if (body === null || body.length > formlessBytesMax) return null;
  // Numbers that are not exact once parsed would become equal.
  if (inexact.test(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'))) return null;
  const text = textOf(body);
  const params = ctx.bodyChanged ? parseObject(text) : ctx.params;
  // The provider might read the first value of a name, and the parser reads the last.
  if (params === null || hasDuplicateKeys(text, params)) return null;
  const { stream: _, stream_options: options, ...rest } = params;
  const { include_usage: __, ...others } = isObject(options) ? options : {};
  const kept = Object.keys(others).length === 0 ? rest : { ...rest, stream_options: others };
  return JSON.stringify(Object.fromEntries(Object.entries(kept).sort(([left], [right]) => (left < right ? -1 : 1))));
}

/** Like the digest of a request, with `rest` in the place of the body. Objects in it are compared whatever the order of their keys. */
export function partitionDigest(
  ctx: RequestContext,
  path: string | null,
  rest: readonly unknown[],
  { forwardedHeaders }: Forwarding,
): string {
  const place = destination(ctx, path, forwardedHeaders);
  return hash('sha256', `semantic ${place}${JSON.stringify(rest, sortedKeys)}`, 'base64url');
}

function sortedKeys(_key: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))) : value;
}

function destination(ctx: RequestContext, path: string | null, forwarded: readonly string[]): string {
  const target = ctx.requestTarget;
  const read = dependentFields(ctx.plan);
  const namespace = namespaceOf(ctx);
  return JSON.stringify([
    ctx.identity?.workspaceId,
    path,
    ctx.workspace?.cachePurges ?? 0,
    ctx.configVersionId ?? ctx.plan.config,
    ctx.plan.guardrailVersions,
    ctx.endpoint?.operation === null ? passedParts(ctx) : [ctx.endpoint?.name, ctx.query],
    target?.provider ?? null,
    target?.customHost ?? null,
    target?.settings ?? null,
    target?.strict ?? null,
    // Headers that adapters read or pass on change replies too.
    sentValues(ctx, readByAdapters),
    sentValues(ctx, forwarded),
    // A list of the request replaces that of the target, also if the request has none of its headers.
    target?.forwardHeaders?.map((name) => [name, ctx.request.header(name)]) ?? null,
    sentValues(ctx, read.headers),
    Object.entries(target?.credentials ?? {}).map(([name, secret]) => [name, hash('sha256', secret.reveal(), 'base64')]),
    ...(namespace === undefined ? [sortedMetadata(ctx)] : [namespace, metadataOf(ctx, read.metadata)]),
  ]);
}

/**
 * Returns the namespace that the request names. Throws `bad_request` for one with other characters: the HTTP addon removes bytes above 0x7f at
 * both ends of a value, so that different namespaces would arrive as one.
 */
function namespaceOf({ gatewayHeaders, headerPrefix }: RequestContext): string | undefined {
  const namespace = gatewayHeaders.get('cache-namespace');
  if (namespace === undefined || /^[\x20-\x7e]+$/.test(namespace)) return namespace;
  const param = `${headerPrefix}cache-namespace`;
  const message = `${param}: expected printable ASCII characters. Encode others, for example with encodeURIComponent`;
  throw new GatewayError('bad_request', { message, param });
}

/** Returns the headers of these names that the request has, each with its value. */
function sentValues({ request }: RequestContext, names: readonly string[]): [string, string][] {
  const sent: [string, string][] = [];
  for (const name of names) {
    const value = request.header(name);
    if (value !== undefined) sent.push([name, value]);
  }
  return sent;
}

/** Returns the parts of a pass-through request that decide about the reply: its destination and every header that is sent. */
function passedParts({ request, endpoint, query, keyHeader, headerPrefix }: RequestContext): unknown[] {
  const headers: string[] = [];
  for (let i = 0; i < request.headers.length; i += 2) {
    const name = request.headers[i] as string;
    if (name === keyHeader || name.startsWith(headerPrefix) || perRequest.test(name)) continue;
    headers.push(`${name}: ${request.headers[i + 1]}`);
  }
  return [request.method, endpoint?.proxyPath, query, headers.sort()];
}

/** Headers that differ from request to request, or from client to client, and change no reply. */
const perRequest =
  /^(?:host|user-agent|content-length|connection|keep-alive|transfer-encoding|expect|date|via|forwarded|x-forwarded-.*|x-real-ip|x-request-id|x-client-request-id|x-stainless-.*|idempotency-key|traceparent|tracestate|baggage|cache-control|pragma|cookie|origin|referer|sec-.*|accept-language|priority)$/;

function metadataOf({ metadata }: RequestContext, names: readonly string[]): (string | null)[] {
  return names.map((name) => (Object.hasOwn(metadata, name) ? (metadata[name] as string) : null));
}

function sortedMetadata(ctx: RequestContext): [string, string][] {
  return Object.entries(ctx.metadata).sort(([left], [right]) => (left < right ? -1 : 1));
}
