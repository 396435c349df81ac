import { readFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import type { CorePlugin, CoreServices } from '../contract/plugin/core-plugin.ts';
import type { Extension } from '../contract/plugin/plugin.ts';
import { issueText } from '../contract/values/input-issues.ts';
import { messageOf } from '../contract/values/message-of.ts';
import { checkPlugin } from './check-plugin.ts';
import { sharePackage } from './share-package.ts';

/**
 * Loads third-party plugins named in the setting PLUGINS: a file (absolute, or relative to the working directory) or an installed
 * package, whose default export or export `plugin` is a Plugin. Throws an Error that names the entry and the problem.
 */
export async function loadPlugins(names: readonly string[]): Promise<Extension[]> {
  const plugins: Extension[] = [];
  if (names.length > 0) sharePackage();
  for (const name of names) {
    let module: { default?: unknown; plugin?: unknown };
    try {
      module = await import(locate(name));
    } catch (thrown) {
      throw new Error(`PLUGINS: ${name} cannot be loaded: ${messageOf(thrown)}`);
    }
    const plugin = module.plugin ?? module.default;
    const issue = checkPlugin(plugin);
    if (issue !== null) throw new Error(`PLUGINS: ${name} ${issue}`);
    plugins.push(plugin as Extension);
  }
  return plugins;
}

/**
 * Compiles the `example` of each plugin once and closes the resulting hooks. Guarded plugins throw if the hooks violate the
 * contract. A schema that rejects its example throws an Error that names the plugin.
 */
export function tryExamples(plugins: readonly CorePlugin[], services: CoreServices): void {
  for (const plugin of plugins) {
    if (plugin.example === undefined) continue;
    const result = v.safeParse(plugin.config, plugin.example);
    if (!result.success) {
      const issues = result.issues.map((issue) => issueText(issue, 'example'));
      throw new Error(`PLUGINS: ${plugin.name}: its schema rejects its example: ${issues.join('; ')}`);
    }
    plugin.onConfig(result.output, { config: {}, targets: [], slug: null, stateKey: null }, services)?.onClose?.();
  }
}

function locate(name: string): string {
  if (name.startsWith('.') || isAbsolute(name) || /\.[cm]?[jt]s$/.test(name)) return pathToFileURL(resolve(name)).href;
  // Packages are resolved from the working directory, so that they need not be installed inside the service.
  const from = resolve('package.json');
  try {
    return pathToFileURL(createRequire(from).resolve(name)).href;
  } catch (thrown) {
    const manifest = (thrown as NodeJS.ErrnoException).code === notForRequire ? findPackageJSON(name, from) : undefined;
    const entry = manifest ? importEntry(JSON.parse(readFileSync(manifest, 'utf8')).exports) : null;
    if (!manifest || entry === null) throw thrown;
    return pathToFileURL(resolve(dirname(manifest), entry)).href;
  }
}

/**
 * `require` does not find a package whose `exports` have only `import`, and only `require` can resolve from another directory.
 */
const notForRequire = 'ERR_PACKAGE_PATH_NOT_EXPORTED';

/**
 * Returns the file that `import` of a package's root resolves to, by its `exports` (Node.js documentation, "Packages",
 * conditional exports).
 */
function importEntry(exports: unknown): string | null {
  if (typeof exports === 'string') return exports;
  if (typeof exports !== 'object' || exports === null) return null;
  for (const [condition, target] of Object.entries(exports)) {
    if (!['.', 'node', 'import', 'default'].includes(condition)) continue;
    const entry = importEntry(target);
    if (entry !== null) return entry;
  }
  return null;
}
