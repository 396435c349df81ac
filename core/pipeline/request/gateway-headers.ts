import type { HeaderList } from '../../contract/values/http/http.ts';

/** Headers of the service itself, by name without prefix, and the prefix the client used. */
export interface GatewayHeaders {
  readonly values: ReadonlyMap<string, string>;
  readonly prefix: string;
}

/**
 * Returns the service's own headers of a request. All accepted prefixes have the same meaning. The first one seen is used on the
 * reply, so that a client of another gateway finds the names it expects.
 */
export function readGatewayHeaders(headers: HeaderList, prefixes: readonly string[]): GatewayHeaders {
  const values = new Map<string, string>();
  let prefix = prefixes[0] as string;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    for (const candidate of prefixes) {
      if (!name.startsWith(candidate)) continue;
      const key = name.slice(candidate.length);
      if (!values.has(key)) {
        if (values.size === 0) prefix = candidate;
        values.set(key, headers[i + 1] as string);
      }
      break;
    }
  }
  return { values, prefix };
}

/** True for a header of the service itself. Such headers are never sent upstream. */
export function isGatewayHeader(name: string, prefixes: readonly string[]): boolean {
  if (name === 'x-auth-organisation-details') return true;
  for (const prefix of prefixes) if (name.startsWith(prefix)) return true;
  return false;
}
