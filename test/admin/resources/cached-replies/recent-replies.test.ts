import { describe, expect, it } from 'vitest';
import { createRecentReplies, type StoredReply } from '../../../../admin/resources/cached-replies/recent-replies.ts';
import { newGate } from '../../../support/gate.ts';

const replyOf = (text: string, bytes = 0): StoredReply => ({
  sealed: Buffer.concat([Buffer.from(text), Buffer.alloc(bytes)]),
  createdAtMs: 0,
  expiresAtMs: 1_000,
});
const textOf = (stored: StoredReply | null) => stored && Buffer.from(stored.sealed).toString();
const done = async () => {};
const none = async () => null;

describe('recent replies', () => {
  it('are those that were stored and read', async () => {
    const recent = createRecentReplies(1_048_576);
    await recent.store('a', 1, replyOf('stored'), done);
    expect(textOf(await recent.find('a', 1, none))).toBe('stored');
    expect(textOf(await recent.find('b', 1, async () => replyOf('read')))).toBe('read');
    expect(textOf(await recent.find('b', 1, none))).toBe('read');
    expect(await recent.find('c', 1, none)).toBeNull();
  });

  it('are not used for another generation, or if none is given', async () => {
    const recent = createRecentReplies(1_048_576);
    await recent.store('a', 1, replyOf('before the purge'), done);
    expect(await recent.find('a', undefined, none)).toBeNull();
    expect(await recent.find('a', 2, none)).toBeNull();
    await recent.store('b', undefined, replyOf('without a generation'), done);
    expect(await recent.find('b', 0, none)).toBeNull();
  });

  it('are never what a read returned whose row was replaced meanwhile', async () => {
    const recent = createRecentReplies(1_048_576);
    const gate = newGate();
    const reading = recent.find('a', 1, async () => {
      await gate.opened;
      return replyOf('old');
    });
    await recent.store('a', 1, replyOf('new'), done);
    gate.open();
    expect(textOf(await reading)).toBe('old');
    expect(textOf(await recent.find('a', 1, none))).toBe('new');
  });

  it('are not those whose row could not be replaced', async () => {
    const recent = createRecentReplies(1_048_576);
    await recent.store('a', 1, replyOf('old'), done);
    const failing = recent.store('a', 1, replyOf('new'), () => Promise.reject(new Error('database')));
    await expect(failing).rejects.toThrow('database');
    expect(await recent.find('a', 1, none)).toBeNull();
  });

  it('take no more memory than their limit', async () => {
    const recent = createRecentReplies(10_000);
    for (const key of ['a', 'b', 'c']) await recent.store(key, 1, replyOf(key, 4_000), done);
    expect(await recent.find('a', 1, none)).toBeNull();
    expect(textOf(await recent.find('c', 1, none))).toMatch(/^c/);
    const nothing = createRecentReplies(0);
    await nothing.store('a', 1, replyOf('a'), done);
    expect(await nothing.find('a', 1, none)).toBeNull();
  });
});
