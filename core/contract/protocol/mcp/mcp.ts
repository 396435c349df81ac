import * as v from 'valibot';
import { accessList } from '../access-list.ts';
import { mappedSecretDocument } from '../credentials/secret-reference.ts';
import { restApi } from './mcp-rest.ts';

/**
 * How the gateway authenticates to the server: not at all, with fixed headers, with an OAuth token of the user, or with the OAuth token of
 * a client of its own.
 */
export const mcpAuthTypes = ['none', 'headers', 'oauth_auto', 'oauth_client_credentials'] as const;
export type McpAuthType = (typeof mcpAuthTypes)[number];

/**
 * `http`: Streamable HTTP. `sse`: HTTP+SSE of the revision 2024-11-05. `http-sse`, `sse-http`: the one of both that the server has.
 * `rest`: a REST API whose operations are tools.
 */
export const mcpTransports = ['http', 'sse', 'http-sse', 'sse-http', 'rest'] as const;
export type McpTransport = (typeof mcpTransports)[number];

export const capabilityTypes = ['tool', 'prompt', 'resource', 'resource_template'] as const;
export type CapabilityType = (typeof capabilityTypes)[number];

/**
 * Headers of the client that are sent to the server. `allowlist`: these, under the name `to`. `all-except`: all others. Names are in
 * lower case.
 */
export const forwardHeaders = v.object({
  mode: v.picklist(['allowlist', 'all-except']),
  headers: v.array(v.object({ from: v.string(), to: v.string() })),
});
export type ForwardHeaders = v.InferOutput<typeof forwardHeaders>;

/** Names of disabled capabilities, by either level of flags. */
const disabled = v.object({
  tool: v.array(v.string()),
  prompt: v.array(v.string()),
  resource: v.array(v.string()),
  resource_template: v.array(v.string()),
});

/** Form in which the server receives the identity of the caller. */
export const identityMethods = ['claims_header', 'bearer', 'jwt_header'] as const;

const identityForwarding = v.object({
  method: v.picklist(identityMethods),
  /** Names of claims; null: the usual ones. */
  claims: v.nullable(v.array(v.string())),
  /** In lower case. */
  header: v.string(),
  /** Lifetime of a JWT. */
  expirySeconds: v.number(),
});
export type IdentityForwarding = v.InferOutput<typeof identityForwarding>;

/** Conditions of the circuit of a server, as `BreakerSettings`. */
export const circuit = v.object({
  failureThreshold: v.nullable(v.number()),
  failurePercent: v.nullable(v.number()),
  requestsMin: v.number(),
  cooldownMs: v.number(),
  statusCodes: v.nullable(v.array(v.number())),
});

/** A saved guardrail that runs on calls of tools. */
const toolGuardrail = v.object({
  id: v.string(),
  /** True: it checks arguments. */
  input: v.boolean(),
  /** True: it checks results. */
  output: v.boolean(),
  /** Names of the tools; null: all. */
  tools: v.nullable(v.array(v.string())),
});

/** An MCP server of a workspace, merged with its integration. */
export const mcpServerDocument = v.object({
  id: v.string(),
  slug: v.string(),
  organisationId: v.string(),
  workspaceId: v.string(),
  integrationId: v.string(),
  url: v.string(),
  transport: v.picklist(mcpTransports),
  authType: v.picklist(mcpAuthTypes),
  /** JSON of the headers of every call (`{"<name>": "<value>"}`), sealed with the transport key, aad `mcp-server/<id>`. */
  headers: v.nullable(v.string()),
  /** Headers of every call that are read from secret managers; absent: none. */
  mappedSecrets: v.optional(v.array(mappedSecretDocument)),
  forwardHeaders: v.nullable(forwardHeaders),
  /** Only these tools can be used; null: all. */
  toolsAllowed: v.nullable(v.array(v.string())),
  disabled,
  /** URIs of enabled resources that can be read although a disabled template fits them; absent: none. */
  listedResources: v.optional(v.array(v.string())),
  /** Hashes of the approved tools by name (`toolHash`). All other tools are quarantined. Null: tools need no approval. */
  pins: v.optional(v.nullable(v.record(v.string(), v.string())), null),
  /** Milliseconds to the head of a reply, and of silence within it; absent or null: those of the deployment. */
  timeoutMs: v.optional(v.nullable(v.number())),
  /** Absent or null: the server has no circuit. */
  circuit: v.optional(v.nullable(circuit)),
  /** Absent or null: nothing about the caller is sent. */
  identity: v.optional(v.nullable(identityForwarding)),
  /**
   * JSON of `externalTokenRules`, sealed with the transport key, aad `mcp-server/<id>/tokens`. Callers need such a token in addition to
   * their credential. Absent or null: they need none.
   */
  externalTokens: v.optional(v.nullable(v.string())),
  /** Operations of a REST API; null for MCP servers. */
  rest: v.optional(v.nullable(restApi), null),
  /** Guardrails of this server and of its integration; absent: none. */
  guardrails: v.optional(v.array(toolGuardrail)),
  /** True: clients see `search_tools` and `call_tool` instead of all tools. */
  toolSearch: v.optional(v.boolean(), false),
  access: accessList,
});
export type McpServerDocument = v.InferOutput<typeof mcpServerDocument>;
