import { loadModule, versionOf } from '../load-module/load-module.ts';
import { addProviders } from '../provider-settings/added-providers.ts';
import type { ProviderDeclaration } from '../provider-settings/declaration.ts';
import { checkDeclaration } from './check-declaration.ts';

/** A third-party provider with the entry of PROVIDERS that named it. */
export interface ProviderEntry {
  readonly source: string;
  /** Version of its package; null for a file. */
  readonly version: string | null;
  readonly declaration: ProviderDeclaration;
}

/**
 * Loads the declarations of third-party providers named in the setting PROVIDERS and adds them to those of this process: files or packages
 * whose export `declaration` or default export is a ProviderDeclaration. Call it before any other module that lists providers is loaded.
 * Throws an Error that names the entry and the problem.
 */
export async function loadProviders(names: readonly string[]): Promise<readonly ProviderEntry[]> {
  const entries: ProviderEntry[] = [];
  for (const name of names) {
    const module = await loadModule('PROVIDERS', name);
    const declaration = module.declaration ?? module.default;
    const issue = checkDeclaration(declaration);
    if (issue !== null) throw new Error(`PROVIDERS: ${name} ${issue}`);
    entries.push({ source: name, version: versionOf(name), declaration: declaration as ProviderDeclaration });
  }
  addProviders(entries.map(({ declaration }) => declaration));
  return entries;
}
