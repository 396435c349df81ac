import { createHash } from 'node:crypto';
import type { Maybe } from '../contract/values/json.ts';
import type { Secret } from '../contract/values/secret.ts';

export interface Token {
  readonly value: Secret;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

export interface TokenCache<Cached extends Token = Token> {
  /**
   * The token of this key, at once where a good one is held; else what `obtain` brings, asked once for all who wait. A token near
   * its end is still handed out while the next one is fetched. Rejects with what `obtain` threw when there is none to hand out.
   */
  get(key: string, nowMs: number, obtain: () => Promise<Cached>): Maybe<Cached>;
  /** Says that this token is refused although its time is not over: the next `get` obtains another. */
  forget(key: string, token: Cached): void;
}

export interface TokenCacheOptions {
  /** How long before its end a token is replaced; default 5 minutes, and never more than a fifth of its lifetime. */
  readonly refreshAheadMs?: number;
  /** Tokens kept; the one used longest ago goes first. Default 2000. */
  readonly entriesMax?: number;
}

/** A token is not handed out in its last seconds: the call it signs takes time to arrive, and clocks differ. */
const marginMs = 10_000;
/** Minimum time between a failed early refresh and the next attempt. */
const retryMs = 15_000;

interface Entry<Cached extends Token> {
  token: Cached | null;
  refreshAtMs: number;
  pending: Promise<Cached> | null;
}

/** Access tokens in memory, one cache per scheme. Keys come from `tokenKey`, so that no secret is a key. */
export function createTokenCache<Cached extends Token = Token>(options: TokenCacheOptions = {}): TokenCache<Cached> {
  const { refreshAheadMs = 300_000, entriesMax = 2000 } = options;
  const entries = new Map<string, Entry<Cached>>();

  const entryOf = (key: string): Entry<Cached> => {
    const entry = entries.get(key) ?? { token: null, refreshAtMs: 0, pending: null };
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > entriesMax) entries.delete(entries.keys().next().value as string);
    return entry;
  };

  const refresh = (entry: Entry<Cached>, nowMs: number, obtain: () => Promise<Cached>): Promise<Cached> => {
    entry.pending ??= obtain().then(
      (token) => {
        const lifetimeMs = token.expiresAtMs - nowMs;
        entry.token = token;
        entry.refreshAtMs = token.expiresAtMs - Math.min(refreshAheadMs, lifetimeMs / 5);
        entry.pending = null;
        return token;
      },
      (thrown: unknown) => {
        entry.refreshAtMs = nowMs + retryMs;
        entry.pending = null;
        throw thrown;
      },
    );
    return entry.pending;
  };

  return {
    get(key, nowMs, obtain) {
      const entry = entryOf(key);
      const { token } = entry;
      if (token === null || token.expiresAtMs - marginMs <= nowMs) return refresh(entry, nowMs, obtain);
      // The next caller learns of a failure once the token at hand is used up.
      if (nowMs >= entry.refreshAtMs && entry.pending === null) refresh(entry, nowMs, obtain).catch(() => {});
      return token;
    },
    forget(key, token) {
      const entry = entries.get(key);
      if (entry?.token === token) entry.token = null;
    },
  };
}

/** A key made of everything a token depends on, secrets included, without holding any of it. */
export function tokenKey(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
