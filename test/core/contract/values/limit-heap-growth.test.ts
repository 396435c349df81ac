import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const module = new URL('../../../../core/contract/values/limit-heap-growth.ts', import.meta.url).href;

/**
 * Keeps 90 MB of objects and makes garbage in the old generation: objects that survive two collections of the young generation before they are
 * dropped. Returns by how much the old generation grew at most, as a multiple of its size after a collection.
 */
async function growth(limited: boolean): Promise<number> {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    ${limited ? `import { limitHeapGrowth } from ${JSON.stringify(module)}; limitHeapGrowth();` : ''}
    const old = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size;
    const object = (i) => ({ text: 'x' + i, more: [i, i + 1, i + 2], next: { i } });
    globalThis.kept = Array.from({ length: 200_000 }, (_, i) => object(i));
    const passing = new Array(300_000);
    for (let i = 0; i < 1_000_000; i++) passing[i % passing.length] = object(i);
    gc();
    const least = old();
    let most = 0;
    for (let i = 0; i < 2_000_000; i++) {
      passing[i % passing.length] = object(i);
      if (i % 50_000 === 0) most = Math.max(most, old());
    }
    console.log(most / least);`;
  const args = ['--single-threaded-gc', '--expose-gc', '--no-warnings', '--input-type=module', '-e', program];
  return Number((await promisify(execFile)(process.execPath, args)).stdout);
}

test('the old generation grows by less than 0.6 of the usual between collections with the limit', async () => {
  const [limited, free] = await Promise.all([growth(true), growth(false)]);

  // V8 adds the size of the young generation to both limits, and its own limit depends on the speed of the machine.
  expect((limited - 1) / (free - 1)).toBeLessThan(0.6);
});
