import * as v from 'valibot';
import { expect, it } from 'vitest';
import { builtInPlugins } from '../../../core/compose/compose-chain.ts';
import { sortPlugins } from '../../../core/compose/sort-plugins.ts';
import type { CorePlugin } from '../../../core/contract/plugin/core-plugin.ts';

const plugin = (name: string, stage: CorePlugin['stage'], after: string[] = []): CorePlugin => ({
  name,
  stage,
  after,
  config: v.unknown(),
  onConfig: () => null,
});
const names = (plugins: readonly CorePlugin[]): string[] => plugins.map(({ name }) => name);

it('built-in plugins run in the order of the stages', () => {
  const inOrder = ['record', 'auth', 'config-resolution', 'limits', 'cache', 'strategies'];
  const all = builtInPlugins({ apiKeyPeppers: () => [new Uint8Array(32)] });
  expect(names(all).filter((name) => inOrder.includes(name))).toEqual(inOrder);
});

it('plugins of one stage run after those that they name, and by name otherwise', () => {
  const given = [plugin('a', 'limits', ['c']), plugin('c', 'limits'), plugin('b', 'limits'), plugin('z', 'auth')];
  expect(names(sortPlugins(given))).toEqual(['z', 'b', 'c', 'a']);
});

it('a cycle of `after` keeps every plugin once', () => {
  expect(names(sortPlugins([plugin('a', 'limits', ['b']), plugin('b', 'limits', ['a'])])).sort()).toEqual(['a', 'b']);
});
