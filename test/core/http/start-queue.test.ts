import { expect, it } from 'vitest';
import { TurnClock } from '../../../core/http/event-loop-turns.ts';
import { StartQueue } from '../../../core/http/start-queue.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function newQueue(perTurn: number) {
  const clock = new TurnClock();
  const queue = new StartQueue(clock, perTurn);
  const started: number[] = [];
  const arrive = (id: number): void => {
    clock.mark();
    if (queue.mayStart()) started.push(id);
    else queue.later(() => started.push(id));
  };
  return { started, arrive };
}

it('starts requests beyond the limit in the next turns, in order of arrival', async () => {
  const { started, arrive } = newQueue(3);
  for (let id = 0; id < 8; id++) arrive(id);
  expect(started).toEqual([0, 1, 2]);
  await turn();
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
  // Requests wait, so a new one does not overtake them.
  arrive(8);
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
  await turn();
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  for (let id = 9; id < 13; id++) arrive(id);
  expect(started.slice(9)).toEqual([9, 10, 11]);
  await turn();
  expect(started.slice(9)).toEqual([9, 10, 11, 12]);
});

it('starts every request at once if turns have fewer than the limit', async () => {
  const { started, arrive } = newQueue(2);
  for (let id = 0; id < 10; id += 2) {
    arrive(id);
    arrive(id + 1);
    expect(started).toHaveLength(id + 2);
    await turn();
  }
});
