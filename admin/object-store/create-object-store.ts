import { fileURLToPath } from 'node:url';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import type { Clock } from '../../core/contract/values/time/clock.ts';
import type { OutboundFetch } from '../outbound-fetch.ts';
import { createDirectoryStore } from './directory-store.ts';
import { type ObjectStore, ObjectStoreError } from './object-store.ts';
import type { ObjectStoreSettings } from './s3-identity.ts';
import { createS3Store } from './s3-store.ts';

/** Time after a failed write in which further writes fail at once, so that none waits for an unreachable store. */
const restMs = 30_000;

/** Returns the store that OBJECT_STORE names; null if it is unset. Opens no connection. */
export function createObjectStore(
  settings: ObjectStoreSettings,
  fetch: OutboundFetch,
  clock: Pick<Clock, 'elapsed'>,
  log: Log,
): ObjectStore | null {
  if (settings.objectStore === null) return null;
  const url = new URL(settings.objectStore);
  const store = url.protocol === 'file:' ? createDirectoryStore(fileURLToPath(url)) : createS3Store(settings, url, fetch);
  let failedAtMs: number | null = null;
  let isReadable = true;
  return {
    ...store,
    async get(key, range) {
      try {
        const found = await store.get(key, range);
        if (!isReadable) log.info({}, 'reads from the object store succeed again');
        isReadable = true;
        return found;
      } catch (error) {
        const text = 'cannot read from the object store; logs are shown without bodies, and exports wait';
        if (isReadable) log.warn({ reason: messageOf(error) }, text);
        isReadable = false;
        throw error;
      }
    },
    async put(key, bytes) {
      if (failedAtMs !== null && clock.elapsed() - failedAtMs < restMs) {
        throw new ObjectStoreError('OBJECT_STORE: the last write failed; the next one follows after 30 s');
      }
      try {
        await store.put(key, bytes);
      } catch (error) {
        if (failedAtMs === null)
          log.warn({ reason: messageOf(error) }, 'cannot write to the object store; bodies wait in the database');
        failedAtMs = clock.elapsed();
        throw error;
      }
      if (failedAtMs !== null) log.info({}, 'writes to the object store succeed again');
      failedAtMs = null;
    },
  };
}

/** Writes, reads and removes an empty object, so that the log names an unusable store, or a missing permission, at the start. */
export async function tryObjectStore(store: ObjectStore): Promise<void> {
  try {
    await store.put('start-check', new Uint8Array(0));
    await store.get('start-check').finally(() => store.remove('start-check'));
  } catch {
    // The store has logged the reason.
  }
}
