import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compileCache } from '../../../core/supervisor/compile-cache.ts';

it('compileCache: a folder for each version of the programs, without those of others', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'compile-cache-'));
  const root = join(dataDir, 'compile-cache');
  const program = join(dataDir, 'main.js');
  writeFileSync(program, 'one');
  const first = compileCache(dataDir, [program]);
  // The layout of versions that had no folder of their own.
  for (const folder of [first, join(root, 'v22.23.3-x64-9ac5647c-0')]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(first, 'entry'), '');
  expect(compileCache(dataDir, [program])).toBe(first);
  expect(readdirSync(first)).toEqual(['entry']);
  expect(readdirSync(root)).toHaveLength(1);
  writeFileSync(program, 'two');
  expect(compileCache(dataDir, [program])).not.toBe(first);
  expect(readdirSync(root)).toEqual([]);
});
