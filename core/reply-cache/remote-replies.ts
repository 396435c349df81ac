import * as v from 'valibot';
import {
  type CachedReply,
  type CacheKey,
  cachedRepliesPath,
  claimMs,
  findWaitMsMax,
  foundLine,
  frame,
  type SimilarKey,
  type SimilarReply,
  type StoredReply,
  similarLine,
  unframe,
  vectorBytes,
} from '../contract/protocol/cached-replies.ts';
import type { InternalFetch } from '../contract/protocol/internal-api.ts';
import { sealBytes, unsealBytes } from '../contract/values/credentials/secret.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import type { Timers } from '../contract/values/time/timers.ts';
import { createStoreHealth } from './store-health.ts';

/** The store that all gateways share: rows of the control plane. */
export interface RemoteReplies {
  /** `absent`: the store cannot be used now. `claimed`: this process leads and must call `store` or `release`. Never rejects. */
  find(key: CacheKey): Promise<Found>;
  /** Stores the reply and ends the claim. Resolves when the store has replied or cannot be used. Never rejects. */
  store(key: CacheKey, stored: StoredReply): Promise<void>;
  /** Returns the most similar reply; null if there is none or the store cannot be used now. Never rejects. */
  similar(key: CacheKey, similar: SimilarKey, minScore: number): Promise<SimilarReply | null>;
  /** Ends the claim without a reply, in the background. */
  release(key: CacheKey): void;
  close(): void;
}

type Found =
  | { readonly kind: 'hit'; readonly reply: CachedReply; readonly ttlMs: number }
  | { readonly kind: 'claimed' | 'timeout' | 'absent' };

