import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Token, TokenCache, TokenCacheOptions, TokenCaches } from '../contract/provider/sign-services.ts';

/** A token is replaced this long before its end, or in the last fifth of its lifetime if that is shorter. */
const aheadMsMax = 300_000;
/** A token is not returned in its last seconds, because the call it signs takes time to arrive, and clocks differ. */
const marginMsMax = 10_000;
/**
 * The share of its lifetime in which a token of a short lifetime is not returned: otherwise every call would request one. Half of the share in
 * which it is refreshed while it is still returned.
 */
const marginShareMax = 0.1;
/** Minimum time between a failed early refresh and the next attempt. */
const retryMs = 15_000;

interface Entry<Cached extends Token> {
  /** Null after it was rejected before its end. */
  token: Cached | null;
  refreshAtMs: number;
  readonly usableUntilMs: number;
}

interface Asking<Cached extends Token> {
  readonly nowMs: number;
  obtain(): Promise<Cached>;
}

/** Returns empty caches. */
export function createTokenCaches(): TokenCaches {
  const caches = new Map<string, TokenCache>();
  return {
    of<Cached extends Token>(scheme: string, options?: TokenCacheOptions) {
      let cache = caches.get(scheme) as TokenCache<Cached> | undefined;
      if (!cache) {
        cache = createTokenCache<Cached>(options);
        caches.set(scheme, cache as unknown as TokenCache);
      }
      return cache;
    },
  };
}

/** Access tokens in memory, one cache per scheme. Keys come from `tokenKey`, so that no secret is a key. */
export function createTokenCache<Cached extends Token = Token>(options: TokenCacheOptions = {}): TokenCache<Cached> {
  const { entriesMax = 2000 } = options;
  const entries = new LRUCache<string, Entry<Cached>, Asking<Cached>>({
    max: entriesMax,
    async fetchMethod(_key, _old, { context: { nowMs, obtain } }) {
      const token = await obtain();
      const lifetimeMs = token.expiresAtMs - nowMs;
      const aheadMs = Math.min(aheadMsMax, lifetimeMs / 5);
      const marginMs = Math.min(marginMsMax, lifetimeMs * marginShareMax);
      return { token, refreshAtMs: token.expiresAtMs - aheadMs, usableUntilMs: token.expiresAtMs - marginMs };
    },
    noDeleteOnFetchRejection: true,
    // A call that waits gets its token even if the entry is evicted meanwhile.
    ignoreFetchAbort: true,
  });

  async function fetched(key: string, asking: Asking<Cached>): Promise<Cached> {
    const { token } = await entries.forceFetch(key, { forceRefresh: true, context: asking });
    return token as Cached;
  }

  return {
    get(key, nowMs, obtain) {
      const entry = entries.get(key);
      if (!entry?.token || entry.usableUntilMs <= nowMs) return fetched(key, { nowMs, obtain });
      if (nowMs >= entry.refreshAtMs) {
        // The next caller gets the error of a failed refresh once the token has ended.
        entry.refreshAtMs = nowMs + retryMs;
        void fetched(key, { nowMs, obtain }).catch(() => undefined);
      }
      return entry.token;
    },
    forget(key, token) {
      const entry = entries.peek(key);
      if (entry?.token === token) entry.token = null;
    },
  };
}

/** Returns a key made of everything a token depends on, including secrets. The key itself contains none of it. */
export function tokenKey(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
