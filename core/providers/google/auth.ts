import type { Credentials, ProviderSettings } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http.ts';

/**
 * The API key as `x-goog-api-key`, never as `?key=`: addresses end up in logs. An OAuth access token, which begins `ya29.`, goes
 * as a bearer.
 */
export function authHeaders(_settings: ProviderSettings, credentials: Credentials): HeaderList {
  const key = credentials.api_key?.reveal() ?? '';
  if (key === '') return [];
  return key.startsWith('ya29.') ? ['authorization', `Bearer ${key}`] : ['x-goog-api-key', key];
}
