import { type Extension, type HookName, hookNames, type Plugin } from '../contract/plugin/plugin.ts';
import type { LoadedPlugin, LoadedProvider } from '../contract/protocol/control-plane-calls/loaded-plugins.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import { hasHooks } from './check-plugin.ts';
import type { PluginEntry } from './load-plugins.ts';

/** Describes what a plugin adds. Nothing of its settings is in it. */
export function describePlugin({ source, version, plugin }: PluginEntry, hooks: ReadonlySet<HookName>): LoadedPlugin {
  return {
    name: plugin.name,
    package: version === null ? null : source,
    version,
    api_version: plugin.apiVersion,
    stage: stageOf(plugin),
    hooks: hookNames.filter((name) => hooks.has(name)),
    checks: (plugin.checks ?? []).map(({ id, about, sides }) => ({
      id: `${plugin.name}.${id}`,
      about,
      sides: [...new Set(sides)],
    })),
  };
}

function stageOf(plugin: Extension): Plugin['stage'] | null {
  return hasHooks(plugin) ? plugin.stage : null;
}

/** Fields of the log line that lists the loaded plugins. */
export function loadedLine(loaded: readonly LoadedPlugin[], providers: readonly LoadedProvider[] = []): JsonObject {
  const versioned = (name: string, version: string | null): string => (version === null ? name : `${name}@${version}`);
  const nameOf = ({ name, version }: LoadedPlugin): string => versioned(name, version);
  const checks = loaded.flatMap((plugin) => plugin.checks.map(({ id }) => id));
  return {
    plugins: loaded.map((plugin) => (plugin.stage === null ? nameOf(plugin) : `${nameOf(plugin)} (${plugin.stage})`)),
    ...(checks.length === 0 ? {} : { checks }),
    ...(providers.length === 0 ? {} : { providers: providers.map(({ id, version }) => versioned(id, version)) }),
  };
}
