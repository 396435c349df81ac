import type { Credentials, ProviderSettings } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';

/**
 * Returns the API key as `x-goog-api-key`, never as `?key=`, because addresses are often logged. An OAuth access token, which
 * begins with `ya29.`, is sent as a bearer.
 */
export function authHeaders(_settings: ProviderSettings, credentials: Credentials): HeaderList {
  const key = credentials.api_key?.reveal() ?? '';
  if (key === '') return [];
  return key.startsWith('ya29.') ? ['authorization', `Bearer ${key}`] : ['x-goog-api-key', key];
}
