import { describe, expect, it } from 'vitest';
import type { CachedReply, Joined, StoredReply } from '../../../core/contract/protocol/cached-replies.ts';
import type { NoticeChannel } from '../../../core/contract/protocol/notices/notice-channel.ts';
import type { RemoteReplies } from '../../../core/reply-cache/remote-replies.ts';
import { createReplyCache } from '../../../core/reply-cache/reply-cache.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newGate } from '../../support/gate.ts';

const key = { organisationId: 'o', workspaceId: 'w', digest: 'd', generation: 0 };
const reply = (text: string): CachedReply => ({
  ...{ targetPath: 'config', provider: 'openai', contentType: 'application/json', contentEncoding: null, form: 'plain' },
  body: Buffer.from(text),
});

const stored = (text: string): StoredReply => ({
  ...{ reply: reply(text), ttlMs: 60_000, similar: null },
  labels: { namespace: null, model: null, endpoint: null },
});

function start(channels: NoticeChannel<object>[] = [], remote: RemoteReplies | null = null) {
  const time = newFakeTime();
  // lru-cache does not expire entries of the time 0.
  time.advance(1);
  const cache = createReplyCache({
    ...{ remote, clock: time.clock, timers: time.timers, memoryBytesMax: 1_000_000, channels },
  });
  const lead = async () => {
    const joined = await cache.join(key);
    if (joined.kind !== 'lead') throw new Error(`joined as ${joined.kind}`);
    return joined;
  };
  return { cache, time, lead };
}

const textOf = (joined: Joined): string => (joined.kind === 'hit' ? Buffer.from(joined.reply.body).toString() : joined.kind);

/** A body within a buffer of 64 KB, as a read of a socket returns it. */
const partOfRead = (text: string): CachedReply => {
  const read = Buffer.alloc(65_536);
  read.write(text);
  return { ...reply(text), body: read.subarray(0, text.length) };
};

const bufferBytes = (joined: Joined): number => (joined.kind === 'hit' ? joined.reply.body.buffer.byteLength : 0);

describe('memory of an entry', () => {
  it('is that of its body, and not of the read that returned it', async () => {
    const { cache, lead } = start();
    (await lead()).end({ ...stored(''), reply: partOfRead('small') });
    const hit = await cache.join(key);
    expect([textOf(hit), bufferBytes(hit)]).toEqual(['small', 5]);
  });

  it('is that of its body, and not of the reply of the shared store', async () => {
    const remote: Partial<RemoteReplies> = {
      find: async () =>
        ({ kind: 'hit', reply: partOfRead('remote'), ttlMs: 60_000 }) as Awaited<ReturnType<RemoteReplies['find']>>,
    };
    const { cache } = start([], remote as RemoteReplies);
    await cache.join(key);
    const hit = await cache.join(key);
    expect([textOf(hit), bufferBytes(hit)]).toEqual(['remote', 6]);
  });
});

describe('the flight of equal requests', () => {
  it('gives the reply of the leader to all followers', async () => {
    const { cache, lead } = start();
    const leader = await lead();
    const followers = [cache.join(key), cache.join(key)];
    leader.end(stored('x'));
    expect((await Promise.all(followers)).map(textOf)).toEqual(['x', 'x']);
    expect(textOf(await cache.join(key))).toBe('x');
  });

  it('sends the followers of a failed leader to the provider', async () => {
    const { cache, lead } = start();
    const leader = await lead();
    const follower = cache.join(key);
    leader.end('failed');
    expect(textOf(await follower)).toBe('alone');
    expect(textOf(await cache.join(key))).toBe('lead');
  });

  it('lets one follower lead if the client of the leader has left; the others wait for it', async () => {
    const { cache, lead } = start();
    const leader = await lead();
    const followers = [cache.join(key), cache.join(key)] as const;
    leader.end('aborted');
    const next = await followers[0];
    if (next.kind !== 'lead') throw new Error(`joined as ${next.kind}`);
    next.end(stored('y'));
    expect(textOf(await followers[1])).toBe('y');
  });

  it('ends the wait of a follower after 30 s', async () => {
    const { cache, time, lead } = start();
    const leader = await lead();
    const follower = cache.join(key);
    time.advance(30_000);
    expect(textOf(await follower)).toBe('alone');
    leader.end(stored('z'));
    expect(textOf(await cache.join(key))).toBe('z');
  });

  it('ignores a second result of the same leader', async () => {
    const { cache, lead } = start();
    const leader = await lead();
    leader.end(stored('first'));
    leader.end('failed');
    leader.end(stored('second'));
    expect(textOf(await cache.join(key))).toBe('first');
  });
});

