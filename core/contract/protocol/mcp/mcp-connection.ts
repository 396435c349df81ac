import * as v from 'valibot';

/** The access token for an MCP server with OAuth: of one user, or of all callers if the integration has client credentials. */
export const mcpConnectionDocument = v.object({
  id: v.string(),
  organisationId: v.string(),
  workspaceId: v.string(),
  serverId: v.string(),
  /** Null: the token of all callers. */
  userId: v.nullable(v.string()),
  /** Changes with every token. */
  tokenId: v.string(),
  /** The access token, sealed with the transport key and `mcpTokenContext`. */
  token: v.string(),
  /** ISO time, or null if the authorisation server stated none. */
  expiresAt: v.nullable(v.string()),
  /** ISO time at which the token was issued; absent in documents of earlier versions. */
  issuedAt: v.optional(v.string()),
});
export type McpConnectionDocument = v.InferOutput<typeof mcpConnectionDocument>;

/** Returns the additional data that a sealed token is bound to. */
export function mcpTokenContext({ id, tokenId }: Pick<McpConnectionDocument, 'id' | 'tokenId'>): string {
  return `mcp-connection/${id}/${tokenId}`;
}

/** Returns the id of the document: `<server id>/<user id>`, or `<server id>/shared`. */
export function mcpConnectionId(serverId: string, userId: string | null): string {
  return `${serverId}/${userId ?? 'shared'}`;
}

/** A token is not used in its last seconds, because calls take time and clocks differ. */
const mcpTokenMarginMs = 20_000;
/** The share of its lifetime in which a token of a short lifetime is not used. Otherwise every call would refresh it. */
const marginShareMax = 0.2;

/** True if a token can still be used. */
export function isFresh({ expiresAt, issuedAt }: Pick<McpConnectionDocument, 'expiresAt' | 'issuedAt'>, nowMs: number): boolean {
  if (expiresAt === null) return true;
  const endsAtMs = Date.parse(expiresAt);
  const lifetimeMs = issuedAt === undefined ? Number.POSITIVE_INFINITY : endsAtMs - Date.parse(issuedAt);
  return endsAtMs - Math.min(mcpTokenMarginMs, lifetimeMs * marginShareMax) > nowMs;
}

/** A gateway asks for a token that is not in memory or was rejected: `POST /internal/v1/mcp-tokens`, reply 200 `mcpTokenReply`. */
export const mcpTokenQuestion = v.object({
  serverId: v.pipe(v.string(), v.uuid()),
  userId: v.nullable(v.pipe(v.string(), v.uuid())),
  /** `tokenId` of a token that the server rejected; null otherwise. */
  rejected: v.nullable(v.pipe(v.string(), v.uuid())),
  /** Scopes that the server demanded, separated by spaces. */
  scope: v.optional(
    v.nullable(v.pipe(v.string(), v.maxLength(1_024), v.regex(/^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/))),
    null,
  ),
  /** True if the server demanded them with 401, so that the token may just have ended. False: with 403 `insufficient_scope`. */
  isInvalid: v.optional(v.boolean(), false),
});
export type McpTokenQuestion = v.InferInput<typeof mcpTokenQuestion>;

/** Milliseconds within which the control plane replies. A refresh takes one exchange with the authorisation server. */
export const mcpTokenMs = 10_000;

export const mcpTokenReply = v.variant('state', [
  v.object({ state: v.literal('connected'), document: mcpConnectionDocument }),
  /** The user must connect an account at this address. */
  v.object({ state: v.literal('required'), url: v.string() }),
  /** The authorisation server failed or rejected the client. */
  v.object({ state: v.literal('failed'), message: v.string() }),
]);
export type McpTokenReply = v.InferOutput<typeof mcpTokenReply>;
