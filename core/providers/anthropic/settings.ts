import * as v from 'valibot';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import { keptSettings } from '../../formats/stored/stored-settings.ts';

/** Text that is safe as a header value: printable ASCII, so no line break can smuggle in a second header. */
const headerValue = v.pipe(v.string(), v.minLength(1), v.maxLength(1024), v.regex(/^[\x20-\x7e]+$/, 'printable ASCII only'));

/** The version has its default in `auth.ts`, so that "not set" stays visible. */
export const anthropicEntries = {
  ...keptSettings,
  /** API version date, for example `2023-06-01`. */
  anthropic_version: v.optional(headerValue),
  /** Comma list of beta features. */
  anthropic_beta: v.optional(headerValue),
  custom_host: v.optional(v.string()),
};

/** Settings of the provider `anthropic`. */
export const settings: v.GenericSchema<unknown, ProviderSettings> = v.object(anthropicEntries);
