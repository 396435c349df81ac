import { flag, wholeNumber } from '../setting-types.ts';
import { bytes, row } from './kinds.ts';

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
};
