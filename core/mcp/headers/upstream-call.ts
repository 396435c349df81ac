import type { RequestContext } from '../../contract/plugin/context.ts';
import type { UpstreamCall, UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { forwardedHeaders } from '../../json-rpc/headers.ts';
import type { ServerSettings } from '../server/server-settings.ts';

/** Headers of the protocol in both revisions. The session id is the gateway's own, so it is not among them. */
const protocolHeaders: readonly string[] = ['accept', 'content-type', 'mcp-protocol-version', 'last-event-id'];

export interface CallParts {
  readonly server: ServerSettings;
  /** Id of the session at the server; null if there is none. */
  readonly sessionId: string | null;
  /** Revision of a session of the gateway; null: the client states it. */
  readonly revision: string | null;
  readonly body: Uint8Array | null;
  /** Headers of the revision 2026-07-28 that repeat parts of the body. */
  readonly routing: HeaderList;
  readonly timeouts: UpstreamTimeouts;
  readonly prefixes: readonly string[];
}

/** Returns the headers of the client that may pass, and those of the settings, which replace them. */
export function configuredHeaders(ctx: RequestContext, server: ServerSettings, prefixes: readonly string[]): HeaderList {
  const headers: HeaderList = [];
  if (server.forwardHeaders !== null) {
    for (const [name, value] of forwardedHeaders(ctx, server, prefixes)) {
      if (!Object.hasOwn(server.headers, name)) headers.push(name, value);
    }
  }
  for (const [name, value] of Object.entries(server.headers)) headers.push(name, value);
  return headers;
}

/** Returns the call to the server with the client's headers that may pass. Settings of the server replace headers of the client. */
export function upstreamCall(ctx: RequestContext, parts: CallParts): UpstreamCall {
  const { server, sessionId, revision, body, routing, timeouts, prefixes } = parts;
  const headers = configuredHeaders(ctx, server, prefixes);
  // The stream of a session becomes a message at servers without sessions.
  const isMessageOfStream = ctx.request.method === 'GET' && body !== null;
  if (isMessageOfStream) headers.push('accept', 'application/json, text/event-stream', 'content-type', 'application/json');
  for (const name of protocolHeaders) {
    if (isMessageOfStream && name !== 'mcp-protocol-version') continue;
    const value = name === 'mcp-protocol-version' ? (revision ?? ctx.request.header(name)) : ctx.request.header(name);
    if (value !== undefined) headers.push(name, value);
  }
  headers.push(...routing);
  if (sessionId !== null) headers.push('mcp-session-id', sessionId);
  headers.push('user-agent', 'svc-gateway');
  return {
    tenant: server.document.workspaceId,
    origin: server.origin,
    path: server.path,
    method: isMessageOfStream ? 'POST' : ctx.request.method,
    headers,
    body,
    timeouts,
  };
}
