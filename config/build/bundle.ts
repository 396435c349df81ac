import { readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { httpWithoutFetch, isPackageOfStart } from './packages-of-start.ts';

const root = join(import.meta.dirname, '../..');

/** Programs, worker tasks and the entry points of the package. Each keeps its path. */
const entries: readonly string[] = [
  ...['core/supervisor/launch', 'core/supervisor/main', 'core/main', 'admin/main', 'core/watchdog/stack-thread'],
  'admin/db/embedded-thread',
  'admin/resources/mcp-integrations/rest/openapi-thread',
  ...['core/contract/plugin/plugin', 'core/provider-host/provider', 'core/providers/provider-adapter', 'core/test-kit/index'],
  ...['workers/tasks', 'core/cli', 'admin/commands'].flatMap(modulesIn),
  'core/cli/prompts/main',
];

/**
 * Replaces an import by template (`./${name}/resource.ts`) with a table of the folders that have this file. A bundler cannot follow
 * the template.
 */
const foldersByName: Plugin = {
  name: 'folders-by-name',
  transform(code, id) {
    const found = /import\(`\.\/\$\{(?<variable>\w+)\}\/(?<file>[\w.-]+)`\)/.exec(code);
    if (!found?.groups) return null;
    const { variable, file } = found.groups;
    const folders = readdirSync(dirname(id), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith(`/${file}`))
      .map(dirname);
    const imports = folders.map((folder, at) => `import * as folder${at} from './${folder}/${file}';\n`);
    const table = folders.map((folder, at) => `'${folder}': folder${at}`);
    return `${imports.join('')}const folders = { ${table.join(', ')} };\n${code.replace(found[0], `folders[${variable}]`)}`;
  },
};

/** Gives `import.meta.url` the value that it has when each source is a file of its own. Modules find other files by it. */
const urlsOfSources: Plugin = {
  name: 'urls-of-sources',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return null;
    const path = relative(root, id).replace(/\.ts$/, '.js');
    return code.replaceAll('import.meta.url', `urlOfSource('${path}')`);
  },
  renderChunk(code, { fileName }) {
    const up = '../'.repeat(fileName.split('/').length - 1) || './';
    return code.replaceAll(/urlOfSource\(["']([^"']+)["']\)/g, (_, path) => `new URL('${up}${path}', import.meta.url).href`);
  },
};

/**
 * Escapes the few characters that do not fit into one byte. With one of them V8 holds the whole file with two bytes for each character.
 * They occur in texts, expressions and comments, where the escape means the same.
 */
const oneByteCharacters: Plugin = {
  name: 'one-byte-characters',
  generateBundle(_, files) {
    for (const file of Object.values(files))
      if (file.type === 'chunk') file.code = file.code.replaceAll(/[^\u0000-\u00ff]/g, escapeOf);
  },
};

/**
 * Writes the program as JavaScript in few files, which load faster than the sources. Usage: `node config/build/bundle.ts
 * <folder> [--packages-of-start]`. Packages remain imports, except those that the flag includes. Modules that several entries share are
 * in files that all of them import, so that a process has one instance of each, also for plugins and providers of third parties.
 */
const [folder, flag] = process.argv.slice(2);
if (!folder) throw new Error('usage: node config/build/bundle.ts <folder> [--packages-of-start]');
const includesPackages = flag === '--packages-of-start';
const build = await rolldown({
  cwd: root,
  input: Object.fromEntries(entries.map((path) => [path, join(root, `${path}.ts`)])),
  platform: 'node',
  // The target of tsconfig.json is older than what Node 22 runs.
  tsconfig: false,
  transform: { target: 'node22' },
  // Packages. Helpers of the compiler have no package.
  external: (source) => /^(?!@oxc-project\/)[@a-zA-Z]/.test(source) && !(includesPackages && isPackageOfStart(source)),
  plugins: [...(includesPackages ? [httpWithoutFetch] : []), foldersByName, urlsOfSources, oneByteCharacters],
});
await build.write({
  dir: resolve(folder),
  entryFileNames: '[name].js',
  chunkFileNames: 'shared/[name]-[hash].js',
  // A process holds the text of its code.
  comments: { jsdoc: false },
  // Error messages, log lines and stacks contain names of classes and functions.
  keepNames: true,
});
await build.close();

function modulesIn(directory: string): string[] {
  const files = readdirSync(join(root, directory)).filter((name) => name.endsWith('.ts'));
  return files.map((name) => `${directory}/${name.slice(0, -3)}`);
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
