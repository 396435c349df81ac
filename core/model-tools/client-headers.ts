import { isHopByHop } from '../contract/values/http/connection-headers.ts';
import type { HeaderList, InboundRequest } from '../contract/values/http/http.ts';
import { readGatewayHeaders } from '../pipeline/request/gateway-headers.ts';
import { traceIdOf } from '../pipeline/request/trace-id.ts';

/** The entry of `x-svc-beta` that asks for tools of MCP servers, with any date. */
const asksForTools = /^server-side-mcp(-\d{4}-\d{2}-\d{2})?$/;

/** Headers of one body or one exchange. */
const ofOneBody: ReadonlySet<string> = new Set([
  ...['accept', 'content-encoding', 'content-length', 'content-type', 'expect'],
  ...['last-event-id', 'mcp-protocol-version', 'mcp-session-id'],
]);

/** True if a header of the request asks for tools of MCP servers. */
export function asksForServers(request: InboundRequest, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => entriesOf(request.header(`${prefix}beta`)).some((entry) => asksForTools.test(entry)));
}

/** Returns the headers of each request that the gateway makes for a client: its credentials and settings, and one trace id. */
export function clientHeaders(request: InboundRequest, prefixes: readonly string[], id: string): HeaderList {
  const { values, prefix } = readGatewayHeaders(request.headers, prefixes);
  const headers: HeaderList = [];
  for (let i = 0; i < request.headers.length; i += 2) {
    const name = request.headers[i] as string;
    const isReplaced = prefixes.some((one) => name === `${one}beta` || name === `${one}trace-id`);
    if (!isReplaced && !isHopByHop(name) && !ofOneBody.has(name)) headers.push(name, request.headers[i + 1] as string);
  }
  const others = entriesOf(values.get('beta')).filter((entry) => !asksForTools.test(entry));
  if (others.length > 0) headers.push(`${prefix}beta`, others.join(', '));
  headers.push(`${prefix}trace-id`, values.get('trace-id') ?? traceIdOf(values, request, id));
  return headers;
}

function entriesOf(header: string | undefined): string[] {
  return header === undefined ? [] : header.split(',').map((entry) => entry.trim());
}
