import { GatewayError } from '../../contract/values/errors/errors.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';
import { isEventStream } from '../../contract/values/text/event-text.ts';
import type { ExchangeStream } from '../../pipeline/attempt/exchange-stream.ts';

/** Headers of a server that clients of the protocol read. */
export const passedNames: readonly string[] = ['content-type', 'mcp-protocol-version', 'retry-after', 'allow'];

/** Throws for a reply to a request that is neither JSON nor an event stream, such as the page of a login, or that accepts it without a message. */
export function requireMessages(status: number, headers: HeaderList, stream: ExchangeStream): void {
  if (status > 299 || (status === 200 && (isJson(headers) || isEventStream(findHeader(headers, 'content-type'))))) return;
  stream.abort();
  const type = findHeader(headers, 'content-type');
  const given = status === 200 ? (type?.slice(0, 100) ?? 'no content type') : `status ${status}`;
  const message = `The MCP server replied with ${given}. A reply has status 200 and is application/json or text/event-stream`;
  throw new GatewayError('upstream_invalid', { message });
}

/** True if a reply with these headers is JSON. */
export function isJson(headers: HeaderList): boolean {
  return /\bjson\b/i.test(findHeader(headers, 'content-type') ?? '');
}
