import { holdsCredential } from '../../contract/values/credentials/api-key.ts';
import type { Secret } from '../../contract/values/credentials/secret.ts';

/**
 * Returns a client's query without the parameters that hold a key of the gateway, or the JWT `token` of the caller. SDKs that send keys in
 * the address (`?key=` of Google, `?api-key=` of Azure) would otherwise have them sent to the provider.
 */
export function passedQuery(query: string, token: Secret | null): string {
  if (query === '' || (token === null && !/svc_|%/.test(query))) return query;
  const passed = query.split('&').filter((pair) => {
    const value = pair.slice(pair.indexOf('=') + 1);
    return !holdsCredential(value, token) && !holdsCredential(decoded(value), token);
  });
  return passed.join('&');
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return value;
  }
}
