import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BodyMemory } from '../../../../../core/contract/values/bodies/body-memory.ts';
import type { BodyShare } from '../../../../../core/contract/values/bodies/body-turns.ts';
import { newFakeTime } from '../../../../support/fakes/fake-time.ts';

const mebibyte = 1024 * 1024;

/** Lets bodies of these lengths ask for admission. Returns the lengths of those that were admitted or rejected, in order. */
function admitAll(memory: BodyMemory, lengths: readonly number[], owner = lengths.join()) {
  const admitted: number[] = [];
  const rejected: number[] = [];
  const shares: BodyShare[] = [];
  for (const length of lengths) {
    memory.admit(length, owner).then(
      (share) => {
        admitted.push(length);
        shares.push(share);
      },
      () => rejected.push(length),
    );
  }
  return { admitted, rejected, shares };
}

it('large bodies are admitted in order of arrival while they are expected to fit', async () => {
  const memory = new BodyMemory(16 * mebibyte, newFakeTime().timers);
  const { admitted, shares } = admitAll(memory, [2 * mebibyte, 3 * mebibyte, mebibyte / 4]);
  await nextTurn();
  expect(admitted).toEqual([2 * mebibyte]);
  // The bytes that arrive take the place of the share.
  memory.take(2 * mebibyte, 'a');
  shares[0]?.use(2 * mebibyte);
  await nextTurn();
  expect(admitted).toHaveLength(1);
  shares[0]?.end();
  await nextTurn();
  expect(admitted).toEqual([2 * mebibyte, 3 * mebibyte, mebibyte / 4]);
});

it('a client that announces a large body and does not send it delays others by at most 5 s', async () => {
  const time = newFakeTime();
  const memory = new BodyMemory(8 * mebibyte, time.timers);
  admitAll(memory, [2 * mebibyte]);
  await nextTurn();
  time.advance(1_000);
  const { admitted } = admitAll(memory, [2 * mebibyte, 1.9 * mebibyte]);
  time.advance(3_999);
  await nextTurn();
  expect(admitted).toEqual([]);
  time.advance(1);
  await nextTurn();
  expect(admitted).toEqual([2 * mebibyte]);
  // The body before it has not arrived either.
  time.advance(1_000);
  await nextTurn();
  expect(admitted).toEqual([2 * mebibyte, 1.9 * mebibyte]);
});

it('a body is rejected after 5 s if others hold the memory', async () => {
  const time = newFakeTime();
  const memory = new BodyMemory(8 * mebibyte, time.timers);
  memory.take(2 * mebibyte, 'a');
  const { admitted, rejected } = admitAll(memory, [2 * mebibyte]);
  time.advance(4_999);
  await nextTurn();
  expect(rejected).toEqual([]);
  time.advance(1);
  await nextTurn();
  expect([admitted, rejected]).toEqual([[], [2 * mebibyte]]);
});

it('owners take turns, and one that holds its share is passed over', async () => {
  const memory = new BodyMemory(16 * mebibyte, newFakeTime().timers);
  // Three times a body of 1 MiB for each, of the 14 MiB for large bodies.
  const loud = admitAll(
    memory,
    Array.from({ length: 6 }, () => mebibyte),
    'loud',
  );
  await nextTurn();
  expect(loud.admitted).toHaveLength(4);
  const quiet = admitAll(memory, [mebibyte / 4, mebibyte / 4, mebibyte / 4], 'quiet');
  await nextTurn();
  expect([loud.admitted.length, quiet.admitted.length]).toEqual([4, 2]);
  loud.shares[0]?.end();
  await nextTurn();
  expect([loud.admitted.length, quiet.admitted.length]).toEqual([4, 3]);
  loud.shares[1]?.end();
  await nextTurn();
  expect([loud.admitted.length, quiet.admitted.length]).toEqual([5, 3]);
});

it('small bodies of one owner leave memory for those of others, and its only request may use all of it', () => {
  const memory = new BodyMemory(16 * 1024);
  const take = (owner: string, bytes: number, held = 0) => {
    memory.checkShare(bytes, owner, held);
    memory.take(bytes, owner, held);
  };
  for (let kibibytes = 0; kibibytes < 14; kibibytes++) take('loud', 1024);
  expect(() => take('loud', 1024)).toThrow('hold its share of the memory for bodies (BODY_MEMORY_MAX)');
  take('quiet', 1024);
  memory.give(14 * 1024, 'loud');
  take('loud', 10 * 1024);
  take('loud', 5 * 1024, 10 * 1024);
  expect(memory.usedBytes).toBe(16 * 1024);
});