describe('entries', () => {
  it('expire after their time even if the clock of the machine is set back', async () => {
    const { cache, time, lead } = start();
    (await lead()).end(stored('x'));
    time.setClock(-3_600_000);
    time.advance(60_001);
    expect(textOf(await cache.join(key))).toBe('lead');
  });

  it('expire after their time', async () => {
    const { cache, time, lead } = start();
    (await lead()).end(stored('x'));
    time.advance(60_001);
    expect(textOf(await cache.join(key))).toBe('lead');
  });

  it('are not used for a later generation', async () => {
    const { cache, lead } = start();
    (await lead()).end(stored('x'));
    const later = await cache.join({ ...key, generation: 1 });
    expect(textOf(later)).toBe('lead');
    if (later.kind === 'lead') later.end(stored('y'));
    expect(textOf(await cache.join({ ...key, generation: 1 }))).toBe('y');
  });

  it('are dropped by a refresh here and, through notices, in other processes', async () => {
    const [left, right] = channelPair();
    const here = start([left]);
    const other = start([right]);
    for (const one of [here, other]) (await one.lead()).end(stored('old'));
    here.cache.refresh(key).end(stored('new'));
    expect(textOf(await here.cache.join(key))).toBe('new');
    expect(textOf(await other.cache.join(key))).toBe('lead');
  });

  it('are dropped again when the store has the refreshed reply, because another process may have read the old one meanwhile', async () => {
    const [left, right] = channelPair();
    const written = newGate<void>();
    let inStore = 'old';
    const remote = storeOf(() => inStore, written.opened);
    const here = start([left], remote);
    const other = start([right], remote);
    here.cache.refresh(key).end(stored('new'));
    expect(textOf(await other.cache.join(key))).toBe('old');
    inStore = 'new';
    written.open();
    await written.opened;
    await Promise.resolve();
    expect(textOf(await other.cache.join(key))).toBe('new');
  });

  it('are not kept if a refresh elsewhere overtook their look-up', async () => {
    const [left, right] = channelPair();
    let inStore = 'old';
    const remote = storeOf(() => inStore, Promise.resolve());
    const here = start([left], remote);
    const other = start([right], remote);
    const lookUp = other.cache.join(key);
    here.cache.refresh(key);
    expect(textOf(await lookUp)).toBe('old');
    inStore = 'new';
    expect(textOf(await other.cache.join(key))).toBe('new');
  });

  it.each([
    ['JSON bytes that are no notice', Buffer.from('{"digest":5}')],
    ['bytes that are no JSON', Buffer.from('{')],
    ['a long message', Buffer.from(JSON.stringify({ digest: 'd', more: 'x'.repeat(600) }))],
    ['null', null],
  ])('stay after %s', async (_what, message) => {
    const [left, right] = channelPair();
    const { cache, lead } = start([left]);
    (await lead()).end(stored('x'));
    right.send(message as object);
    expect(textOf(await cache.join(key))).toBe('x');
  });
});

/** A shared store with one reply. `written` resolves when it has stored a reply. */
function storeOf(text: () => string, written: Promise<void>): RemoteReplies {
  return {
    find: async () => ({ kind: 'hit', reply: reply(text()), ttlMs: 60_000 }),
    store: () => written,
    similar: async () => null,
    release() {},
    close() {},
  };
}

/** Two ends of one channel. */
function channelPair(): [NoticeChannel<object>, NoticeChannel<object>] {
  const listeners: ((message: unknown) => void)[] = [];
  const end = (own: number): NoticeChannel<object> => ({
    send: (notice) => listeners[1 - own]?.(notice),
    listen: (listener) => {
      listeners[own] = listener;
    },
    close() {},
  });
  return [end(0), end(1)];
}
