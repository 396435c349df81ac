import type { Endpoint } from '../../contract/plugin/requests/endpoint.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';

/** Nearly all paths lack these characters and need no further check. */
const suspicious = /(?:^|[/\\]|%2f|%5c)\.|%2e|%25/i;

/** Maximum number of times that a provider or a proxy in front of it may decode a path. */
const decodingsMax = 3;

/**
 * Rejects a path with a dot segment: `.` or `..`, percent-encoded up to three times, with a path parameter (`..;x`), or between backslashes or
 * encoded slashes. A server on the way may resolve it, and the path would leave the base path of the provider or reach another operation than
 * the one whose models and usage are checked. Other paths are sent byte for byte. Throws `bad_request` that names the path parameter, or
 * `target`.
 */
export function checkProviderPath(endpoint: Endpoint): void {
  if (endpoint.proxyPath !== '') refuseDotSegments(endpoint.proxyPath, 'target');
  // An adapter may put an id anywhere in its path.
  for (const name in endpoint.pathParams) refuseDotSegments(endpoint.pathParams[name] as string, name);
}

function refuseDotSegments(path: string, param: string): void {
  if (!suspicious.test(path)) return;
  let text = path;
  for (let i = 0; i <= decodingsMax; i++) {
    if (dotSegment.test(text)) {
      throw new GatewayError('bad_request', {
        message: `${param}: "." and ".." segments of a path are not sent to providers`,
        param,
      });
    }
    const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === text) return;
    text = decoded;
  }
}

const dotSegment = /(?:^|[/\\])\.{1,2}(?:[/\\;]|$)/;
