import { describe, expect, it } from 'vitest';
import { pathKeys } from '../../../../../core/contract/values/json/path-keys.ts';

describe('pathKeys', () => {
  it.each([
    ['a', ['a']],
    ['a.b', ['a', 'b']],
    ['a[0].b', ['a', '0', 'b']],
    ['a.0.b', ['a', '0', 'b']],
    ['a[*].b', ['a', '*', 'b']],
    ["a['x.y']", ['a', 'x.y']],
    ['a[ "x]y" ]', ['a', 'x]y']],
  ])('reads the path %s', (path, keys) => {
    expect(pathKeys(path)).toEqual(keys);
  });

  it.each(['', '.', 'a[', 'a[]', 'a]', 'a[0', 'a[[0]]', 'a["b]'])('returns null for %j, which is not a path', (path) => {
    expect(pathKeys(path)).toBeNull();
  });
});
