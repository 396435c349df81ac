import { expect, it } from 'vitest';
import { LoopTurns } from '../../../../../core/contract/values/bodies/loop-turns.ts';

/** Runs steps of these durations, one after the other in each of the requests. Returns the turn of the event loop of each step, in order. */
async function turnsOf(requests: readonly (readonly number[])[]): Promise<string[]> {
  let timeMs = 0;
  let turn = 0;
  let isCounting = true;
  const count = (): void => {
    turn++;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  const turns = new LoopTurns(() => timeMs);
  const seen: string[] = [];
  const run = async (name: number, steps: readonly number[]): Promise<void> => {
    for (const durationMs of steps) {
      await turns.next();
      seen.push(`${turn}:${name}`);
      timeMs += durationMs;
    }
  };
  await Promise.all(requests.map((steps, name) => run(name, steps)));
  isCounting = false;
  return seen;
}

it('LoopTurns: steps run until two milliseconds of a turn have passed, in the order of the calls', async () => {
  expect(
    await turnsOf([
      [1, 1, 1],
      [1, 1],
    ]),
  ).toEqual(['1:0', '1:1', '2:0', '2:1', '3:0']);
});

it('LoopTurns: a longer step has a turn of its own', async () => {
  expect(await turnsOf([[5, 5], [5], [0.5]])).toEqual(['1:0', '2:1', '3:2', '3:0']);
});

it('LoopTurns: short steps share a turn, and a call after the last one begins another', async () => {
  expect(await turnsOf([[0, 0, 0]])).toEqual(['1:0', '1:0', '1:0']);
  const turns = new LoopTurns();
  await turns.next();
  await new Promise((resolve) => setImmediate(resolve));
  await expect(turns.next()).resolves.toBeUndefined();
});
