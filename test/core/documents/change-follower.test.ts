import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChangesReply } from '../../../core/contract/protocol/internal-api.ts';
import type { ChangeNotice } from '../../../core/contract/protocol/notices/change-notice.ts';
import { openNotice, sealNotice } from '../../../core/contract/protocol/notices/sealed-notice.ts';
import { ChangeFollower } from '../../../core/documents/change-follower.ts';
import { createControlPlaneClient } from '../../../core/documents/control-plane-client.ts';
import { type FakeControlPlane, startFakeControlPlane } from '../../support/fakes/fake-control-plane.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newGate } from '../../support/gate.ts';
import { sampleConfig } from '../../support/samples/sample-documents.ts';
import { until } from '../../support/until.ts';

const noticeKey = new Uint8Array(32).fill(7);
let plane: FakeControlPlane;
let time: FakeTime;
/** Calls of the store, in order: revisions, and `reset <revision>`. */
let told: (number | string)[];

beforeEach(async () => {
  plane = await startFakeControlPlane();
  time = newFakeTime();
  told = [];
});
afterEach(() => plane.stop());

function follow(lastRevision: number | null, newest = 0): ChangeFollower {
  const log = newMemoryLog();
  const client = createControlPlaneClient({ fetch: plane.fetch, clock: time.clock, random: () => 0.5, log });
  const store = {
    apply: (notice: ChangeNotice) => void told.push(notice.revision),
    reset(revision: number) {
      told.push(`reset ${revision}`);
      store.newest = revision;
    },
    newest,
  };
  return new ChangeFollower({ client, store, noticeKey, timers: time.timers, random: () => 0.5, log }, lastRevision);
}

const change = () => plane.put('config', 'workspace-1/main', sampleConfig('main', `after ${plane.revision}`));
const bytes = (notice: unknown) => Buffer.from(JSON.stringify(notice));

describe('change notices', () => {
  it('are applied in order, without asking the control plane', async () => {
    const follower = follow(null);
    await follower.catchUp();
    told.length = 0;
    for (let i = 0; i < 3; i++) follower.receive(bytes(change()));
    expect(told).toEqual([1, 2, 3]);
    expect(follower.lastRevision).toBe(3);
    expect(plane.requests).toHaveLength(1);
  });

  it('are opened if their id is sealed, and ignored if it is sealed with another key', async () => {
    const follower = follow(0);
    await follower.catchUp();
    const notice = { revision: 1, kind: 'user', id: 'organisation-1/ada@example.com', op: 'upsert' } as const;
    const sealed = sealNotice(noticeKey, notice);
    expect(JSON.stringify(sealed)).not.toMatch(/ada|organisation-1/);
    expect(openNotice(noticeKey, sealed)).toEqual(notice);
    expect(openNotice(noticeKey, notice)).toEqual(notice);
    follower.receive(bytes(sealNotice(new Uint8Array(32), notice)));
    expect([told, follower.counts.malformed]).toEqual([[], 1]);
    follower.receive(bytes(sealed));
    expect(told).toEqual([1]);
  });

  it('are ignored if they are late or duplicates', async () => {
    const follower = follow(0);
    await follower.catchUp();
    const [one, two] = [change(), change()];
    for (const notice of [one, two, two, one]) follower.receive(bytes(notice));
    expect(told).toEqual([1, 2]);
  });

  it('trigger a request for missing changes after a gap', async () => {
    const follower = follow(0);
    await follower.catchUp();
    change();
    change();
    follower.receive(bytes(change()));
    await until(() => told.length === 3);
    expect(told).toEqual([1, 2, 3]);
    expect(plane.requests.at(-1)).toBe('/internal/v1/changes?after=0');
  });

  it('are counted and ignored if invalid', async () => {
    const follower = follow(0);
    await follower.catchUp();
    const junk = [
      Buffer.from('{'),
      Buffer.from([0xff, 0xfe]),
      bytes({ revision: -1, kind: 'config', id: 'a', op: 'upsert' }),
      bytes({ revision: 1, kind: 'secret', id: 'a', op: 'upsert' }),
      bytes({ revision: 1, kind: 'config', id: 'a'.repeat(5000), op: 'upsert' }),
      null,
      'text',
    ];
    for (const message of junk) follower.receive(message);
    expect(follower.counts.malformed).toBe(junk.length);
    expect(told).toEqual([]);
  });

  it('with forged revisions are corrected by the next reply', async () => {
    const follower = follow(0);
    await follower.catchUp();
    follower.receive(bytes({ revision: 1, kind: 'config', id: 'made/up', op: 'upsert' }));
    follower.receive(bytes(change()));
    expect(told).toEqual([1]);
    time.advance(5000);
    await until(() => told.length === 2);
    expect(plane.requests.at(-1)).toBe('/internal/v1/changes?after=0');
    follower.receive(bytes(change()));
    expect(follower.lastRevision).toBe(2);
  });

  it('from another installation cause no reset', async () => {
    const follower = follow(0);
    await follower.catchUp();
    follower.receive(bytes({ revision: 1, kind: 'config', id: 'other/main', op: 'upsert' }));
    await follower.catchUp();
    expect(told).toEqual([1]);
    expect(follower.lastRevision).toBe(0);
  });
});

