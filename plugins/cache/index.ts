import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { type CoreHooks, type CorePlugin, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import type { CacheRule } from '../../core/contract/plugin/plan.ts';
import type { Reply, Slot } from '../../core/contract/plugin/plugin.ts';
import type { CachedReply, CacheKey, Joined, ReplyCache } from '../../core/contract/protocol/cached-replies.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { type Collecting, collectingHooks, collectReply, labelsOf, leave } from './collect.ts';
import { convertReply, formOf } from './forms/convert.ts';
import { isCached } from './is-cached.ts';
import { type CacheDigest, createCacheDigest, keyOfForm } from './key.ts';
import { cacheConfig } from './schema.ts';
import { createSemantic, type Semantic, type SemanticRequest } from './semantic.ts';

/** Serves a request again from an earlier reply: equal ones, or with mode semantic similar ones; per workspace, shared by all gateways. */
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
      store ??= {
        ...{ replies: services.replies, slot: services.slot<Collecting>() },
        ...{ digest: createCacheDigest(services), semantic: createSemantic(services) },
      };
      // If all targets share one rule, look up the cache before a target is chosen.
      const isShared = targets.every((target) => JSON.stringify(target.cache) === JSON.stringify(first));
      return isShared && first !== null
        ? byRequest(store, first)
        : byTarget(
            store,
            targets.map((target) => target.cache),
          );
    },
  });
}

interface Store {
  readonly replies: ReplyCache;
  readonly slot: Slot<Collecting>;
  readonly digest: CacheDigest;
  readonly semantic: Semantic;
}

/** A request that may be served from the cache. `path` is that of the target if the targets of the config have different rules. */
interface Lookup {
  readonly rule: CacheRule;
  readonly path: string | null;
  readonly key: CacheKey;
  /** True for the entry of one form, which no other form shares. */
  readonly isOfForm?: true;
}

function byRequest(store: Store, rule: CacheRule): CoreHooks {
  return {
    onRequest: (ctx) => (isCached(ctx) ? lookUp(store, ctx, { rule, path: null, key: keyOf(store, ctx, null) }) : undefined),
    ...collectingHooks(store.slot),
    ...readingHooks([rule]),
  };
}

/** Hooks for targets with different rules: the cache is looked up once a target is chosen, with the target as part of the key. */
function byTarget(store: Store, rules: readonly (CacheRule | null)[]): CoreHooks {
  return {
    onAttempt(ctx, { cache: rule, path }) {
      // The pending entry of an earlier target must not store the reply of this one.
      leave(store.slot, ctx);
      if (rule !== null && isCached(ctx)) return lookUp(store, ctx, { rule, path, key: keyOf(store, ctx, path) });
      ctx.cacheStatus = null;
      return undefined;
    },
    ...collectingHooks(store.slot),
    ...readingHooks(rules),
  };
}

/** The semantic mode reads the bodies of pass-through requests. */
function readingHooks(rules: readonly (CacheRule | null)[]): CoreHooks {
  return rules.some((rule) => rule?.mode === 'semantic') ? { readsParams: true } : {};
}

function keyOf({ digest }: Store, ctx: RequestContext, path: string | null): CacheKey {
  const { organisationId = '', workspaceId = '' } = ctx.identity ?? {};
  return { organisationId, workspaceId, digest: digest(ctx, path), generation: ctx.workspace?.cacheGeneration ?? 0 };
}

function lookUp(store: Store, ctx: RequestContext, lookup: Lookup): Maybe<Reply | undefined> {
  const { rule, path, key } = lookup;
  if (ctx.gatewayHeaders.get('cache-force-refresh') === 'true') {
    ctx.cacheStatus = 'REFRESH';
    collectReply(store.slot, ctx, store.replies.refresh(key).end, rule.maxAgeSeconds, store.semantic.begin(ctx, rule, path));
    return undefined;
  }
  return join(store, ctx, lookup);
}

function join(store: Store, ctx: RequestContext, lookup: Lookup): Maybe<Reply | undefined> {
  const joined = store.replies.join(lookup.key);
  return isPromise(joined) ? joined.then((settled) => take(store, ctx, lookup, settled)) : take(store, ctx, lookup, joined);
}

function take(store: Store, ctx: RequestContext, lookup: Lookup, joined: Joined): Maybe<Reply | undefined> {
  const { rule, path, key, isOfForm } = lookup;
  if (joined.kind === 'hit') {
    const form = formOf(ctx);
    const reply = convertReply(ctx.endpoint?.operation ?? null, joined.reply, form);
    ctx.cacheStatus = reply === null ? 'MISS' : 'HIT';
    if (reply !== null) return replyOf(ctx, reply);
    // The stored reply keeps its entry for its form, so this form needs one of its own.
    return isOfForm ? undefined : join(store, ctx, { ...lookup, key: keyOfForm(key, form, joined.reply), isOfForm: true });
  }
  ctx.cacheStatus = 'MISS';
  if (joined.kind === 'alone') return undefined;
  if (ctx.aborted) {
    joined.end('aborted');
    return undefined;
  }
  const semantic = store.semantic.begin(ctx, rule, path);
  collectReply(store.slot, ctx, joined.end, rule.maxAgeSeconds, semantic);
  return semantic === null ? undefined : findSimilar(store, ctx, key, semantic);
}

async function findSimilar(
  store: Store,
  ctx: RequestContext,
  key: CacheKey,
  semantic: SemanticRequest,
): Promise<Reply | undefined> {
  ctx.cacheStatus = 'SEMANTIC MISS';
  const found = await store.semantic.find(key, semantic);
  if (found === null || ctx.aborted) return undefined;
  const reply = convertReply(ctx.endpoint?.operation ?? null, found.reply, formOf(ctx));
  if (reply === null) return undefined;
  ctx.cacheStatus = 'SEMANTIC HIT';
  // The exact text now has an entry too. It has no vector, so that no chain of similar texts grows.
  leave(store.slot, ctx, { reply: found.reply, ttlMs: found.ttlMs, labels: labelsOf(ctx), similar: null });
  return replyOf(ctx, reply);
}

function replyOf(ctx: RequestContext, { targetPath, provider, contentType, contentEncoding, call, body }: CachedReply): Reply {
  ctx.targetPath ??= targetPath;
  ctx.provider ??= provider;
  ctx.saved = call ?? null;
  const headers = ['content-type', contentType];
  if (contentEncoding !== null) headers.push('content-encoding', contentEncoding);
  return { status: 200, headers, body };
}
