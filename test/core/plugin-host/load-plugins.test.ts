import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPlugins } from '../../../core/plugin-host/load-plugins.ts';

/** The working directory of a user, with installed packages and own files. */
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

const source = (name: string, how: string) =>
  `${how} { apiVersion: 1, name: '${name}', stage: 'limits', onConfig: () => null };\n`;
function install(name: string, manifest: object, files: Record<string, string>): void {
  const where = join(folder, 'node_modules', name);
  mkdirSync(where, { recursive: true });
  writeFileSync(join(where, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...manifest }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(where, file), text);
}

describe('a plugin', () => {
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
  ])('is loaded from a package %s', async (_, name, manifest, files) => {
    install(name, manifest, files as Record<string, string>);
    const [entry] = await loadPlugins([name]);
    expect([entry?.plugin.name, entry?.source, entry?.version]).toEqual([name.split('/').at(-1), name, '1.0.0']);
  });

  it('is loaded from files, relative and absolute, in the order of the setting', async () => {
    writeFileSync(join(folder, 'one.mjs'), source('one', 'export default'));
    writeFileSync(join(folder, 'two.ts'), source('two', 'export const plugin: unknown ='));
    const plugins = await loadPlugins([join(folder, 'two.ts'), './one.mjs']);
    expect(plugins.map(({ plugin, version }) => [plugin.name, version])).toEqual([
      ['two', null],
      ['one', null],
    ]);
  });
});

const valibot = `import * as v from '${import.meta.resolve('valibot')}';`;

const refusing = `import { definePlugin, GatewayError } from 'svc-gateway/plugin';
export default definePlugin({ apiVersion: 1, name: 'refusing', stage: 'limits', onConfig: () => ({
  onRequest() { throw new GatewayError('forbidden'); } }) });\n`;

it('rejects two plugins with the same name', async () => {
  for (const file of ['first.mjs', 'second.mjs']) writeFileSync(join(folder, file), source('twin', 'export default'));
  await expect(loadPlugins(['./first.mjs', './second.mjs'])).rejects.toThrow(
    './second.mjs has the same name as ./first.mjs: twin',
  );
});

describe('svc-gateway/plugin is the contract of the running service, without a build', () => {
  // Runs in a separate process, because vitest resolves imports itself.
  const program = (file: string) => `
    import { GatewayError } from ${JSON.stringify(moduleAt('contract/values/errors/errors.ts'))};
    import { loadPlugins } from ${JSON.stringify(moduleAt('plugin-host/load-plugins.ts'))};
    const [{ plugin }] = await loadPlugins([${JSON.stringify(file)}]);
    try { plugin.onConfig().onRequest(); } catch (error) { console.log(error instanceof GatewayError, error.status); }`;
  const moduleAt = (path: string) => pathToFileURL(join(import.meta.dirname, '../../../core', path)).href;

  it.each([
    ['for a file in a folder without node_modules', () => folder],
    ['for a file inside the repository', () => join(import.meta.dirname, '../../e2e/fixtures')],
    [
      'for a package that brings a copy of its own',
      () => {
        install('svc-gateway', { exports: { './plugin': './other.js' } }, { 'other.js': 'throw new Error("the other copy");' });
        return folder;
      },
    ],
  ])('%s', (_, where) => {
    const file = join(where(), `refusing-${process.pid}.mjs`);
    writeFileSync(file, refusing);
    try {
      const output = execFileSync(process.execPath, ['--input-type=module', '-e', program(file)], { encoding: 'utf8' });
      expect(output).toBe('true 403\n');
    } finally {
      rmSync(file, { force: true });
    }
  });
});

it('loads a plugin whose schema contains itself behind v.lazy', async () => {
  const text = `const make = () => v.object({ again: v.optional(v.lazy(() => make())), needs: v.optional(v.lazy((one) => one.missing)) });
    export default { apiVersion: 1, name: 'a', stage: 'limits', onConfig: () => null, config: v.optional(make()) }`;
  writeFileSync(join(folder, 'recursive.mjs'), `${valibot} ${text}`);
  expect((await loadPlugins(['./recursive.mjs'])).map(({ plugin }) => plugin.name)).toEqual(['a']);
});