describe('the change follower', () => {
  it('starts an empty store at the newest revision', async () => {
    for (let i = 0; i < 10; i++) change();
    const follower = follow(null);
    expect(follower.lastRevision).toBeNull();
    expect(await follower.catchUp()).toBe(true);
    expect(follower.lastRevision).toBe(10);
    expect(plane.requests).toHaveLength(1);
  });

  it('asks again until it has all pages', async () => {
    for (let i = 0; i < 7; i++) change();
    plane.changesMax = 3;
    const follower = follow(0);
    await follower.catchUp();
    expect(told).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('resets the store if its revision is no longer available', async () => {
    for (let i = 0; i < 10; i++) change();
    plane.forgottenUpTo = 8;
    const follower = follow(3);
    await follower.catchUp();
    expect(told).toEqual(['reset 10']);
    follower.receive(bytes(change()));
    expect(told).toEqual(['reset 10', 11]);
  });

  it('resets the store if the control plane went back to an older state', async () => {
    change();
    const follower = follow(40);
    await follower.catchUp();
    expect(told).toEqual(['reset 1']);
    expect(follower.counts.resets).toBe(1);
  });

  it('resets the store if it has read a document at a revision that the control plane has lost', async () => {
    change();
    const follower = follow(1, 2);
    for (let i = 0; i < 2; i++) await follower.catchUp();
    expect(told).toEqual(['reset 1']);
  });

  it('sends the mark of the last change that a reply had, and resets the store if the control plane has another one', async () => {
    const asked: unknown[] = [];
    const replies = [
      { revision: 7, reset: false, changes: [{ revision: 7, kind: 'config', id: 'w/c', op: 'upsert' }], mark: 'a' },
      { revision: 7, reset: true, changes: [], mark: 'b' },
      { revision: 7, reset: false, changes: [], mark: 'b' },
    ] as ChangesReply[];
    const client = {
      waitMs: () => 0,
      async changes(...given: unknown[]) {
        asked.push(given);
        return replies.shift() as ChangesReply;
      },
    };
    const store = { apply: () => {}, reset: (revision: number) => void told.push(`reset ${revision}`), newest: 0 };
    const { timers } = time;
    const follower = new ChangeFollower({ client, store, noticeKey, timers, random: () => 0.5, log: newMemoryLog() }, 6, 'z');
    for (let i = 0; i < 3; i++) await follower.catchUp();
    expect(asked).toEqual([
      [6, 'z'],
      [7, 'a'],
      [7, 'b'],
    ]);
    expect(told).toEqual(['reset 7']);
    expect(follower.confirmed).toEqual({ lastRevision: 7, mark: 'b' });
  });

  it('resets the store after a reply without the changes up to its revision', async () => {
    const replies: ChangesReply[] = [{ revision: 9, reset: false, changes: [], mark: null }];
    const client = { waitMs: () => 0, changes: async () => replies.shift() ?? Promise.reject(new Error('no further reply')) };
    const store = { apply: () => {}, reset: (revision: number) => void told.push(`reset ${revision}`), newest: 0 };
    const { timers } = time;
    const follower = new ChangeFollower({ client, store, noticeKey, timers, random: () => 0.5, log: newMemoryLog() }, 7);
    expect(await follower.catchUp()).toBe(true);
    expect(told).toEqual(['reset 9']);
  });

  it('does not reset the store if a document arrives during a request at a newer revision than that of the reply', async () => {
    const store = { apply: () => {}, reset: (revision: number) => void told.push(`reset ${revision}`), newest: 7 };
    const client = {
      waitMs: () => 0,
      async changes(): Promise<ChangesReply> {
        store.newest = 8;
        return { revision: 7, reset: false, changes: [], mark: null };
      },
    };
    const { timers } = time;
    const follower = new ChangeFollower({ client, store, noticeKey, timers, random: () => 0.5, log: newMemoryLog() }, 7);
    expect(await follower.catchUp()).toBe(true);
    expect(told).toEqual([]);
  });

  it('asks at least every five seconds', async () => {
    const follower = follow(0);
    await follower.catchUp();
    change();
    expect(time.waiting()).toHaveLength(1);
    expect(time.waiting()[0]).toBeLessThanOrEqual(5000);
    const asked = plane.arrival();
    time.advance(5000);
    await asked;
    await until(() => told.length === 1);
  });

  it('retries within half a second during an outage, and catches up right after it', async () => {
    const follower = follow(0);
    plane.mode = 503;
    expect(await follower.catchUp()).toBe(false);
    for (let i = 0; i < 5; i++) {
      expect(time.waiting()[0]).toBeLessThanOrEqual(500);
      const before = follower.counts.catchUps;
      time.advance(500);
      await until(() => follower.counts.catchUps > before && time.waiting().length === 1);
    }
    change();
    plane.mode = 'ok';
    time.advance(500);
    await until(() => told.length === 1);
  });

  it('asks again if it misses a notice during a request', async () => {
    const follower = follow(0);
    const gate = newGate();
    plane.holdNext(gate.opened);
    const arrived = plane.arrival();
    const running = follower.catchUp();
    await arrived;
    change();
    follower.receive(bytes(change()));
    gate.open();
    expect(await running).toBe(true);
    expect(told).toEqual([1, 2]);
    expect(plane.requests).toHaveLength(2);
  });

  it('stops with stop()', async () => {
    const follower = follow(0);
    await follower.catchUp();
    follower.stop();
    expect(time.waiting()).toEqual([]);
    follower.receive(bytes(change()));
    expect(told).toEqual([]);
  });
});
