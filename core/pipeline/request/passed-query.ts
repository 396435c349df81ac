import { containsCredential, holdsApiKey } from '../../contract/values/credentials/api-key.ts';
import type { Secret } from '../../contract/values/credentials/secret.ts';

/**
 * Returns a client's query without the parameters that contain a key of the gateway, or the JWT `token` of the caller, in whatever spelling. SDKs that
 * send keys in the address (`?key=` of Google, `?api-key=` of Azure) would otherwise have them sent to the provider.
 */
export function passedQuery(query: string, token: Secret | null): string {
  if (query === '' || (token === null && !/svc_|%/.test(query))) return query;
  return query
    .split('&')
    .filter((pair) => !readingsOf(pair).some((text) => isSecret(text, token)))
    .join('&');
}

/** Also true for a value that was meant to be a key. */
function isSecret(pair: string, token: Secret | null): boolean {
  return containsCredential(pair, token) || holdsApiKey(pair.slice(pair.indexOf('=') + 1));
}

/** Servers and proxies decode once or several times, and differ in what they do with invalid escapes. */
const decodingsMax = 3;

/** Returns the text with its escapes decoded up to three times. Characters outside ASCII are of no interest. */
function readingsOf(pair: string): string[] {
  const readings = [pair];
  for (let last = pair; readings.length <= decodingsMax && last.includes('%'); readings.push(last)) {
    last = last.replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
  }
  return readings;
}
