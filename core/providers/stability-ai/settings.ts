import * as v from 'valibot';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http.ts';

const clientSettings = ['stability_client_id', 'stability_client_user_id', 'stability_client_version'] as const;

const headerValue = v.nullish(v.pipe(v.string(), v.maxLength(256), v.regex(/^[ -~]*$/, 'visible ASCII characters')));

/** Settings of the provider `stability-ai`; its one secret is `api_key`. */
export const settings: v.GenericSchema<unknown, ProviderSettings> = v.object({
  stability_client_id: headerValue,
  stability_client_user_id: headerValue,
  stability_client_version: headerValue,
  custom_host: v.nullish(v.string()),
});

/** Who calls on whose behalf, for the provider's own books (https://platform.stability.ai/docs/api-reference). */
export function clientHeaders(given: ProviderSettings): HeaderList {
  return clientSettings.flatMap((name) => {
    const value = given[name];
    return typeof value === 'string' && value !== '' ? [name.replaceAll('_', '-'), value] : [];
  });
}
