import { expect, it } from 'vitest';
import { cachedRepliesPath, frame, type StoredReply, unframe } from '../../../core/contract/protocol/cached-replies.ts';
import type { InternalFetch } from '../../../core/contract/protocol/internal-api.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { createRemoteReplies } from '../../../core/reply-cache/remote-replies.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';

const key = { organisationId: 'o', workspaceId: 'w', digest: 'd', generation: 0 };

function start(find: () => ReturnType<InternalFetch>) {
  const time = newFakeTime();
  const calls: string[] = [];
  const fetch: InternalFetch = (_method, path) => {
    const call = path.slice(cachedRepliesPath.length + 1);
    calls.push(call);
    return call === 'find' ? find() : Promise.resolve({ status: 200, headers: [], body: Buffer.alloc(0) });
  };
  const log = { warn() {}, info() {} };
  const replies = createRemoteReplies({ fetch, key: Buffer.alloc(32), holder: 'h', ...time, timeoutMs: 50, log });
  return { replies, calls, time };
}

const late = () => Promise.reject(new GatewayError('request_timeout'));
const claimed = () => Promise.resolve({ status: 200, headers: [], body: frame({ state: 'claimed' }, null) });

it('asks the store for the next request after a slow reply', async () => {
  let find: () => ReturnType<InternalFetch> = late;
  const { replies } = start(() => find());
  expect(await replies.find(key)).toEqual({ kind: 'absent' });
  find = claimed;
  expect(await replies.find(key)).toEqual({ kind: 'claimed' });
});

it('does not ask it for a second after an error', async () => {
  let find: () => ReturnType<InternalFetch> = () => Promise.reject(new GatewayError('upstream_connect'));
  const { replies, time } = start(() => find());
  expect(await replies.find(key)).toEqual({ kind: 'absent' });
  find = claimed;
  expect(await replies.find(key)).toEqual({ kind: 'absent' });
  time.advance(1_000);
  expect(await replies.find(key)).toEqual({ kind: 'claimed' });
});

it('renews and releases a claim that a late call may have taken', async () => {
  const { replies, calls, time } = start(late);
  await replies.find(key);
  time.advance(2_000);
  replies.release(key);
  expect(calls).toEqual(['find', 'renew', 'release']);
});

/** A store that returns what was stored last, whatever it is asked for. */
function startCareless() {
  let entry: Uint8Array = Buffer.alloc(0);
  const fetch: InternalFetch = async (_method, path, sent) => {
    const call = path.slice(cachedRepliesPath.length + 1);
    const { line, bytes } = unframe(sent as Uint8Array);
    if (call === 'store') entry = bytes.subarray((line as { dimensions: number }).dimensions * 4);
    const found = { state: 'hit', ttl_ms: 1_000, digest: key.digest, score: 1 };
    return { status: 200, headers: [], body: call === 'store' ? Buffer.alloc(0) : frame(found, entry) };
  };
  const log = { warn() {}, info() {} };
  return createRemoteReplies({ fetch, key: Buffer.alloc(32), holder: 'h', ...newFakeTime(), timeoutMs: 50, log });
}

const stored: StoredReply = {
  reply: {
    ...{ targetPath: 'config', provider: 'openai', contentType: 'application/json', contentEncoding: null, form: 'plain' },
    body: Buffer.from('{}'),
  },
  ...{ ttlMs: 1_000, labels: { namespace: null, model: null, endpoint: null } },
  similar: { partition: 'p', vector: Float32Array.of(1) },
};

it('serves no entry of another workspace or digest, although the store returns it', async () => {
  for (const [other, kind] of [
    [key, 'hit'],
    [{ ...key, workspaceId: 'another' }, 'absent'],
    [{ ...key, digest: 'another' }, 'absent'],
  ] as const) {
    const replies = startCareless();
    await replies.store(key, stored);
    expect((await replies.find(other)).kind).toBe(kind);
  }
});

it('serves no similar entry of another partition, although the store returns it', async () => {
  const replies = startCareless();
  await replies.store(key, stored);
  const find = (partition: string) => replies.similar(key, { partition, vector: Float32Array.of(1) }, 0.9);
  expect(await find('p')).toMatchObject({ ttlMs: 1_000 });
  expect(await find('another')).toBeNull();
});
