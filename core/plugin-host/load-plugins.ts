import { readFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import type { CorePlugin, CoreServices } from '../contract/plugin/core-plugin.ts';
import { type Extension, type HookName, hookNames } from '../contract/plugin/plugin.ts';
import { issueText } from '../contract/values/input-issues.ts';
import { messageOf } from '../contract/values/message-of.ts';
import { checkPlugin } from './check-plugin.ts';
import { sharePackage } from './share-package.ts';

/** A plugin with the entry of PLUGINS that named it. */
export interface PluginEntry {
  readonly source: string;
  /** Version of its package; null for a file. */
  readonly version: string | null;
  readonly plugin: Extension;
}

/**
 * Loads third-party plugins named in the setting PLUGINS: a file (absolute, or relative to the working directory) or an installed
 * package, whose default export or export `plugin` is a Plugin. Throws an Error that names the entry and the problem.
 */
export async function loadPlugins(names: readonly string[]): Promise<PluginEntry[]> {
  const plugins: PluginEntry[] = [];
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
    const known = plugins.find((entry) => entry.plugin.name === (plugin as Extension).name);
    if (known)
      throw new Error(`PLUGINS: ${name} has the same name as ${known.source}: ${known.plugin.name}; rename one of the two`);
    plugins.push({ source: name, version: versionOf(name), plugin: plugin as Extension });
  }
  return plugins;
}

/**
 * Compiles the `example` of each plugin once, or no settings if it has none, and closes the resulting hooks. Returns their names by plugin. Guarded plugins throw if the hooks violate the
 * contract. A schema that rejects its example throws an Error that names the plugin.
 */
export function tryExamples(plugins: readonly CorePlugin[], services: CoreServices): Map<string, Set<HookName>> {
  const names = new Map<string, Set<HookName>>();
  for (const plugin of plugins) {
    const result = v.safeParse(plugin.config, plugin.example);
    // Without an example, a schema that needs settings leaves the hooks unknown.
    if (!result.success && plugin.example === undefined) continue;
    if (!result.success) {
      const issues = result.issues.map((issue) => issueText(issue, 'example'));
      throw new Error(`PLUGINS: ${plugin.name}: its schema rejects its example: ${issues.join('; ')}`);
    }
    const hooks = plugin.onConfig(result.output, { config: {}, targets: [], slug: null, stateKey: null }, services);
    names.set(plugin.name, new Set(hookNames.filter((name) => hooks?.[name] !== undefined)));
    hooks?.onClose?.();
  }
  return names;
}

function isFile(name: string): boolean {
  return name.startsWith('.') || isAbsolute(name) || /\.[cm]?[jt]s$/.test(name);
}

function versionOf(name: string): string | null {
  const manifest = isFile(name) ? undefined : findPackageJSON(name, resolve('package.json'));
  const version: unknown = manifest === undefined ? null : JSON.parse(readFileSync(manifest, 'utf8')).version;
  return typeof version === 'string' ? version : null;
}

function locate(name: string): string {
  if (isFile(name)) return pathToFileURL(resolve(name)).href;
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
