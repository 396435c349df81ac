import { isUnforwardedHeader } from '../../values/http/connection-headers.ts';

/** Headers that the protocol sets. */
const protocolHeader = /^(accept|content-type|mcp-.*|last-event-id)$/;
/** Credentials and identities. */
const protectedHeader =
  /^(cookie|set-cookie|authorization|x-api-key|api-key|apikey|x-goog-api-key|ocp-apim-subscription-key|x-auth-token|x-access-token|x-user-claims|x-user-jwt)$/;
/** Headers about the connection of the client. */
const clientHeader = /^(accept-encoding|origin|referer|forwarded|x-forwarded-.*|x-real-ip)$/;

/** True for headers of a client that may be sent to an MCP server, and names under which they may be sent. In lower case. */
export function isForwardable(name: string): boolean {
  return !(isUnforwardedHeader(name) || protocolHeader.test(name) || protectedHeader.test(name) || clientHeader.test(name));
}

/** True for headers that an MCP integration may set: any but those of the protocol. */
export function isProtocolHeader(name: string): boolean {
  return protocolHeader.test(name);
}
