import type { McpServerDocument } from '../contract/protocol/mcp.ts';
import type { GatewayError } from '../contract/values/errors.ts';
import type { Called } from '../json-rpc/attempt.ts';

/** `detail` of the error if the server rejected the credential. */
export const rejectedDetail = 'status 401';

/** `detail` of the error if a session of a client has ended. */
export const noSessionDetail = 'no session';

/** `detail` of the error if the server did not handle a message, because its connection was lost before. It can be sent again. */
export const lostDetail = 'connection lost';

/** Names the server instead of a provider in errors of the transport. */
export function nameServer(error: GatewayError): GatewayError {
  return error.message.includes('provider') ? error.renamed(error.message.replace('provider', 'MCP server'), error.param) : error;
}

/** Returns the server as the counterpart of a call. */
export function calledServer(document: McpServerDocument): Called {
  return { kind: 'mcp', label: 'MCP server', document, named: nameServer };
}
