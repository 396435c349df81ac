import type { Settings } from '../../config/settings.ts';
import type { CorePlugin, CoreServices } from '../contract/plugin/core-plugin.ts';
import type { AddedCheck } from '../contract/plugin/guardrails/plugin-check.ts';
import type { LoadedPlugin, LoadedProvider } from '../contract/protocol/control-plane-calls/loaded-plugins.ts';
import type { Log } from '../contract/values/log/log.ts';
import { hasHooks } from '../plugin-host/check-plugin.ts';
import { describePlugin, loadedLine } from '../plugin-host/describe-plugin.ts';
import { guardChecks } from '../plugin-host/guard-checks.ts';
import { guardPlugin } from '../plugin-host/guard-plugin.ts';
import { loadPlugins, tryExamples } from '../plugin-host/load-plugins.ts';
import { describeProvider } from '../provider-host/describe-provider.ts';
import type { ProviderEntry } from '../provider-host/load-providers.ts';

/** Third-party code of this process. */
export interface Extensions {
  /** Plugins with hooks, guarded. */
  readonly added: readonly CorePlugin[];
  /** Returns the checks of plugins by id, guarded. */
  checks(own: CoreServices): ReadonlyMap<string, AddedCheck>;
  /** Compiles the examples of plugins, logs what is loaded, and describes it. Throws an Error that names the plugin and its mistake. */
  tryOut(
    services: CoreServices,
    log: Log,
  ): { readonly plugins: readonly LoadedPlugin[]; readonly providers: readonly LoadedProvider[] };
}

/** Loads the plugins of PLUGINS. The providers are loaded already, because modules read their list. */
export async function loadExtensions(settings: Settings, providers: readonly ProviderEntry[]): Promise<Extensions> {
  const entries = await loadPlugins(settings.plugins);
  const plugins = entries.map(({ plugin }) => plugin);
  const added = plugins.filter(hasHooks).map((plugin) => guardPlugin(plugin, settings));
  return {
    added,
    checks: (own) => guardChecks(plugins, settings, own),
    tryOut(services, log) {
      const hooksOf = tryExamples(added, services);
      const loaded = {
        plugins: entries.map((entry) => describePlugin(entry, hooksOf.get(entry.plugin.name) ?? new Set())),
        providers: providers.map(describeProvider),
      };
      if (entries.length + providers.length > 0) log.info(loadedLine(loaded.plugins, loaded.providers), 'plugins loaded');
      return loaded;
    },
  };
}
