import type { SettingNames } from '../contract/provider/setting-names.ts';
import { addedProviders } from '../provider-settings/added-providers.ts';
import {
  isCarried,
  isStored,
  type OlderColumns,
  type ProviderDeclaration,
  type SettingDeclaration,
} from '../provider-settings/declaration.ts';
import type { ProviderPrices } from '../provider-settings/provider-prices.ts';
import * as listed from './list.ts';

const builtIn: readonly ProviderDeclaration[] = Object.values(listed).flat();

/** Every provider, by id in alphabetical order. Importing this file loads no adapter. */
export const declarations: readonly ProviderDeclaration[] = [...builtIn, ...withOwnNames(addedProviders())].sort((a, b) =>
  a.id < b.id ? -1 : 1,
);

const byName: ReadonlyMap<string, ProviderDeclaration> = new Map(
  declarations.flatMap((declaration) => [declaration.id, ...declaration.aliases].map((name) => [name, declaration] as const)),
);

/** Throws an Error if a third-party provider has the name of another provider. */
function withOwnNames(added: readonly ProviderDeclaration[]): readonly ProviderDeclaration[] {
  const taken = new Set(builtIn.flatMap(({ id, aliases }) => [id, ...aliases]));
  for (const name of added.flatMap(({ id, aliases }) => [id, ...aliases])) {
    if (taken.has(name)) throw new Error(`PROVIDERS: two providers have the name ${name}; rename one of the two`);
    taken.add(name);
  }
  return added;
}

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
/** Settings that become part of the name of a host of another account, such as the name of an Azure resource. Regions are none. */
export const hostPartNames = namesOf(({ host, moves }) => host === 'part' && moves !== true);
/** Settings with URLs that may have a query. */
export const queryHostNames = namesOf(({ query }) => query === true);

/** Names for the config language and for headers. */
export const settingNames: SettingNames = {
  settings: namesOf((setting) => !setting.secret && isCarried(setting)),
  config: namesOf(({ only }) => only === 'config'),
  secrets: namesOf((setting) => setting.secret === true && isCarried(setting)),
  headerSecrets: namesOf((setting) => setting.header === true && isCarried(setting)),
  hosts: hostSettingNames,
  inline: namesOf(({ inline }) => inline === true),
};

/** Older names of stored settings that are not their camel-case form, with the setting. */
export const olderSettingNames: Readonly<Record<string, string>> = Object.fromEntries(
  everySetting.flatMap(([name, { olderName }]) => (olderName === undefined ? [] : [[olderName, name]])),
);

/** Tables whose columns have older names, by setting. */
export const olderTables: ReadonlyMap<string, OlderColumns> = new Map(
  everySetting.flatMap(([name, { olderColumns }]) => (olderColumns ? [[name, olderColumns] as const] : [])),
);

/** The settings and modes that select workload identity federation, with the ids of their providers. */
export function federationModes(): { setting: string; mode: string; ids: string[] }[] {
  const found = new Map<string, { setting: string; mode: string; ids: string[] }>();
  for (const { id, auth } of declarations) {
    for (const { setting, modes } of auth) {
      for (const [mode, { federates }] of Object.entries(modes)) {
        if (!federates) continue;
        const entry = found.get(`${setting} ${mode}`) ?? { setting, mode, ids: [] };
        entry.ids.push(id);
        found.set(`${setting} ${mode}`, entry);
      }
    }
  }
  return [...found.values()];
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

/** Returns the prices of a provider that the public list does not state. */
export function pricesOf(provider: string): ProviderPrices {
  return byName.get(provider)?.prices ?? noPrices;
}

const noPrices: ProviderPrices = {};

/** Settings that exempt calls on provisioned capacity from prices. */
export const skipProvisionedNames = namesOf(({ skipsProvisioned }) => skipsProvisioned === true);
