import type { Endpoint } from '../../contract/plugin/requests/endpoint.ts';
import { passedTraffic } from '../../contract/plugin/requests/passed-traffic.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';

/** Nearly all paths lack these characters and need no further check. */
const suspicious = /(?:^|[/\\]|%2f|%5c)\.|%(?:2[5e]|2d|3\d|[46][1-9a-f]|[57][\da]|5f)/i;

/** Maximum number of times that a provider or a proxy in front of it may decode a path. */
const decodingsMax = 3;

/**
 * Rejects a path with a dot segment: `.` or `..`, percent-encoded up to three times, with a path parameter (`..;x`), or between backslashes or
 * encoded slashes. A server on the way may resolve it, and the path would leave the base path of the provider or reach another operation than
 * the one whose models and usage are checked. Of a pass-through path, letters and digits that are percent-encoded are rejected too, and `-` and `_`
 * in the name of a deferred operation: a provider reads them as the characters, so that the name would have spellings that no check knows. Other
 * paths are sent byte for byte. Throws `bad_request` that names the path parameter, or `target`.
 */
export function checkProviderPath(endpoint: Endpoint): void {
  if (endpoint.proxyPath !== '') refuseSpellings(endpoint.proxyPath, 'target', endpoint);
  // An adapter may put an id anywhere in its path.
  for (const name in endpoint.pathParams) refuseSpellings(endpoint.pathParams[name] as string, name, null);
}

/** `passed`: the endpoint of a pass-through path; null for an id. */
function refuseSpellings(path: string, param: string, passed: Endpoint | null): void {
  if (!suspicious.test(path)) return;
  let text = path;
  for (let i = 0; i <= decodingsMax; i++) {
    if (dotSegment.test(text)) {
      throw new GatewayError('bad_request', {
        message: `${param}: "." and ".." segments of a path are not sent to providers`,
        param,
      });
    }
    const spelled = passed === null ? null : (encodedWord.exec(text)?.[0] ?? markInName(text, passed));
    if (spelled !== null) {
      const plain = decodeURIComponent(spelled);
      throw new GatewayError('bad_request', { message: `${param}: ${spelled} in the path: send ${plain} instead`, param });
    }
    const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === text) return;
    text = decoded;
  }
}

/** Returns the first `-` or `_` that is encoded in the name of a deferred operation; null if there is none. Clients in Rust encode those of ids. */
function markInName(text: string, { traffic }: Endpoint): string | null {
  const mark = encodedMark.exec(text)?.[0];
  if (mark === undefined || traffic === 'deferred') return null;
  const plain = text.replace(/%2d/gi, '-').replace(/%5f/gi, '_');
  return passedTraffic('POST', plain) === 'deferred' ? mark : null;
}

/** Letters and digits, which no client encodes. */
const encodedWord = /%(?:3\d|[46][1-9a-f]|[57][\da])/i;
const encodedMark = /%(?:2d|5f)/i;
const dotSegment = /(?:^|[/\\])\.{1,2}(?:[/\\;]|$)/;
