import { expect, it } from 'vitest';
import { pointerKeys, pointerStep, referenced, valueAt } from '../../../../../core/contract/values/json/json-pointer.ts';

const root = { $defs: { 'a/b': 1, 'Pair[int]': 2, 'm~n': 3 }, list: [{ x: 4 }] };

it.each([
  ['#/$defs/a~1b', 1],
  ['#/$defs/a%7E1b', 1],
  ['#/$defs/Pair%5Bint%5D', 2],
  ['#/$defs/m~0n', 3],
  ['#/list/0/x', 4],
  ['#/list/1', undefined],
  ['#/$defs/constructor', undefined],
  ['#/$defs/%', undefined],
  ['#', root],
  ['other.json#/list', undefined],
])('JSON reference %s', (reference, value) => expect(referenced(root, reference)).toEqual(value));

it('JSON pointer: keys and steps are each other’s reverse', () => {
  const keys = ['a/b', '~1', 'c~d', ''];
  expect(pointerKeys(`/${keys.map(pointerStep).join('/')}`)).toEqual(keys);
  expect(pointerKeys('')).toEqual([]);
  expect(valueAt(root, ['list', '0', 'x'])).toBe(4);
});
