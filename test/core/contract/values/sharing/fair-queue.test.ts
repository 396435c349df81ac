import { expect, it } from 'vitest';
import { createFairQueue } from '../../../../../core/contract/values/sharing/fair-queue.ts';

function queueOf(...items: string[]) {
  const queue = createFairQueue<{ readonly owner: string; readonly item: string }>();
  for (const item of items) queue.add({ owner: item[0] as string, item });
  return queue;
}

it('queues of several owners: owners take turns, and the items of one keep their order', () => {
  const queue = queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'b2');
  const taken = Array.from({ length: 7 }, () => queue.next()?.item);
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  expect([queue.length, queue.has('a')]).toEqual([0, false]);
});

it('queues of several owners: the excess of the largest owner is taken until it has one item more than the other', () => {
  const queue = queueOf('a1', 'a2', 'a3', 'b1');
  expect(['b', 'b', 'c'].map((owner) => queue.takeExcess(owner)?.item)).toEqual(['a3', undefined, 'a2']);
  expect(queue.length).toBe(2);
});

it('queues of several owners: the first item of an owner that is not passed over is next', () => {
  const queue = queueOf('a1', 'b1', 'b2');
  const first = () => queue.peek(({ owner }) => owner === 'a');
  expect(first()?.item).toBe('b1');
  queue.remove(first() as { owner: string; item: string });
  expect([first()?.item, queue.length]).toEqual(['b2', 2]);
  queue.yieldTurn('a');
  expect(queue.peek(() => false)?.item).toBe('b2');
});
