import * as v from 'valibot';
import type { Identity } from '../../contract/plugin/context.ts';
import type { DocumentReader } from '../../contract/plugin/plugin.ts';
import { type InternalFetch, internalPaths } from '../../contract/protocol/internal-api.ts';
import type { McpServerDocument } from '../../contract/protocol/mcp/mcp.ts';
import {
  isFresh,
  type McpConnectionDocument,
  type McpTokenQuestion,
  type McpTokenReply,
  mcpConnectionId,
  mcpTokenMs,
  mcpTokenReply,
} from '../../contract/protocol/mcp/mcp-connection.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import { RpcError, type RpcId, rpcCodes } from '../../json-rpc/messages.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import type { Rejection } from './token-rejection.ts';

/** Settings of a server with the credential of one caller. */
interface Authorised {
  readonly server: ServerSettings;
  /** Identifies the token; null if the server needs none. */
  readonly tokenId: string | null;
}

interface RejectedToken extends Rejection {
  readonly id: string;
}

/** OAuth tokens for MCP servers. The token of one user is never used for another. */
export interface UpstreamTokens {
  /**
   * Returns the settings of the document with the caller's token. A previous token in `server` is replaced. `rejected` is a token that the
   * server has just rejected. `id` is that of the message, for errors. Throws RpcError -32000 `oauth_required` if the user must connect an account, and GatewayError `upstream_status`
   * if the authorisation server fails.
   */
  authorise(server: ServerSettings, identity: Identity, id: RpcId | null, rejected: RejectedToken | null): Promise<Authorised>;
}

export interface TokenParts {
  readonly documents: DocumentReader;
  readonly fetch: InternalFetch;
  readonly clock: Clock;
  /** Returns the plain token of a document. */
  openToken(document: McpConnectionDocument): string;
}

/** The control plane's own time limit is shorter. */
const questionMs = mcpTokenMs + 1_000;

/** True if the server is called with a token of the caller or of the gateway. */
export function needsToken({ authType }: McpServerDocument): boolean {
  return authType === 'oauth_auto' || authType === 'oauth_client_credentials';
}

/** Reads tokens from documents, and asks the control plane for those that are missing, have ended or were rejected. */
export function createUpstreamTokens({ documents, fetch, clock, openToken }: TokenParts): UpstreamTokens {
  const prepared = new WeakMap<McpConnectionDocument, Authorised & { readonly base: ServerSettings }>();
  const running = new Map<string, Promise<McpTokenReply>>();

  return {
    async authorise(server, identity, id, rejected) {
      const { authType } = server.document;
      if (!needsToken(server.document)) return { server, tokenId: null };
      const userId = authType === 'oauth_auto' ? identity.userId : null;
      if (authType === 'oauth_auto' && userId === null) throw withoutUser(id);
      if (userId !== null && server.externalClaims !== null) throw withOtherPerson(id);
      const serverId = server.document.id;
      // The document does not contain the scopes of its token. Only the control plane can choose one for demanded scopes.
      const isAnyScope = rejected === null || rejected.scope === null || rejected.isInvalid;
      const known = isAnyScope ? await documents.get('mcp-connection', mcpConnectionId(serverId, userId)) : null;
      if (known && known.tokenId !== rejected?.id && isFresh(known, clock.now())) return withToken(server, known, userId);
      const { id: tokenId = null, scope = null, isInvalid = false } = rejected ?? {};
      const reply = await ask({ serverId, userId, rejected: tokenId, scope, isInvalid });
      if (reply.state === 'connected') return withToken(server, reply.document, userId);
      if (reply.state === 'required') throw notConnected(server, id, reply.url, scope);
      throw new GatewayError('upstream_status', { message: `No token for the MCP server: ${reply.message}`, status: 502 });
    },
  };

  function withToken(server: ServerSettings, document: McpConnectionDocument, userId: string | null): Authorised {
    if (document.serverId !== server.document.id || document.userId !== userId) throw new GatewayError('internal');
    const known = prepared.get(document);
    // Settings differ between requests if they hold the identity of the caller.
    if (known?.base === server) return known;
    const headers = { ...server.headers, authorization: `Bearer ${openToken(document)}` };
    // Sessions continue with a renewed token, and end with the connection.
    const fingerprint = `${server.fingerprint.split('.', 1)[0]}.${document.id}`;
    const authorised = { server: { ...server, headers, fingerprint }, tokenId: document.tokenId, base: server };
    prepared.set(document, authorised);
    return authorised;
  }

  /** Concurrent questions about one token share a call. */
  function ask(question: McpTokenQuestion): Promise<McpTokenReply> {
    const name = JSON.stringify(question);
    const known = running.get(name);
    if (known) return known;
    const asked = askControlPlane(fetch, question).finally(() => running.delete(name));
    running.set(name, asked);
    return asked;
  }
}

async function askControlPlane(fetch: InternalFetch, question: McpTokenQuestion): Promise<McpTokenReply> {
  const { status, body } = await fetch('POST', internalPaths.mcpTokens, Buffer.from(JSON.stringify(question)), questionMs);
  const parsed = status === 200 ? v.safeParse(mcpTokenReply, JSON.parse(textOf(body))) : null;
  if (parsed?.success) return parsed.output;
  throw new GatewayError('unavailable', {
    message: 'No token for the MCP server: the control plane did not reply',
    retryAfterMs: 1_000,
  });
}

function withoutUser(id: RpcId | null): RpcError {
  const text = 'This MCP server needs the account of a user. Send an API key or a token that belongs to a user';
  return new RpcError(rpcCodes.notAcceptable, text, { status: id === null ? 403 : 200, id });
}

/** The user of the key may differ from the subject of an external token. An account is never used for another person. */
function withOtherPerson(id: RpcId | null): RpcError {
  const text =
    'This MCP server needs the account of a user, and jwt_validation may name another person. An administrator must remove one of them';
  return new RpcError(rpcCodes.notAcceptable, text, { status: id === null ? 403 : 200, id });
}

/** A request with an id gets status 200, because clients read errors of the protocol only there. */
function notConnected({ document }: ServerSettings, id: RpcId | null, authorizationUrl: string, scope: string | null): RpcError {
  const { slug: server } = document;
  const text =
    scope === null
      ? `Connect your account at the MCP server ${server} first: ${authorizationUrl}`
      : `The MCP server ${server} needs further permissions (${scope}). Authorise them first: ${authorizationUrl}`;
  const data = { type: 'oauth_required', authorizationUrl, server, ...(scope === null ? {} : { scope }) };
  return new RpcError(rpcCodes.notAcceptable, text, { status: id === null ? 403 : 200, id, data });
}
