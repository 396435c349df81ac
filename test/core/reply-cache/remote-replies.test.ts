import { expect, it } from 'vitest';
import { cachedRepliesPath, frame } from '../../../core/contract/protocol/cached-replies.ts';
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
