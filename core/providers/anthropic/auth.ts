import type { Credentials, OutgoingCall, ProviderSettings } from '../../contract/provider/provider.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';

/** The API version that this adapter was checked against. It is sent if neither settings nor client name one. */
const defaultVersion = '2023-06-01';

/** Value of `anthropic-beta` that the provider requires with an OAuth access token. */
const oauthBeta = 'oauth-2025-04-20';

/**
 * Returns the headers that the stored provider alone sets: `x-api-key`, or `authorization: Bearer` for an OAuth access token (it
 * begins with `sk-ant-oat`), and the version and beta features in its settings. The client's own headers apply for those that the
 * settings lack.
 */
export function authHeaders(settings: ProviderSettings, credentials: Credentials): HeaderList {
  const headers: HeaderList = [];
  for (const name of ['anthropic-version', 'anthropic-beta']) {
    const value = settings[name.replace('-', '_')];
    if (typeof value === 'string' && value !== '') headers.push(name, value);
  }
  const key = credentials.api_key?.reveal() ?? '';
  if (isOauthToken(key)) headers.push('authorization', `Bearer ${key}`);
  else if (key !== '') headers.push('x-api-key', key);
  return headers;
}

/**
 * Adds the headers that a call lacks after the client's headers were added: the default version, and the beta feature that an
 * OAuth access token needs.
 */
export function completeHeaders(call: OutgoingCall, _settings: ProviderSettings, credentials: Credentials): void {
  const { headers } = call;
  if (findHeader(headers, 'anthropic-version') === undefined) headers.push('anthropic-version', defaultVersion);
  if (!isOauthToken(credentials.api_key?.reveal() ?? '')) return;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== 'anthropic-beta') continue;
    if (!headers[i + 1]?.includes('oauth-')) headers[i + 1] += `,${oauthBeta}`;
    return;
  }
  headers.push('anthropic-beta', oauthBeta);
}

function isOauthToken(key: string): boolean {
  return key.startsWith('sk-ant-oat');
}
