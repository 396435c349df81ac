import type { LoadedProvider } from '../contract/protocol/control-plane-calls/loaded-plugins.ts';
import type { ProviderEntry } from './load-providers.ts';

/** Describes a third-party provider. */
export function describeProvider({ source, version, declaration }: ProviderEntry): LoadedProvider {
  const { id, aliases, settings } = declaration;
  return { id, aliases: [...aliases], package: version === null ? null : source, version, settings: Object.keys(settings) };
}
