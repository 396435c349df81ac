import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';

const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  readonly forbidden: readonly { readonly name: string; readonly from: { readonly path?: string } }[];
};
const core = new URL('../../core/', import.meta.url);
/** Composition may import everything. */
const free = ['compose'];

it('imports: a rule covers every folder of core, and docs/imports.md names it', () => {
  const folders = readdirSync(core, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  const table = readFileSync(new URL('../docs/imports.md', core), 'utf8');
  const rules = forbidden.flatMap(({ from }) => (from.path?.startsWith('^core/') ? [new RegExp(from.path)] : []));
  const isCovered = (folder: string) =>
    rules.some((rule) => rule.test(`core/${folder}/a/b.ts`) || rule.test(`core/${folder}/a.ts`));
  expect(folders.filter((folder) => !free.includes(folder) && !isCovered(folder))).toEqual([]);
  expect(folders.filter((folder) => !table.includes(`core/${folder}`))).toEqual([]);
});
