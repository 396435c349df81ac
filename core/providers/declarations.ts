import type { SettingNames } from '../contract/provider/setting-names.ts';
import { isCarried, isStored, type ProviderDeclaration, type SettingDeclaration } from '../provider-settings/declaration.ts';
import * as listed from './list.ts';

/** Every provider, by id in alphabetical order. Importing this file loads no adapter. */
export const declarations: readonly ProviderDeclaration[] = Object.values(listed)
  .flat()
  .sort((a, b) => (a.id < b.id ? -1 : 1));

const byName: ReadonlyMap<string, ProviderDeclaration> = new Map(
  declarations.flatMap((declaration) => [declaration.id, ...declaration.aliases].map((name) => [name, declaration] as const)),
);

/** The provider with this id or alias, or null. */
export function declarationOf(name: string): ProviderDeclaration | null {
  return byName.get(name) ?? null;
}

/** Returns the id of an alias, and other names unchanged. */
export function canonicalProviderId(name: string): string {
  return byName.get(name)?.id ?? name;
}

/** Every setting of every provider, by name. Providers that share a name share its meaning, not always its schema. */
const everySetting: readonly (readonly [string, SettingDeclaration])[] = declarations.flatMap(({ settings }) =>
  Object.entries(settings),
);

const namesOf = (has: (setting: SettingDeclaration) => boolean): readonly string[] =>
  [...new Set(everySetting.flatMap(([name, setting]) => (has(setting) ? [name] : [])))].sort();

/** Every credential, also those that only integrations carry. */
export const everySecretName = namesOf(({ secret }) => secret === true);
/** Settings that integrations store, credentials included. */
export const storedSettingNames = namesOf(isStored);
/** Settings whose values are URLs that gateways call. */
export const hostSettingNames = namesOf(({ host }) => host === 'url');
/** Those of them that may have a query. */
export const queryHostNames = namesOf(({ query }) => query === true);

/** Names for the config language and for headers. */
export const settingNames: SettingNames = {
  settings: namesOf((setting) => !setting.secret && isCarried(setting)),
  config: namesOf(({ only }) => only === 'config'),
  secrets: namesOf((setting) => setting.secret === true && isCarried(setting)),
  hosts: hostSettingNames,
  inline: namesOf(({ inline }) => inline === true),
};

/** Ids of providers that have this authentication mode. */
export function providersWithMode(setting: string, mode: string): string[] {
  return declarations.flatMap(({ id, auth }) =>
    auth.some((modes) => modes.setting === setting && modes.modes[mode]) ? [id] : [],
  );
}

/** Id of a provider in the public price list. */
export function priceIdOf(provider: string): string {
  return byName.get(provider)?.priceId ?? provider;
}

/** The names of a provider's model in the public price list, most specific first, with the provider's id there. */
export function priceNamesOf(provider: string, model: string): { readonly id: string; readonly names: readonly string[] } {
  const names = [model, byName.get(provider)?.priceName?.(model) ?? model];
  return { id: priceIdOf(provider), names: [...new Set(names)].filter((name) => name !== '') };
}

/** Settings that exempt calls on provisioned capacity from prices. */
export const skipProvisionedNames = namesOf(({ skipsProvisioned }) => skipsProvisioned === true);
