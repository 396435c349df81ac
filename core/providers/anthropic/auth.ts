import type { HeaderList } from '../../contract/http.ts';
import type { Credentials, ProviderSettings } from '../../contract/provider.ts';

/** The API version this adapter's shapes were checked against, sent when the settings name none. */
export const defaultVersion = '2023-06-01';

/**
 * Headers of every call: `x-api-key`, or `authorization: Bearer` for an OAuth access token (it begins `sk-ant-oat`), plus
 * version and beta features.
 */
export function authHeaders(settings: ProviderSettings, credentials: Credentials): HeaderList {
  const headers: HeaderList = ['anthropic-version', textOr(settings.anthropic_version, defaultVersion)];
  const beta = textOr(settings.anthropic_beta, '');
  if (beta !== '') headers.push('anthropic-beta', beta);
  const key = credentials.api_key?.reveal() ?? '';
  if (key.startsWith('sk-ant-oat')) headers.push('authorization', `Bearer ${key}`);
  else if (key !== '') headers.push('x-api-key', key);
  return headers;
}

function textOr(value: unknown, other: string): string {
  return typeof value === 'string' && value !== '' ? value : other;
}