it.each([
  ['throws.mjs', "\nthrow new Error('no database')", /throws\.mjs cannot be loaded: no database \(\/.*throws\.mjs:2:7\)$/],
  [
    'enum.ts',
    '\nenum A { B }',
    /enum\.ts cannot be loaded: TypeScript enum is not supported in strip-only mode \(\/.*enum\.ts:2\)$/,
  ],
  ['odd.mjs', 'const a = 1 b', /odd\.mjs cannot be loaded: Unexpected identifier 'b'\. To see the line, run the file with node$/],
  ['absent.mjs', null, /absent\.mjs cannot be loaded: Cannot find module '.*absent\.mjs' imported from \S+$/],
  ['waits.mjs', 'await new Promise(() => {})', /waits\.mjs cannot be loaded: its top-level await did not settle within 50 ms$/],
])('%s that cannot be loaded is reported with the line or what to do', (name, text, reason) => {
  const file = join(folder, name);
  if (text !== null) writeFileSync(file, text);
  const module = pathToFileURL(join(import.meta.dirname, '../../../core/load-module/load-module.ts')).href;
  const program = `import { loadModule } from '${module}';
    await loadModule('PLUGINS', ${JSON.stringify(file)}, 50).catch((error) => console.log(error.message));
    process.exit();`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(output.trim()).toMatch(reason);
});

it.each([
  ['nobody-has-this', '', 'nobody-has-this cannot be loaded'],
  ['./empty.mjs', '', 'exports no plugin'],
  ['./nameless.mjs', 'export default {}', 'has no name'],
  ['./versionless.mjs', "export default { name: 'a', stage: 'limits' }", '(a) has no apiVersion: add apiVersion: 1'],
  ['./future.mjs', "export default { apiVersion: 2, name: 'a' }", '(a) has apiVersion 2; this gateway supports apiVersion 1'],
  ['./stageless.mjs', "export default { apiVersion: 1, name: 'a' }", '(a) has no stage'],
  [
    './name.mjs',
    "export default { apiVersion: 1, name: 'My Plugin', checks: [] }",
    'has the name "My Plugin", expected kebab-case',
  ],
  [
    './stage.mjs',
    "export default { apiVersion: 1, name: 'a', stage: 'limit' }",
    '(a) stage: got "limit", expected one of record, auth, config, limits',
  ],
  ['./near-stage.mjs', "export default { apiVersion: 1, name: 'a', stage: 'limit' }", 'did you mean limits?'],
  [
    './json-schema.mjs',
    "export default { apiVersion: 1, name: 'a', stage: 'limits', config: { type: 'object' } }",
    '(a) config: expected a valibot',
  ],
  [
    './schemaless.mjs',
    "export default { apiVersion: 1, name: 'a', stage: 'limits', config: 5 }",
    '(a) config: expected a valibot',
  ],
  [
    './required.mjs',
    `${valibot} export default { apiVersion: 1, name: 'a', stage: 'limits', config: v.object({ url: v.string() }), onConfig: () => null }`,
    '(a) config: the schema rejects undefined, which it gets for each config that does not name the plugin: wrap it in v.optional',
  ],
  [
    './asynchronous.mjs',
    `${valibot} export default { apiVersion: 1, name: 'a', stage: 'limits', onConfig: () => null,
      config: v.optional(v.object({ url: v.pipeAsync(v.string(), v.checkAsync(async () => false)) })) }`,
    '(a) config: expected a synchronous schema',
  ],
  [
    './asynchronous-lazy.mjs',
    `${valibot} export default { apiVersion: 1, name: 'a', stage: 'limits', onConfig: () => null,
      config: v.optional(v.object({ a: v.lazy(() => v.object({ b: v.lazy(() => v.pipeAsync(v.string(), v.checkAsync(async () => false))) })) })) }`,
    '(a) config: expected a synchronous schema',
  ],
  [
    './asynchronous-check.mjs',
    `export default { apiVersion: 1, name: 'a', checks: [{ id: 'b', about: 'c', sides: ['input'], check: () => true,
      parameters: { $async: true, type: 'object', required: ['url'] } }] }`,
    'checks[0]: (b) parameters: expected a synchronous schema',
  ],
  [
    './text-version.mjs',
    "export default { apiVersion: '1', name: 'a' }",
    '(a) has apiVersion "1"; this gateway supports apiVersion 1',
  ],
  ['./idle.mjs', "export default { apiVersion: 1, name: 'a', stage: 'limits' }", '(a) has no onConfig'],
  ['./near.mjs', "export default { apiVersion: 1, name: 'a', stage: 'limits', onConifg: () => null }", 'did you mean onConfig?'],
  [
    './hook.mjs',
    source('a', 'export default').replace(' };', ', onRequest() {} };'),
    '(a) onRequest: hooks are members of the object that onConfig returns',
  ],
  ['./reads.mjs', source('a', 'export default').replace(' };', ', reads: { reply: 1 } };'), '(a) reads.reply: unknown field'],
  ['./time.mjs', source('a', 'export default').replace(' };', ', hookTimeoutMs: 0 };'), '(a) hookTimeoutMs: expected'],
  ['./broken.mjs', 'export default {', './broken.mjs cannot be loaded'],
])('is rejected for %s, naming the error', async (name, text, reason) => {
  if (name.startsWith('.')) writeFileSync(join(folder, name), text);
  await expect(loadPlugins([name])).rejects.toThrow(reason);
});
