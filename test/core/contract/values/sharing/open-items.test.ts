import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { OpenEntries } from '../../../../../core/contract/values/sharing/open-entries.ts';
import { OpenItems } from '../../../../../core/contract/values/sharing/open-items.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

const oldMib = (): number =>
  (getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0) / 2 ** 20;

/** Returns by how many MiB the old generation grows at most while 5,000 items of 2 KiB are added and removed, eight of them open at a time. */
function growthOf(add: (item: object) => () => void): number {
  const removals: (() => void)[] = [];
  const turn = (): void => {
    removals.push(add({ values: new Array(256).fill(0.5) }));
    if (removals.length > 8) removals.shift()?.();
  };
  for (let i = 0; i < 100; i++) turn();
  collect();
  const before = oldMib();
  let most = before;
  for (let i = 0; i < 5_000; i++) {
    turn();
    if (i % 500 !== 499) continue;
    collect({ type: 'minor' });
    most = Math.max(most, oldMib());
  }
  return most - before;
}

describe('items that have ended', () => {
  it('leave with the next collection of the young generation', () => {
    const items = new OpenItems<object>();
    const entries = new OpenEntries<number, object>();
    let key = 0;
    const growths = {
      items: growthOf((item) => {
        const index = items.add(item);
        return () => items.remove(index);
      }),
      entries: growthOf((item) => {
        const own = key++;
        entries.set(own, item);
        return () => entries.delete(own);
      }),
    };
    expect(growths.items).toBeLessThan(2);
    expect(growths.entries).toBeLessThan(3);
  });

  it('stay until a full collection in a Set, which is why there are two types for them', () => {
    const set = new Set<object>();
    const growth = growthOf((item) => {
      set.add(item);
      return () => set.delete(item);
    });
    expect(growth).toBeGreaterThan(4);
  });
});

describe('OpenItems', () => {
  it('gives the index of a removed item to the next one', () => {
    const items = new OpenItems<{ name: string }>();
    const indexes = ['a', 'b', 'c'].map((name) => items.add({ name }));
    items.remove(indexes[1] as number);
    expect([items.size, [...items].map(({ name }) => name)]).toEqual([2, ['a', 'c']]);
    expect(items.add({ name: 'd' })).toBe(indexes[1]);
    expect([items.size, [...items].map(({ name }) => name)]).toEqual([3, ['a', 'd', 'c']]);
  });

  it('passes over items that are removed while they are read', () => {
    const items = new OpenItems<{ name: string }>();
    const indexes = ['a', 'b', 'c'].map((name) => items.add({ name }));
    const seen: string[] = [];
    for (const { name } of items) {
      seen.push(name);
      if (name === 'a') items.remove(indexes[1] as number);
    }
    expect(seen).toEqual(['a', 'c']);
  });
});

describe('OpenEntries', () => {
  it('keeps the other entries and their order through thousands of deletions', () => {
    const entries = new OpenEntries<string, number>();
    entries.set('first', 1);
    for (let i = 0; i < 5_000; i++) {
      entries.set(`${i}`, i);
      if (i === 2_500) entries.set('second', 2);
      expect(entries.delete(`${i}`)).toBe(true);
      expect(entries.delete(`${i}`)).toBe(false);
    }
    expect([entries.size, [...entries.values()], entries.get('second'), entries.has('first'), entries.has('0')]).toEqual([
      2,
      [1, 2],
      2,
      true,
      false,
    ]);
  });
});
