import type { ProviderDeclaration, SettingDeclaration } from '../provider-settings/declaration.ts';
import { sharedSettings } from '../provider-settings/shared-settings.ts';

/** Returns the error in what a module exports as the declaration of a provider, to be printed after its name. Null if there is none. */
export function checkDeclaration(given: unknown): string | null {
  if (typeof given !== 'object' || given === null) {
    return 'exports no provider: export what defineProvider returns as `declaration` or as default';
  }
  const { id, aliases, settings, auth, requires, load } = given as Partial<ProviderDeclaration>;
  if (typeof id !== 'string' || !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(id)) return 'has no id in kebab-case';
  const issue = (text: string): string => `(${id}) ${text}`;
  if (typeof load !== 'function') return issue('has no load function');
  if (![aliases, auth, requires].every(Array.isArray) || typeof settings !== 'object' || settings === null) {
    return issue('is incomplete: export what defineProvider returns');
  }
  const prefix = `${id.replaceAll('-', '_')}_`;
  for (const [name, setting] of Object.entries(settings)) {
    if ((sharedSettings as Readonly<Record<string, SettingDeclaration>>)[name] === setting) continue;
    // Providers that share the name of a setting share its roles: another one could make a secret of a built-in provider public.
    if (!name.startsWith(prefix)) return issue(`settings.${name}: the name must begin with ${prefix}`);
    if (typeof setting?.schema !== 'object' || typeof setting.about !== 'string') {
      return issue(`settings.${name}: expected what a function such as text returns`);
    }
  }
  return null;
}
