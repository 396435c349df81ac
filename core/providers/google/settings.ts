import * as v from 'valibot';
import type { ProviderSettings } from '../../contract/provider/provider.ts';

/** Settings of the provider `google`. */
export const settings: v.GenericSchema<unknown, ProviderSettings> = v.object({
  /** Another base URL; one that ends in a version (`/v1`, `/v1beta`) chooses that version. */
  custom_host: v.optional(v.string()),
});
