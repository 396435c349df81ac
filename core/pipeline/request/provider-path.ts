import type { Endpoint } from '../../contract/plugin/requests/endpoint.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';

/** Nearly all paths lack these characters and need no further check. */
const suspicious = /\.\.|%2e|%25/i;

/** Maximum number of times that a provider or a proxy in front of it may decode a path. */
const decodingsMax = 3;

/**
 * Rejects a path that leaves the provider's base path if a server on the way resolves its dot segments: `..`, percent-encoded up
 * to three times, with a path parameter (`..;x`), or between backslashes or encoded slashes. Paths below the base path are sent
 * byte for byte. Throws `bad_request` that names the path parameter, or `target`.
 */
export function checkProviderPath(endpoint: Endpoint): void {
  if (endpoint.proxyPath !== '') refuseAscent(endpoint.proxyPath, 'target');
  // An adapter may put an id anywhere in its path. An id that is a whole segment must not be `..`.
  for (const name in endpoint.pathParams) refuseAscent(endpoint.pathParams[name] as string, name);
}

function refuseAscent(path: string, param: string): void {
  if (!suspicious.test(path)) return;
  let depth = 0;
  for (const segment of path.split('/')) {
    const ups = upsIn(segment);
    // Some servers merge empty segments, and `.` is not a segment. Neither makes the path deeper.
    if (ups === 0 && segment !== '' && segment !== '.') depth += 1;
    depth -= ups;
    if (depth < 0) {
      throw new GatewayError('bad_request', {
        message: 'The path leaves the base path of the provider: it has more ".." segments than segments in front of them',
        param,
      });
    }
  }
}

/** Returns the number of `..` in one segment, in the decoding that has the most. */
function upsIn(segment: string): number {
  let most = 0;
  let text = segment;
  for (let i = 0; i <= decodingsMax; i++) {
    const ups = text.split(/[/\\]/).filter((part) => /^\.\.(?:;|$)/.test(part)).length;
    most = Math.max(most, ups);
    const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === text) break;
    text = decoded;
  }
  return most;
}
