import { beforeEach, expect, it } from 'vitest';
import type { AdminServices } from '../../../../admin/http/admin-services.ts';
import { type CachedReplies, createCachedReplies } from '../../../../admin/resources/cached-replies/serve-cached-replies.ts';
import { frame, unframe } from '../../../../core/contract/protocol/cached-replies.ts';
import { type Gate, newGate } from '../../../support/gate.ts';

interface Row {
  readonly sealed: Uint8Array;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** Reads of the table in progress: the test decides what each returns, and when. */
let reads: Gate<Row[]>[];
let replies: CachedReplies;
beforeEach(() => {
  reads = [];
  const database = {
    ask: () => {
      const read = newGate<Row[]>();
      reads.push(read);
      return read.opened;
    },
  };
  const services = {
    database,
    clock: { now: () => 0, elapsed: () => 0 },
    settings: { databaseUrl: 'postgresql://db', clusterKey: new Uint8Array(32) },
  };
  replies = createCachedReplies(services as unknown as AdminServices);
});

const row: Row = { sealed: Buffer.from('sealed'), created_at: new Date(0), expires_at: new Date(60_000) };
const asked = { workspace_id: '6f1d2c58-5a3e-4a43-9d6a-2f3f8f1f3c11', digest: 'd' };
const find = async (holder: string, waitMs = 0) =>
  unframe(await replies.find(frame({ ...asked, holder, generation: 0, wait_ms: waitMs }, null))).line;
const endClaim = (holder: string) =>
  replies.app.request('/release', { method: 'POST', body: frame({ ...asked, holder }, null) as never });

it('gives no claim to a read that began before the leader stored its reply', async () => {
  const leads = find('leader');
  reads[0]?.open([]);
  expect(await leads).toEqual({ state: 'claimed' });
  const follows = find('follower');
  expect((await endClaim('leader')).status).toBe(200);
  reads[1]?.open([]);
  expect(await follows).toEqual({ state: 'pending' });
  const again = find('follower', 1_000);
  reads[2]?.open([row]);
  expect(await again).toMatchObject({ state: 'hit' });
});

it('keeps no claim when it finds a reply', async () => {
  const [first, second] = [find('first'), find('second')];
  reads[0]?.open([row]);
  expect(await first).toMatchObject({ state: 'hit' });
  reads[1]?.open([row]);
  expect(await second).toMatchObject({ state: 'hit' });
  const third = find('third');
  reads[2]?.open([]);
  expect(await third).toEqual({ state: 'claimed' });
});

it('keeps no claim when the table cannot be read', async () => {
  const failed = find('failed');
  reads[0]?.fail(new Error('connection lost'));
  await expect(failed).rejects.toThrow('connection lost');
  const next = find('next');
  reads[1]?.open([]);
  expect(await next).toEqual({ state: 'claimed' });
});

it('serves no reply that has expired', async () => {
  const asks = find('holder');
  reads[0]?.open([{ ...row, expires_at: new Date(0) }]);
  expect(await asks).toEqual({ state: 'claimed' });
});

it.each([
  ['serves a reply of a control plane whose clock is a few seconds ahead', 4_000, 'hit'],
  ['serves no reply that was stored before the clock was set back', 600_000, 'claimed'],
])('%s', async (_what, createdAtMs, state) => {
  const asks = find('holder');
  reads[0]?.open([{ ...row, created_at: new Date(createdAtMs), expires_at: new Date(createdAtMs + 60_000) }]);
  expect(await asks).toMatchObject({ state });
});
