import type { IncomingHttpHeaders } from 'node:http';
import { isConnectionHeader, isHopByHop } from '../contract/values/http/connection-headers.ts';
import type { HeaderList } from '../contract/values/http/http.ts';

/**
 * Returns the list without the headers that end at this hop: the fixed ones (RFC 9110 §7.6.1), those that `Connection` names, and
 * for requests those that the transport writes itself (host and framing). Names must be lower-case. Returns the same list if
 * there is nothing to remove, which is the common case.
 */
export function withoutHopByHop(headers: HeaderList): HeaderList {
  for (let i = 0; i < headers.length; i += 2) {
    if (isConnectionHeader(headers[i] as string)) return filtered(headers);
  }
  return headers;
}

/**
 * Returns a reply's parsed headers as a flat list, without hop-by-hop headers. Repeated headers stay repeated, in their order.
 */
export function toReplyHeaders(headers: IncomingHttpHeaders): HeaderList {
  const list: HeaderList = [];
  const named = namedBy(headers.connection);
  for (const name in headers) {
    if (isHopByHop(name) || named?.has(name)) continue;
    const value = headers[name] as string | string[];
    if (typeof value === 'string') list.push(name, value);
    else for (const one of value) list.push(name, one);
  }
  return list;
}

function filtered(headers: HeaderList): HeaderList {
  const connection: string[] = [];
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'connection') connection.push(headers[i + 1] as string);
  const named = namedBy(connection);
  const list: HeaderList = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (!isConnectionHeader(name) && !named?.has(name)) list.push(name, headers[i + 1] as string);
  }
  return list;
}

/** Returns the header names in a `Connection` value. Null if it names no others than those that are removed anyway. */
function namedBy(connection: string | readonly string[] | undefined): Set<string> | null {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return null;
  const text = typeof connection === 'string' ? connection : connection.join(',');
  return new Set(text.split(',').map((name) => name.trim().toLowerCase()));
}
