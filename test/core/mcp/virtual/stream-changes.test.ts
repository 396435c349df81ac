import { afterEach, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createOpenStreams } from '../../../../core/json-rpc/open-streams.ts';
import type { Work } from '../../../../core/mcp/exchange.ts';
import type { EventReply } from '../../../../core/mcp/sse/sse-reply.ts';
import { streamChanges } from '../../../../core/mcp/virtual/stream-changes.ts';

afterEach(() => void vi.useRealTimers());

/** A stream that follows the returned documents and tools. */
function follow() {
  vi.useFakeTimers();
  const state = {
    documents: [{}] as readonly unknown[] | null,
    tools: [{ name: 'one' }] as JsonObject[],
    reads: 0,
    fails: false,
  };
  const sent: unknown[] = [];
  const openStreams = createOpenStreams();
  const reply = { send: (message: JsonObject) => void sent.push(message), end: () => 'ended' } as unknown as EventReply;
  const work = { ctx: {}, parts: { openStreams }, options: { services: { clock: { elapsed: () => Date.now() } } } };
  const watched = {
    documents: async () => state.documents,
    async lists() {
      state.reads++;
      if (state.fails) throw new Error('not reachable');
      return { 'notifications/tools/list_changed': state.tools };
    },
  };
  const ended = streamChanges(work as unknown as Work, reply, watched, (method) => ({ method }));
  return { state, sent, ended, openStreams };
}

it('reads the lists of servers again after 30 s, and reports those that changed', async () => {
  const { state, sent, ended, openStreams } = follow();
  await vi.advanceTimersByTimeAsync(29_000);
  expect(state.reads).toBe(1);
  state.tools = [{ name: 'other' }];
  await vi.advanceTimersByTimeAsync(2_000);
  expect([state.reads, sent]).toEqual([2, [{ method: 'notifications/tools/list_changed' }]]);
  await vi.advanceTimersByTimeAsync(31_000);
  expect([state.reads, sent.length]).toEqual([3, 1]);
  openStreams.close();
  expect(await ended).toBe('ended');
});

it('reads the lists within a second after a change of a document', async () => {
  const { state, sent, openStreams } = follow();
  await vi.advanceTimersByTimeAsync(0);
  state.documents = [{}];
  state.tools = [];
  await vi.advanceTimersByTimeAsync(1_000);
  expect([state.reads, sent.length]).toEqual([2, 1]);
  openStreams.close();
});

it('repeats a look that failed, and ends when the caller loses access', async () => {
  const { state, sent, ended } = follow();
  await vi.advanceTimersByTimeAsync(0);
  state.documents = [{}];
  state.tools = [];
  state.fails = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([state.reads, sent.length]).toEqual([2, 0]);
  state.fails = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([state.reads, sent.length]).toEqual([3, 1]);
  state.documents = null;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await ended).toBe('ended');
});
