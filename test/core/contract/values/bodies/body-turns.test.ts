import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BodyMemory } from '../../../../../core/contract/values/bodies/body-memory.ts';
import type { BodyShare } from '../../../../../core/contract/values/bodies/body-turns.ts';
import { newFakeTime } from '../../../../support/fakes/fake-time.ts';

const mebibyte = 1024 * 1024;

/** Lets bodies of these lengths ask for admission. Returns the lengths of those that were admitted or rejected, in order. */
function admitAll(memory: BodyMemory, lengths: readonly number[]) {
  const admitted: number[] = [];
  const rejected: number[] = [];
  const shares: BodyShare[] = [];
  for (const length of lengths) {
    memory.admit(length).then(
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
  const { admitted, shares } = admitAll(memory, [2 * mebibyte, 3 * mebibyte, mebibyte]);
  await nextTurn();
  expect(admitted).toEqual([2 * mebibyte]);
  // The bytes that arrive take the place of the share.
  memory.take(2 * mebibyte);
  shares[0]?.use(2 * mebibyte);
  await nextTurn();
  expect(admitted).toHaveLength(1);
  shares[0]?.end();
  await nextTurn();
  expect(admitted).toEqual([2 * mebibyte, 3 * mebibyte, mebibyte]);
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
  memory.take(2 * mebibyte);
  const { admitted, rejected } = admitAll(memory, [2 * mebibyte]);
  time.advance(4_999);
  await nextTurn();
  expect(rejected).toEqual([]);
  time.advance(1);
  await nextTurn();
  expect([admitted, rejected]).toEqual([[], [2 * mebibyte]]);
});
