import { isStored, type ProviderDeclaration, type SettingDeclaration } from '../../../core/provider-settings/declaration.ts';
import { missingSettings } from '../../../core/provider-settings/missing-settings.ts';

/** A complete integration of a provider: examples of a setting and of all settings that it needs. */
export interface SampleIntegration {
  readonly configurations: Readonly<Record<string, unknown>>;
  /** Null if the settings reject or do not need one. */
  readonly key: string | null;
}

/** Returns the settings that integrations of this provider store. */
export function storedSettings({ settings }: ProviderDeclaration): [string, SettingDeclaration][] {
  return Object.entries(settings).filter(([, setting]) => isStored(setting));
}

/** Returns a complete integration with an example of `setting`. Throws if no authentication mode allows it. */
export function sampleWith(declaration: ProviderDeclaration, setting: string): SampleIntegration {
  const chosen = modesOf(declaration).map((modes) => complete(declaration, { ...exampleOf(declaration, setting), ...modes }));
  const found = chosen.find((sample) => sample !== null);
  if (!found) throw new Error(`${declaration.id}: no authentication mode allows ${setting} with its examples`);
  return found;
}

/** Returns every combination of the provider's own authentication settings with one mode, and without any. */
function modesOf({ auth }: ProviderDeclaration): Record<string, string>[] {
  const own = auth.flatMap(({ setting, modes }) => Object.keys(modes).map((mode) => ({ [setting]: mode })));
  return [{}, ...own];
}

function complete(declaration: ProviderDeclaration, given: Readonly<Record<string, unknown>>): SampleIntegration | null {
  const problems = missingSettings(declaration, given, (name) => given[name] !== undefined);
  if (problems.some(({ setting }) => given[setting] !== undefined)) return null;
  if (problems.length > 0) {
    return complete(declaration, Object.assign({}, given, ...problems.map(({ setting }) => exampleOf(declaration, setting))));
  }
  const { api_key: key, ...configurations } = given;
  return { configurations, key: typeof key === 'string' ? key : null };
}

function exampleOf({ settings }: ProviderDeclaration, name: string): Record<string, unknown> {
  return { [name]: name === 'api_key' ? 'sk-example-0123456789' : settings[name]?.example };
}

/** Returns values that the schema of a setting rejects: of another type and, if the setting is text, of another form. */
export function invalidValues(
  { kind, schema }: SettingDeclaration,
  accepts: (schema: SettingDeclaration['schema'], value: unknown) => boolean,
): unknown[] {
  const candidates = [7.5, '', 'not valid: ☃\n', ...(kind === 'table' || kind === 'json' ? [[{}]] : [{}])];
  return candidates.filter((value) => !accepts(schema, value)).slice(0, 2);
}
