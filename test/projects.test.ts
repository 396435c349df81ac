import { globSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import config from '../vitest.config.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const projects = (config.test?.projects ?? []) as { test: { name: string; include: string[]; exclude: string[] } }[];

it('vitest.config.ts: every test file belongs to exactly one project', () => {
  const files = globSync('test/**/*.test.ts', { cwd: root });
  expect(files.length).toBeGreaterThan(300);
  const misplaced = files.flatMap((file) => {
    const matches = (patterns: string[]) => patterns.some((pattern) => matchesGlob(file, pattern));
    const names = projects.filter(({ test }) => matches(test.include) && !matches(test.exclude)).map(({ test }) => test.name);
    return names.length === 1 ? [] : [`${file}: ${names.join(', ') || 'no project'}`];
  });
  expect(misplaced).toEqual([]);
});
