import { LRUCache } from 'lru-cache';
import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { type CoreHooks, type CorePlugin, type CoreServices, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import type { Reply } from '../../core/contract/plugin/plugin.ts';
import { findHeader } from '../../core/contract/values/http.ts';
import { cacheKey } from './key.ts';
import { cacheConfig } from './schema.ts';

/** Answers a request that was answered before: exact match, in the memory of this process, per workspace. */
export function cache(): CorePlugin {
  // One store per process, shared by all configs: the keys of the entries differ.
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
      store ??= createStore(services);
      // If all targets share one rule, look up the cache before a target is chosen.
      const isShared = targets.every((target) => target.cache?.maxAgeSeconds === first?.maxAgeSeconds);
      return isShared && first !== null ? byRequest(store, first.maxAgeSeconds) : byTarget(store);
    },
  }) as CorePlugin;
}

interface Entry {
  /** The target that gave the reply. Hits repeat its headers. */
  readonly targetPath: string | null;
  readonly provider: string | null;
  readonly contentType: string;
  /** The content encoding of a reply that was passed through encoded; otherwise null. */
  readonly contentEncoding: string | null;
  readonly chunks: Uint8Array[];
  readonly bytes: number;
}

/** State of a request that missed, used to store its reply. */
interface Collecting {
  readonly key: string;
  readonly maxAgeSeconds: number | null;
  contentType: string | null;
  contentEncoding: string | null;
  chunks: Uint8Array[];
  bytes: number;
}

/** Audio and forms are not cached: they are large, and rarely repeated exactly. */
const uncached: ReadonlySet<string> = new Set([
  'createSpeech',
  'createTranscription',
  'createTranslation',
  'imageEdit',
  'imageVariation',
]);

const defaultMaxAgeSeconds = 604_800;
const entryBytesMax = 4 * 1024 * 1024;
const storeBytesMax = 64 * 1024 * 1024;

interface Store {
  readonly entries: LRUCache<string, Entry>;
  readonly slot: number;
}

function createStore(services: CoreServices): Store {
  const entries = new LRUCache<string, Entry>({
    maxSize: storeBytesMax,
    sizeCalculation: (entry) => entry.bytes + 512,
    maxEntrySize: entryBytesMax,
    perf: services.clock,
  });
  return { entries, slot: services.newSlot() };
}

function byRequest(store: Store, maxAgeSeconds: number | null): CoreHooks {
  return {
    onRequest: (ctx) => (isCached(ctx) ? lookUp(store, ctx, cacheKey(ctx), maxAgeSeconds) : undefined),
    ...collect(store),
  };
}

/** Hooks for targets with different rules: the cache is looked up once a target is chosen, with the target as part of the key. */
function byTarget(store: Store): CoreHooks {
  return {
    onAttempt(ctx, { cache, path }) {
      if (cache !== null && isCached(ctx)) return lookUp(store, ctx, `${cacheKey(ctx)}${path}`, cache.maxAgeSeconds);
      // The pending entry of an earlier target must not store the reply of this one.
      ctx.slots[store.slot] = undefined;
      ctx.cacheStatus = null;
      return undefined;
    },
    ...collect(store),
  };
}

/** True for requests that may be answered from the cache: not with `x-svc-debug: false`. */
function isCached(ctx: RequestContext): boolean {
  const { endpoint } = ctx;
  if (!endpoint || ctx.gatewayHeaders.get('debug') === 'false') return false;
  return endpoint.operation === null ? isCachedProxy(ctx) : !uncached.has(endpoint.operation);
}

/** Returns true for pass-through requests that call a model with a body in memory, like the unified routes. */
function isCachedProxy({ endpoint, request, body }: RequestContext): boolean {
  if (request.method !== 'POST' || (endpoint?.traffic !== 'stated' && endpoint?.traffic !== 'unknown')) return false;
  if (request.webSocketProtocols || (body === null && request.body.length !== 0)) return false;
  return !uncachedPath.test(endpoint.proxyPath) && !/^multipart\//i.test(request.header('content-type') ?? '');
}

const uncachedPath = /\/audio\/|\/images\/(?:edits|variations)/;

function lookUp({ entries, slot }: Store, ctx: RequestContext, key: string, maxAgeSeconds: number | null): Reply | undefined {
  const refresh = ctx.gatewayHeaders.get('cache-force-refresh') === 'true';
  if (refresh) entries.delete(key);
  const entry = refresh ? undefined : entries.get(key);
  if (entry) {
    ctx.cacheStatus = 'HIT';
    ctx.targetPath ??= entry.targetPath;
    ctx.provider ??= entry.provider;
    const body = entry.chunks.length === 1 ? (entry.chunks[0] as Uint8Array) : Buffer.concat(entry.chunks);
    const headers = ['content-type', entry.contentType];
    if (entry.contentEncoding !== null) headers.push('content-encoding', entry.contentEncoding);
    return { status: 200, headers, body };
  }
  ctx.cacheStatus = refresh ? 'REFRESH' : 'MISS';
  const age = maxAgeSeconds ?? askedMaxAge(ctx);
  ctx.slots[slot] = {
    key,
    maxAgeSeconds: age,
    contentType: null,
    contentEncoding: null,
    chunks: [],
    bytes: 0,
  } satisfies Collecting;
  return undefined;
}

function collect({ entries, slot }: Store): CoreHooks {
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
      if (collecting.bytes > entryBytesMax) collecting.contentType = null;
      else collecting.chunks.push(chunk);
      return chunk;
    },
    onEnd(ctx, outcome) {
      const collecting = ctx.slots[slot] as Collecting | undefined;
      if (!collecting?.contentType || outcome.kind !== 'success' || outcome.status !== 200 || collecting.bytes === 0) return;
      const { contentType, contentEncoding, chunks, bytes, maxAgeSeconds } = collecting;
      const ttl = ttlMs(maxAgeSeconds, ctx.workspace?.settings?.cacheTtlSeconds ?? null);
      const { targetPath, provider } = ctx;
      entries.set(collecting.key, { targetPath, provider, contentType, contentEncoding, chunks, bytes }, { ttl });
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
