import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPlugins } from '../../core/load-plugins.ts';

/** The working directory of a user: packages installed there, and files of their own. */
const before = process.cwd();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plugins-'));
  process.chdir(folder);
});
afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

const source = (name: string, how: string) => `${how} { name: '${name}', stage: 'limits', config: {}, onConfig: () => null };\n`;
function install(name: string, manifest: object, files: Record<string, string>): void {
  const where = join(folder, 'node_modules', name);
  mkdirSync(where, { recursive: true });
  writeFileSync(join(where, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...manifest }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(where, file), text);
}

describe('loads a plugin', () => {
  it.each([
    ['that is CommonJS', 'common', { main: 'main.js' }, { 'main.js': source('common', 'module.exports =') }],
    [
      'that is a module',
      'a-module',
      { type: 'module', exports: './main.js' },
      { 'main.js': source('a-module', 'export default') },
    ],
    [
      'that can only be imported',
      'import-only',
      { type: 'module', exports: { '.': { import: './main.js' } } },
      { 'main.js': source('import-only', 'export const plugin =') },
    ],
    ['of a scope', '@scope/scoped', { main: 'main.mjs' }, { 'main.mjs': source('scoped', 'export default') }],
  ])('from a package %s', async (_, name, manifest, files) => {
    install(name, manifest, files as Record<string, string>);
    const [plugin] = await loadPlugins([name]);
    expect(plugin?.name).toBe(name.split('/').at(-1));
  });

  it('from files, relative and absolute, in the order of the setting', async () => {
    writeFileSync(join(folder, 'one.mjs'), source('one', 'export default'));
    writeFileSync(join(folder, 'two.ts'), source('two', 'export const plugin: unknown ='));
    const plugins = await loadPlugins([join(folder, 'two.ts'), './one.mjs']);
    expect(plugins.map((plugin) => plugin.name)).toEqual(['two', 'one']);
  });
});

it.each([
  ['nobody-has-this', '', 'nobody-has-this cannot be loaded'],
  ['./empty.mjs', '', 'exports no plugin'],
  ['./nameless.mjs', 'export default {}', 'has no name'],
  ['./stageless.mjs', "export default { name: 'a' }", '(a) has no stage'],
  ['./schemaless.mjs', "export default { name: 'a', stage: 'limits' }", '(a) has no config schema'],
  ['./idle.mjs', "export default { name: 'a', stage: 'limits', config: {} }", '(a) has no onConfig'],
  ['./broken.mjs', 'export default {', './broken.mjs cannot be loaded'],
])('refuses %s, naming what is wrong', async (name, text, reason) => {
  if (name.startsWith('.')) writeFileSync(join(folder, name), text);
  await expect(loadPlugins([name])).rejects.toThrow(reason);
});
