import type { IncomingMessage } from 'node:http';
import { AdminError } from '../errors.ts';

/** Maximum bytes of path and query together, as on gateways. */
const targetBytesMax = 8_192;
/** Maximum number of headers: 98 as on gateways, and those that a gateway adds to a request that it forwards. */
const headersMax = 98 + 6;

/** Returns the error (414 or 431) of a request whose target is too long or that has too many headers; null for all others. */
export function excessOf({ rawHeaders, url = '' }: Pick<IncomingMessage, 'rawHeaders' | 'url'>): AdminError | null {
  if (url.length > targetBytesMax) return new AdminError('AB01', `target: at most ${targetBytesMax} bytes`, null, 414);
  if (rawHeaders.length > headersMax * 2) return new AdminError('AB01', 'headers: at most 98 are expected', null, 431);
  return null;
}
