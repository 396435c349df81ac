import { expect, it } from 'vitest';
import { ChoiceEnds } from '../../../core/formats/choice-ends.ts';

const followed = (...given: readonly (readonly [unknown, boolean])[]): boolean => {
  const choices = new ChoiceEnds();
  for (const [index, hasEnded] of given) choices.follow(index, hasEnded);
  return choices.areComplete;
};

it.each<[string, boolean, boolean]>([
  ['none has begun', followed(), false],
  ['one has not ended', followed([0, true], [1, false]), false],
  ['each has ended', followed([0, false], [1, true], [0, true]), true],
  ['one whose index is a text has not ended', followed(['0', true], ['1', false]), false],
  ['one without an index has ended', followed([undefined, true]), true],
])('choices of a stream: complete if %s: %s', (_, complete, expected) => {
  expect(complete).toBe(expected);
});

it('choices of a stream: long texts and objects as indexes count as one, because they could fill the memory', () => {
  expect(followed(['a'.repeat(100), false], [{}, false], ['b'.repeat(21), true])).toBe(true);
});

it('choices of a stream: at most 1,000 are followed', () => {
  const choices = new ChoiceEnds();
  for (let index = 0; index < 1_000; index++) choices.follow(index, true);
  choices.follow(1_000, false);
  expect(choices.areComplete).toBe(true);
  choices.follow(0, true);
  expect(choices.areComplete).toBe(true);
});
