import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BodyIntake } from '../../../../../core/contract/values/bodies/body-intake.ts';

const mebi = 1024 * 1024;

/** Bodies that record the calls on them. `more`: turns before a body can be read again. */
function newBodies(names: readonly string[], more: Readonly<Record<string, number>> = {}) {
  const log: string[] = [];
  const bodies = names.map((name) => {
    let left = more[name] ?? 0;
    return {
      holdBack: () => void log.push(`${name} held`),
      goOn() {
        log.push(`${name} on`);
        return left-- > 0;
      },
    };
  });
  return { log, bodies };
}

it('large bodies: are read as they come up to 1 MiB per turn', async () => {
  const intake = new BodyIntake();
  const { log, bodies } = newBodies(['a']);
  for (let turn = 0; turn < 3; turn++) {
    expect(intake.take(bodies[0] as never, mebi)).toBe(true);
    await nextTurn();
  }
  expect(log).toEqual([]);
});

it('large bodies: all wait once a turn has brought more, and go on one per turn in their order', async () => {
  const intake = new BodyIntake();
  const { log, bodies } = newBodies(['a', 'b', 'c'], { b: 1 });
  const [a, b, c] = bodies as [never, never, never];
  expect([intake.take(b, 1), intake.take(c, 1), intake.take(a, mebi)]).toEqual([true, true, false]);
  expect(log.splice(0)).toEqual(['b held', 'c held', 'a held']);
  const turns: string[][] = [];
  for (let turn = 0; turn < 5; turn++) {
    await nextTurn();
    turns.push(log.splice(0));
  }
  expect(turns).toEqual([['b on'], ['c on'], ['a on'], ['b on'], []]);
});

it('large bodies: those that are short together go on in one turn, in their order', async () => {
  const intake = new BodyIntake();
  const log: string[] = [];
  const lengths = [400, 300, 400, 5000, 10, undefined, 20].map((kibi) => (kibi === undefined ? undefined : kibi * 1024));
  for (const turnBytes of lengths)
    intake.take({ turnBytes, holdBack: () => undefined, goOn: () => log.push(`${turnBytes}`) < 0 }, mebi);
  const turns: string[][] = [];
  for (let turn = 0; turn < 6; turn++) {
    await nextTurn();
    turns.push(log.splice(0));
  }
  const [a, b, c, d, e, f, g] = lengths.map(String);
  expect(turns).toEqual([[a, b], [c], [d], [e], [f], [g]]);
});

it('large bodies: one that sends bytes while it waits is paused again, and a closed one gets no turn', async () => {
  const intake = new BodyIntake();
  const { log, bodies } = newBodies(['a', 'b']);
  const [a, b] = bodies as [never, never];
  intake.take(a, 2 * mebi);
  expect(intake.take(a, 1)).toBe(false);
  intake.take(b, 1);
  intake.leave(a);
  await nextTurn();
  await nextTurn();
  expect(log).toEqual(['a held', 'a held', 'b held', 'b on']);
});

it('large bodies: of a thousand that wait, one in 64 goes on per turn, each once', async () => {
  const intake = new BodyIntake();
  const names = Array.from({ length: 1000 }, (_, at) => String(at));
  const { log, bodies } = newBodies(names);
  for (const body of bodies) intake.take(body, 2000);
  log.length = 0;
  await nextTurn();
  expect(log).toEqual(names.slice(0, 16).map((name) => `${name} on`));
  for (let turn = 0; turn < 300; turn++) await nextTurn();
  expect(log).toEqual(names.map((name) => `${name} on`));
});
