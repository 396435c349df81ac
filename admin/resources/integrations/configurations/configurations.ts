import * as v from 'valibot';
import { isStored, type SettingDeclaration } from '../../../../core/provider-settings/declaration.ts';
import { declarationOf } from '../../../../core/providers/declarations.ts';
import { validate } from '../../../http/request/validate.ts';
import { isMasked } from '../../../secrets/sealed-fields.ts';
import { customHeaders } from './custom-headers.ts';

/** Settings of an integration by how they are stored: `secrets` and `headers` sealed, `settings` plain. */
export interface SplitConfigurations {
  readonly settings: Record<string, unknown>;
  readonly secrets: Record<string, string>;
  /** Headers as they were sent; undefined if the field was left out. */
  readonly headers: Readonly<Record<string, string>> | null | undefined;
}

/**
 * Checks settings by the declaration of the provider type and separates secrets. `null` clears a setting and is kept as null. A
 * masked secret keeps its stored value. Throws AB01 naming each setting that is unknown or not valid.
 */
export function splitConfigurations(aiProviderId: string, sent: Record<string, unknown>): SplitConfigurations {
  const known = storedSettings(aiProviderId);
  const changed = Object.fromEntries(Object.entries(sent).filter(([key, value]) => !(known[key]?.secret && isMasked(value))));
  const all = validate(configurationsSchema(aiProviderId), changed, 'configurations', 'configurations') as Record<
    string,
    unknown
  >;
  const { custom_headers: headers, ...checked } = all;
  const settings: Record<string, unknown> = {};
  const secrets: Record<string, string> = {};
  for (const [key, value] of Object.entries(checked)) {
    if (value === undefined) continue;
    if (!known[key]?.secret) settings[key] = value;
    else secrets[key] = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  }
  return { settings, secrets, headers: headers as SplitConfigurations['headers'] };
}

/** The schema of `configurations` of a provider type. */
function configurationsSchema(aiProviderId: string): v.StrictObjectSchema<v.ObjectEntries, undefined> {
  const entries = Object.entries(storedSettings(aiProviderId)).map(([key, { schema }]) => [key, v.nullish(schema)] as const);
  return v.strictObject({ custom_headers: v.nullish(customHeaders), ...Object.fromEntries(entries) });
}

/**
 * Settings whose values may come from a secret manager, and whether each is a credential. Only text is mapped: addresses, buckets and
 * authentication modes are checked when they are sent.
 */
export function mappableSettings(aiProviderId: string): Map<string, boolean> {
  const known = Object.entries(storedSettings(aiProviderId));
  return new Map(known.flatMap(([key, { secret, kind }]) => (secret || kind === 'text' ? [[key, secret === true]] : [])));
}

function storedSettings(aiProviderId: string): Readonly<Record<string, SettingDeclaration>> {
  const known = Object.entries(declarationOf(aiProviderId)?.settings ?? {});
  return Object.fromEntries(known.filter(([, setting]) => isStored(setting)));
}
