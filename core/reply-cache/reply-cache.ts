import { LRUCache } from 'lru-cache';
import {
  type CachedReply,
  type CacheKey,
  cachedBytesMax,
  type DropNotice,
  dropNotice,
  type Joined,
  type LeadResult,
  type ReplyCache,
} from '../contract/protocol/cached-replies.ts';
import type { NoticeChannel } from '../contract/protocol/notices/notice-channel.ts';
import { readNotice } from '../contract/protocol/notices/read-notice.ts';
import { ownBytes } from '../contract/values/bodies/own-bytes.ts';
import { OpenEntries } from '../contract/values/sharing/open-entries.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import type { Timers } from '../contract/values/time/timers.ts';
import type { RemoteReplies } from './remote-replies.ts';

export interface ReplyCacheOptions {
  /** The shared store. Null: entries are in the memory of this process only. */
  readonly remote: RemoteReplies | null;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly memoryBytesMax: number;
  /** Channels to other gateways, for notices that an entry is no longer valid. */
  readonly channels: readonly NoticeChannel<DropNotice>[];
}

export interface RunningReplyCache extends ReplyCache {
  close(): void;
}

interface Entry {
  readonly reply: CachedReply;
  readonly generation: number;
}

/** Equal requests of this process that are in progress. */
interface Flight {
  readonly followers: Set<(joined: Joined) => void>;
  /** True if another process refreshed the entry meanwhile. The store may still return the old one, which is not cached. */
  overtaken: boolean;
}

type Lead = Extract<Joined, { kind: 'lead' }>;

/** Milliseconds that a request waits for the leader of its flight. */
const followMsMax = 30_000;
/** Estimated memory of an entry beside its body, in bytes. */
const entryBytes = 512;
const noticeBytesMax = 512;

/** Keeps replies in memory up to `memoryBytesMax` for this process, in front of the shared store. A `remote` of null means memory alone. */
export function createReplyCache(options: ReplyCacheOptions): RunningReplyCache {
  const { remote, clock, timers, memoryBytesMax, channels } = options;
  const memory = new LRUCache<string, Entry>({
    maxSize: memoryBytesMax,
    sizeCalculation: ({ reply: { body } }) => body.length + entryBytes,
    maxEntrySize: Math.min(memoryBytesMax, cachedBytesMax + entryBytes),
    // Monotonic: an entry would outlive `max_age` by the time that the clock of the machine is set back.
    perf: { now: () => clock.elapsed() },
    ttlResolution: 0,
  });
  const flights = new OpenEntries<string, Flight>();
  for (const channel of channels) channel.listen(receive);

  return {
    join(key) {
      const entry = memory.get(key.digest);
      if (entry?.generation === key.generation) return { kind: 'hit', reply: entry.reply };
      const flight = flights.get(key.digest);
      if (flight) return follow(flight);
      const started: Flight = { followers: new Set(), overtaken: false };
      flights.set(key.digest, started);
      return remote === null ? leadOf(key, started) : lookUp(remote, key, started);
    },
    similar: async (key, similar, minScore) => remote?.similar(key, similar, minScore) ?? null,
    refresh(key) {
      memory.delete(key.digest);
      notifyOthers(key);
      return leadOf(key, { followers: new Set(), overtaken: false }, true);
    },
    close() {
      for (const channel of channels) channel.close();
      remote?.close();
    },
  };

  async function lookUp(store: RemoteReplies, key: CacheKey, flight: Flight): Promise<Joined> {
    const found = await store.find(key);
    if (found.kind !== 'hit') return leadOf(key, flight);
    const { reply, ttlMs } = found;
    if (!flight.overtaken) keep(key, reply, ttlMs);
    endFlight(key, flight, { kind: 'hit', reply });
    return { kind: 'hit', reply };
  }

  function follow({ followers }: Flight): Promise<Joined> {
    return new Promise((resolve) => {
      const done = (joined: Joined): void => {
        cancel();
        followers.delete(done);
        resolve(joined);
      };
      const cancel = timers.after(followMsMax, () => done(alone));
      followers.add(done);
    });
  }

  function leadOf(key: CacheKey, flight: Flight, isRefresh = false): Lead {
    let ended = false;
    const end = (result: LeadResult): void => {
      if (ended) return;
      ended = true;
      // The client of the leader has disconnected. The first follower calls the provider, and the others wait for that call.
      const [next] = flight.followers;
      if (result === 'aborted' && next) return next(leadOf(key, flight, isRefresh));
      if (typeof result !== 'object') {
        remote?.release(key);
        return endFlight(key, flight, alone);
      }
      keep(key, result.reply, result.ttlMs);
      const storing = remote?.store(key, result);
      // Between the first notice and now, other processes may have read the old entry from the store again.
      if (isRefresh) void storing?.then(() => notifyOthers(key));
      endFlight(key, flight, { kind: 'hit', reply: result.reply });
    };
    return { kind: 'lead', end };
  }

  function keep({ digest, generation }: CacheKey, reply: CachedReply, ttl: number): void {
    memory.set(digest, { reply: { ...reply, body: ownBytes(reply.body) }, generation }, { ttl });
  }

  function notifyOthers({ digest }: CacheKey): void {
    for (const channel of channels) channel.send({ digest });
  }

  function endFlight({ digest }: CacheKey, flight: Flight, joined: Joined): void {
    if (flights.get(digest) === flight) flights.delete(digest);
    for (const follower of [...flight.followers]) follower(joined);
  }

  function receive(message: unknown): void {
    const notice = readNotice(dropNotice, message, noticeBytesMax);
    if (!notice) return;
    memory.delete(notice.digest);
    const flight = flights.get(notice.digest);
    if (flight) flight.overtaken = true;
  }
}

const alone: Joined = { kind: 'alone' };
