import * as v from 'valibot';

const text = v.pipe(v.string(), v.maxLength(2_048));

/** The MCP part of a record: one per HTTP request to an MCP server. */
export const mcpRecord = v.object({
  serverId: v.string(),
  /** Slug of the server. */
  server: v.string(),
  /** Null for requests that a virtual server serves itself. */
  integrationId: v.nullable(v.string()),
  /** `http`: Streamable HTTP, `sse`: HTTP+SSE. `virtual`: the gateway itself. */
  transport: v.string(),
  /** Method of the message; null for streams, replies of clients, and messages that cannot be read. */
  method: v.nullable(text),
  /** Name of the tool or prompt, or URI of the resource; null if the method has none. */
  name: v.nullable(text),
  /** Revision of the protocol that the client stated; null if it stated none. */
  revision: v.nullable(text),
  /** Credential of the caller. */
  callerAuth: v.picklist(['api_key', 'jwt', 'oauth']),
  /** Authentication to the server. */
  upstreamAuth: v.string(),
  /** JSON-RPC code of an error reply; null for results and for replies that were not read. */
  errorCode: v.nullable(v.number()),
  /** True if the tool reported that it failed. */
  isToolError: v.boolean(),
  /** True if the server rejected a credential, and the call was sent again with another. Absent in older records. */
  isCredentialRenewed: v.optional(v.boolean(), false),
  /** The virtual server, or the server with tool search, that the client called, and the name of the tool there; null: this server. */
  via: v.optional(v.nullable(v.object({ serverId: v.string(), server: v.string(), name: text })), null),
});
export type McpRecord = v.InferOutput<typeof mcpRecord>;

/** The MCP call of a request. The endpoint's handler sets the fields step by step. */
export interface McpCall extends McpRecord {
  /** Id of the JSON-RPC request; null for notifications and streams. */
  id: string | number | null;
  /** Bytes of the message that calls a tool. */
  messageLength: number;
  /** Characters of the messages of the reply. */
  replyLength: number;
}
