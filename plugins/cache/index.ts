import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { type CoreHooks, type CorePlugin, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import type { Reply } from '../../core/contract/plugin/plugin.ts';
import {
  type CachedReply,
  type CacheKey,
  cachedBytesMax,
  type Joined,
  type LeadResult,
  type ReplyCache,
} from '../../core/contract/protocol/cached-replies.ts';
import type { OperationName } from '../../core/contract/provider/provider.ts';
import { findHeader } from '../../core/contract/values/http.ts';
import { isPromise, type Maybe } from '../../core/contract/values/json.ts';
import { cacheDigest } from './key.ts';
import { cacheConfig } from './schema.ts';

/** Answers a request that was answered before: exact match, per workspace, shared by all gateways. */
export function cache(): CorePlugin {
  // One slot per process, shared by all configs: the keys of the entries differ.
  let store: Store | null = null;
  return defineCorePlugin({
    name: 'cache',
    stage: 'cache',
    after: ['config-resolution'],
    reads: { response: 'chunks' },
    config: cacheConfig,
    onConfig(_config, { targets }, services) {
      const [first = null] = targets.map((target) => target.cache);
      if (targets.every((target) => target.cache === null)) return null;
      store ??= { replies: services.replies, slot: services.newSlot() };
      // If all targets share one rule, look up the cache before a target is chosen.
      const isShared = targets.every((target) => target.cache?.maxAgeSeconds === first?.maxAgeSeconds);
      return isShared && first !== null ? byRequest(store, first.maxAgeSeconds) : byTarget(store);
    },
  }) as CorePlugin;
}

interface Store {
  readonly replies: ReplyCache;
  readonly slot: number;
}

/** State of a request that missed, used to store its reply. */
interface Collecting {
  readonly end: (result: LeadResult) => void;
  readonly maxAgeSeconds: number | null;
  contentType: string | null;
  contentEncoding: string | null;
  chunks: Uint8Array[];
  bytes: number;
}

/**
 * Operations whose reply depends on the body alone. Others read or change what a provider stores, or their audio and forms are large and
 * rarely repeated exactly.
 */
const cachedOperations: ReadonlySet<string> = new Set([
  'chatComplete',
  'complete',
  'countResponseInputTokens',
  'createDecision',
  'createModelResponse',
  'embed',
  'imageGenerate',
  'messages',
  'messagesCountTokens',
  'moderate',
  'ocr',
  'rerank',
] satisfies OperationName[]);

const defaultMaxAgeSeconds = 604_800;

function byRequest(store: Store, maxAgeSeconds: number | null): CoreHooks {
  return {
    onRequest: (ctx) => (isCached(ctx) ? lookUp(store, ctx, keyOf(ctx, null), maxAgeSeconds) : undefined),
    ...collect(store),
  };
}

/** Hooks for targets with different rules: the cache is looked up once a target is chosen, with the target as part of the key. */
function byTarget(store: Store): CoreHooks {
  return {
    onAttempt(ctx, { cache, path }) {
      // The pending entry of an earlier target must not store the reply of this one.
      leave(store, ctx);
      if (cache !== null && isCached(ctx)) return lookUp(store, ctx, keyOf(ctx, path), cache.maxAgeSeconds);
      ctx.cacheStatus = null;
      return undefined;
    },
    ...collect(store),
  };
}

/** True for requests that may be answered from the cache: not with `x-svc-debug: false`. */
function isCached(ctx: RequestContext): boolean {
  const { endpoint, params } = ctx;
  if (!endpoint || ctx.gatewayHeaders.get('debug') === 'false') return false;
  if (endpoint.operation === null) return isCachedProxy(ctx);
  // A conversation grows with each response, and a background response is not complete.
  if (params?.conversation || params?.background === true) return false;
  return cachedOperations.has(endpoint.operation);
}

/** Returns true for pass-through requests that call a model with a body in memory, like the unified routes. */
function isCachedProxy({ endpoint, request, body }: RequestContext): boolean {
  if (request.method !== 'POST' || (endpoint?.traffic !== 'stated' && endpoint?.traffic !== 'unknown')) return false;
  if (request.webSocketProtocols || (body === null && request.body.length !== 0)) return false;
  return !uncachedPath.test(endpoint.proxyPath) && !/^multipart\//i.test(request.header('content-type') ?? '');
}

const uncachedPath = /\/audio\/|\/images\/(?:edits|variations)/;

/** Names the entry of a request; `path` is that of the target if the targets of the config have different rules. */
function keyOf(ctx: RequestContext, path: string | null): CacheKey {
  const { organisationId = '', workspaceId = '' } = ctx.identity ?? {};
  return { organisationId, workspaceId, digest: cacheDigest(ctx, path) };
}

function lookUp(store: Store, ctx: RequestContext, key: CacheKey, maxAgeSeconds: number | null): Maybe<Reply | undefined> {
  if (ctx.gatewayHeaders.get('cache-force-refresh') === 'true') {
    ctx.cacheStatus = 'REFRESH';
    collectReply(store, ctx, store.replies.refresh(key).end, maxAgeSeconds);
    return undefined;
  }
  const joined = store.replies.join(key);
  return isPromise(joined)
    ? joined.then((settled) => take(store, ctx, settled, maxAgeSeconds))
    : take(store, ctx, joined, maxAgeSeconds);
}

function take(store: Store, ctx: RequestContext, joined: Joined, maxAgeSeconds: number | null): Reply | undefined {
  if (joined.kind === 'hit') {
    ctx.cacheStatus = 'HIT';
    return replyOf(ctx, joined.reply);
  }
  ctx.cacheStatus = 'MISS';
  if (joined.kind === 'alone') return undefined;
  if (ctx.aborted) joined.end('aborted');
  else collectReply(store, ctx, joined.end, maxAgeSeconds);
  return undefined;
}

function replyOf(ctx: RequestContext, { targetPath, provider, contentType, contentEncoding, body }: CachedReply): Reply {
  ctx.targetPath ??= targetPath;
  ctx.provider ??= provider;
  const headers = ['content-type', contentType];
  if (contentEncoding !== null) headers.push('content-encoding', contentEncoding);
  return { status: 200, headers, body };
}

function collectReply(
  { slot }: Store,
  ctx: RequestContext,
  end: (result: LeadResult) => void,
  maxAgeSeconds: number | null,
): void {
  ctx.slots[slot] = {
    end,
    maxAgeSeconds: maxAgeSeconds ?? askedMaxAge(ctx),
    contentType: null,
    contentEncoding: null,
    chunks: [],
    bytes: 0,
  } satisfies Collecting;
}

/** Ends the flight that this request leads without a reply. */
function leave({ slot }: Store, ctx: RequestContext): void {
  (ctx.slots[slot] as Collecting | undefined)?.end('failed');
  ctx.slots[slot] = undefined;
}

function collect({ slot }: Store): CoreHooks {
  return {
    onReply(ctx, head) {
      const collecting = ctx.slots[slot] as Collecting | undefined;
      if (!collecting || head.status !== 200) return;
      collecting.contentType = findHeader(head.headers, 'content-type') ?? 'application/json';
      collecting.contentEncoding = findHeader(head.headers, 'content-encoding') ?? null;
    },
    onChunk(ctx, chunk) {
      const collecting = ctx.slots[slot] as Collecting | undefined;
      if (!collecting?.contentType) return chunk;
      collecting.bytes += chunk.length;
      if (collecting.bytes > cachedBytesMax) {
        collecting.contentType = null;
        collecting.chunks = [];
        // The reply is too large to store: requests that wait for it would wait for nothing.
        collecting.end('failed');
      } else collecting.chunks.push(chunk);
      return chunk;
    },
    onEnd(ctx, outcome) {
      const collecting = ctx.slots[slot] as Collecting | undefined;
      if (!collecting) return;
      const { contentType, contentEncoding, chunks, bytes, maxAgeSeconds } = collecting;
      if (outcome.kind === 'aborted') return collecting.end('aborted');
      if (!contentType || outcome.kind !== 'success' || outcome.status !== 200 || bytes === 0) return collecting.end('failed');
      const body = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
      const { targetPath, provider } = ctx;
      collecting.end({
        reply: { targetPath, provider, contentType, contentEncoding, body },
        ttlMs: ttlMs(maxAgeSeconds, ctx.workspace?.settings?.cacheTtlSeconds ?? null),
      });
    },
  };
}

/** Returns the seconds of `cache-control: max-age=N`, used if the config sets none; null if absent or out of range. */
function askedMaxAge(ctx: RequestContext): number | null {
  const seconds = Number(
    /(?:^|,)\s*max-age=(\d{1,9})\s*(?:,|$)/i.exec(ctx.request.header('cache-control') ?? '')?.[1] ?? Number.NaN,
  );
  return seconds >= 60 && seconds <= 7_776_000 ? seconds : null;
}

/** The organisation's TTL is the default and the maximum of a config. */
function ttlMs(maxAgeSeconds: number | null, ceilingSeconds: number | null): number {
  const seconds = maxAgeSeconds ?? ceilingSeconds ?? defaultMaxAgeSeconds;
  return Math.min(seconds, ceilingSeconds ?? seconds) * 1000;
}
