import * as v from 'valibot';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import { keptSettings } from '../../formats/stored/stored-settings.ts';

/** Settings of the provider `cohere`; its one secret is `api_key`. */
export const settings: v.GenericSchema<unknown, ProviderSettings> = v.object({
  ...keptSettings,
  custom_host: v.nullish(v.string()),
});