export interface RemoteRepliesOptions {
  readonly fetch: InternalFetch;
  /** Seals the entries, so that the store can read neither text nor headers. */
  readonly key: Uint8Array;
  /** Names this process in claims. */
  readonly holder: string;
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly timers: Timers;
  /** Milliseconds that a request waits for the store. */
  readonly timeoutMs: number;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/** Milliseconds that a request waits for the leader in another process. */
const leaderMsMax = 30_000;
/** Milliseconds that a waiting call may take beyond the wait itself. */
const waitMarginMs = 1_000;
const backgroundMs = 5_000;
/** Maximum bytes of replies in transit to the store. Further replies are not stored. */
const storingBytesMax = 32 * 1024 * 1024;

/** Stores replies in the control plane, sealed. Never rejects: a store that fails or is slow counts as one without the reply. */
export function createRemoteReplies(options: RemoteRepliesOptions): RemoteReplies {
  const { fetch, key: sealingKey, holder, clock, timers, timeoutMs, log } = options;
  const renewals = new Map<string, () => void>();
  const health = createStoreHealth(clock, log);
  let storingBytes = 0;
  let closed = false;

  return {
    async find(key) {
      if (!health.admit()) return absent;
      const startedAtMs = clock.elapsed();
      let waitMs = 0;
      try {
        for (;;) {
          const found = await ask(key, waitMs);
          if (found.kind !== 'timeout') return found;
          if (clock.elapsed() - startedAtMs >= leaderMsMax) return found;
          waitMs = findWaitMsMax;
        }
      } catch (thrown) {
        // A late call may have taken the claim, which only renewals and the end of this request's flight refer to.
        if (waitMs === 0 && isLate(thrown)) renewLater(key);
        report(thrown, waitMs);
        return absent;
      }
    },
    async similar(key, { partition, vector }, minScore) {
      if (!health.admit()) return null;
      try {
        const question = frame({ workspace_id: key.workspaceId, partition, min_score: minScore }, vectorBytes(vector));
        const { status, body } = await fetch('POST', `${cachedRepliesPath}/similar`, question, timeoutMs);
        if (status !== 200) throw new Error(`status ${status}`);
        const { line, bytes } = unframe(body);
        const found = v.parse(similarLine, line);
        health.replied();
        if (found.state === 'none') return null;
        const { head, reply } = unsealReply({ ...key, digest: found.digest }, bytes);
        // The store is not trusted to keep partitions apart.
        return head.partition === partition ? { reply, ttlMs: found.ttl_ms } : null;
      } catch (thrown) {
        report(thrown, 0);
        return null;
      }
    },
    store(key, { reply, ttlMs, labels, similar }) {
      stopRenewal(key);
      const size = reply.body.length;
      if (storingBytes + size > storingBytesMax) return background('release', frame(claimOf(key), null));
      storingBytes += size;
      const partition = similar?.partition ?? null;
      const line = {
        ...claimOf(key),
        organisation_id: key.organisationId,
        generation: key.generation,
        ttl_ms: Math.max(1, Math.floor(ttlMs)),
        ...labels,
        partition,
        dimensions: similar?.vector.length ?? 0,
      };
      const { body, ...head } = reply;
      const sealed = sealBytes(sealingKey, frame({ ...head, partition }, body), aadOf(key));
      const bytes = similar === null ? sealed : Buffer.concat([vectorBytes(similar.vector), sealed]);
      return background('store', frame(line, bytes)).finally(() => {
        storingBytes -= size;
      });
    },
    release(key) {
      if (stopRenewal(key)) void background('release', frame(claimOf(key), null));
    },
    close() {
      closed = true;
      for (const cancel of renewals.values()) cancel();
      renewals.clear();
    },
  };

  async function ask(key: CacheKey, waitMs: number): Promise<Found> {
    const limitMs = waitMs === 0 ? timeoutMs : waitMs + waitMarginMs;
    const question = frame({ ...claimOf(key), generation: key.generation, wait_ms: waitMs }, null);
    const { status, body } = await fetch('POST', `${cachedRepliesPath}/find`, question, limitMs);
    if (status !== 200) throw new Error(`status ${status}`);
    const { line, bytes } = unframe(body);
    const found = v.parse(foundLine, line);
    health.replied();
    if (found.state === 'hit') {
      return { kind: 'hit', reply: unsealReply(key, bytes).reply, ttlMs: found.ttl_ms };
    }
    if (found.state === 'pending') return { kind: 'timeout' };
    renewLater(key);
    return { kind: 'claimed' };
  }

  function unsealReply(key: CacheKey, sealed: Uint8Array): { head: SealedHead; reply: CachedReply } {
    const { line, bytes } = unframe(unsealBytes(sealingKey, sealed, aadOf(key)));
    const head = line as SealedHead;
    const { partition: _, ...fields } = head;
    return { head, reply: { ...fields, body: bytes } };
  }

  function renewLater(key: CacheKey): void {
    if (closed) return;
    renewals.get(key.digest)?.();
    const cancel = timers.after(claimMs / 2.5, () => {
      void background('renew', frame(claimOf(key), null));
      renewLater(key);
    });
    renewals.set(key.digest, cancel);
  }

  function stopRenewal({ digest }: CacheKey): boolean {
    renewals.get(digest)?.();
    return renewals.delete(digest);
  }

  async function background(call: 'store' | 'renew' | 'release', body: Uint8Array): Promise<void> {
    try {
      const { status } = await fetch('POST', `${cachedRepliesPath}/${call}`, body, backgroundMs);
      if (status !== 200) throw new Error(`status ${status}`);
    } catch (thrown) {
      if (!closed) health.failed(thrown);
    }
  }

  function report(thrown: unknown, waitMs: number): void {
    if (closed) return;
    if (waitMs === 0 && isLate(thrown)) health.late(thrown);
    else health.failed(thrown);
  }

  function claimOf({ workspaceId, digest }: CacheKey) {
    return { workspace_id: workspaceId, digest, holder };
  }
}

/** The head of a sealed entry. Its bytes are authenticated. */
type SealedHead = Omit<CachedReply, 'body'> & { readonly partition: string | null };

const absent = { kind: 'absent' } as const;

function isLate(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.code === 'request_timeout';
}

/** Binds an entry to its key. An entry that was stored under another key cannot be opened. */
function aadOf({ workspaceId, digest }: CacheKey): string {
  return `cached-reply/${workspaceId}/${digest}`;
}
