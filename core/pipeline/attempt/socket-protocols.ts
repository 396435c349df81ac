import { holdsApiKey } from '../../contract/values/credentials/api-key.ts';
import type { InboundRequest } from '../../contract/values/http/http.ts';

/**
 * Converts the keys of clients that cannot set headers to headers. A subprotocol with a key of this service becomes the gateway's header, with
 * any other key Authorization. A key of this service in the address (`key` of Google's SDKs, `api-key` of Azure's) becomes the
 * gateway's header. A header of the client takes precedence. Keys of this service are not sent upstream, see `socketCall` and `passedQuery`.
 */
export function adoptHandshakeKeys(request: InboundRequest, prefix: string): void {
  const hasOwn = (): boolean => request.headers.some((value, index) => index % 2 === 1 && holdsApiKey(value));
  for (const protocol of request.webSocketProtocols ?? []) {
    if (!protocol.startsWith(keyProtocol)) continue;
    const key = protocol.slice(keyProtocol.length);
    if (holdsApiKey(key) && hasOwn()) continue;
    const name = holdsApiKey(key) ? `${prefix}api-key` : 'authorization';
    if (request.header(name) === undefined) request.headers.push(name, name === 'authorization' ? `Bearer ${key}` : key);
  }
  const own = `${prefix}api-key`;
  if (!request.query.includes('key=') || request.header(own) !== undefined || hasOwn()) return;
  const query = new URLSearchParams(request.query);
  const key = keyParams.map((name) => query.get(name) ?? '').find(holdsApiKey);
  if (key !== undefined) request.headers.push(own, key);
}

/** Returns the client's subprotocols without keys, and without accounts if the credential is stored. */
export function passedProtocols(protocols: readonly string[], stored: boolean): string[] {
  return protocols.filter((protocol) => {
    if (protocol.startsWith(keyProtocol) || holdsApiKey(protocol)) return false;
    return !(stored && accountProtocols.some((prefix) => protocol.startsWith(prefix)));
  });
}

/** Returns the subprotocol for the client: the provider's choice, otherwise the first offered one that holds no secret. */
export function chosenProtocol(offered: readonly string[], chosen: string | null): string | null {
  if (chosen !== null && offered.includes(chosen)) return chosen;
  return offered.find((protocol) => !protocol.startsWith(keyProtocol) && !holdsApiKey(protocol)) ?? null;
}

/**
 * Subprotocol with which browsers, which cannot set headers, send a key
 * (https://platform.openai.com/docs/guides/realtime-websocket).
 */
const keyProtocol = 'openai-insecure-api-key.';
const keyParams = ['key', 'api-key'] as const;
/** Prefixes of subprotocols that name the billed account. Only the owner of the credential may choose it. */
const accountProtocols = ['openai-organization.', 'openai-project.'];
