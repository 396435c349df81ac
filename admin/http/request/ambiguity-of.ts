import type { IncomingMessage } from 'node:http';

/** Headers that servers in front may read differently if they are repeated: Node takes the first `host` and `authorization`. */
const single = /^(?:host|authorization|(?:.+-)?api-key)$/;
const plainTarget = /^\/[\x21\x22\x24-\x5b\x5d-\x7e]*$/;
const dotSegment = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

/**
 * Returns why the meaning of a request depends on the server that reads it: a repeated host or credential, or a path that URL parsers
 * change; null for all others. Node refuses ambiguous lengths and characters itself. Gateways refuse all of it.
 */
export function ambiguityOf({ rawHeaders, url = '' }: Pick<IncomingMessage, 'rawHeaders' | 'url'>): string | null {
  if (!plainTarget.test(url)) return 'target: a path without a fragment and backslashes is expected';
  if (dotSegment.test(url)) return 'target: segments such as . and .. are not allowed';
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (!single.test(name)) continue;
    if (seen.has(name)) return `${name}: the header is repeated`;
    seen.add(name);
  }
  return null;
}
