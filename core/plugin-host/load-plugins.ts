import * as v from 'valibot';
import type { CorePlugin, CoreServices } from '../contract/plugin/core-plugin.ts';
import { type Extension, type HookName, hookNames } from '../contract/plugin/plugin.ts';
import { issueText } from '../contract/values/errors/input-issues.ts';
import { loadModule, versionOf } from '../load-module/load-module.ts';
import { checkPlugin } from './check-plugin.ts';

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
  for (const name of names) {
    const module = await loadModule('PLUGINS', name);
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
 * Compiles the `example` of each plugin once, or no settings if it has none, and closes the resulting hooks. Returns the names of the hooks
 * by plugin. Guarded plugins throw if the hooks violate the contract. A schema that rejects its example throws an Error that names the plugin.
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
