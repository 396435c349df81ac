import { randomUUID } from 'node:crypto';
import type { Settings } from '../../config/settings.ts';
import type { SemanticCacheDefaults } from '../contract/plugin/core-plugin.ts';
import { keyPurposes } from '../contract/protocol/credentials/key-purposes.ts';
import { deriveKey } from '../contract/values/credentials/secret.ts';
import { realTimers } from '../contract/values/time/timers.ts';
import { createRemoteReplies, type RemoteRepliesOptions } from '../reply-cache/remote-replies.ts';
import { createReplyCache, type ReplyCacheOptions } from '../reply-cache/reply-cache.ts';

type Parts = Pick<RemoteRepliesOptions, 'fetch' | 'log'> & Pick<ReplyCacheOptions, 'channels' | 'clock'>;

/** Opens the cache of replies: in memory, with the store of the control plane behind it if CACHE_SHARED is set. */
export function openReplyCache(settings: Settings, { fetch, clock, log, channels }: Parts) {
  const remote = {
    fetch,
    key: deriveKey(settings.clusterKey, keyPurposes.cachedReply),
    holder: randomUUID(),
    clock,
    timers: realTimers,
    timeoutMs: settings.cacheStoreTimeoutMs,
    log,
  };
  return createReplyCache({
    remote: settings.cacheShared ? createRemoteReplies(remote) : null,
    clock,
    timers: realTimers,
    memoryBytesMax: settings.cacheMemoryBytesMax,
    channels,
  });
}

/** Returns the defaults of the semantic cache. */
export function semanticCacheOf(settings: Settings): SemanticCacheDefaults {
  const { semanticEmbeddingProvider: slug, semanticEmbeddingModel: model, semanticEmbeddingDimensions: dimensions } = settings;
  return {
    embedding: slug === null ? null : { provider: `@${slug.replace(/^@/, '')}`, model, dimensions: dimensions || null },
    threshold: settings.semanticThreshold,
    timeoutMs: settings.semanticTimeoutMs,
  };
}
