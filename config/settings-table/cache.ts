import { flag, share, text, wholeNumber } from '../setting-types.ts';
import { bytes, optional, row } from './kinds.ts';

export const cache = {
  cacheShared: row(
    'CACHE_SHARED',
    'true',
    'Share cached replies between all gateways through the control plane. Otherwise each gateway process has its own.',
    flag(),
  ),
  cacheStoreTimeoutMs: row(
    'CACHE_STORE_TIMEOUT',
    '50',
    'Milliseconds a request waits for the shared cache before it is sent to the provider.',
    wholeNumber(1, 10_000, 'milliseconds'),
  ),
  cacheMemoryBytesMax: row(
    'CACHE_MEMORY_MAX',
    '67108864',
    'Bytes of cached replies in the memory of each gateway process.',
    bytes(1_048_576, 17_179_869_184),
  ),
  semanticEmbeddingProvider: optional(
    'SEMANTIC_CACHE_EMBEDDING_PROVIDER',
    'Slug of the stored provider that computes embeddings for the semantic cache, in each workspace. Without it, `cache.embedding` of a config names one.',
    text(/^@?[a-zA-Z0-9_.-]{1,255}$/, 'the slug of a provider'),
  ),
  semanticEmbeddingModel: row(
    'SEMANTIC_CACHE_EMBEDDING_MODEL',
    'text-embedding-3-small',
    'Model that computes embeddings for the semantic cache.',
    text(/^.{1,255}$/, 'the name of a model'),
  ),
  semanticEmbeddingDimensions: row(
    'SEMANTIC_CACHE_EMBEDDING_DIMENSIONS',
    '0',
    'Dimensions that the model is asked for; 0: those of the model. Fewer dimensions take less memory and time.',
    wholeNumber(0, 4_096, 'dimensions'),
  ),
  semanticThreshold: row(
    'SEMANTIC_CACHE_SIMILARITY_THRESHOLD',
    '0.95',
    'Least cosine similarity of a semantic hit. Configs can raise it, but not lower it.',
    share(),
  ),
  semanticTimeoutMs: row(
    'SEMANTIC_CACHE_TIMEOUT',
    '500',
    'Milliseconds a request waits for its embedding and for a similar reply before it is sent to the provider.',
    wholeNumber(1, 30_000, 'milliseconds'),
  ),
};
