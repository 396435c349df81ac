import { isObject, type JsonObject } from '../contract/values/json.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../json-rpc/messages.ts';
import type { AttemptReply } from '../pipeline/attempt-reply.ts';
import { statelessRevision } from './own-client.ts';

/** The first one is offered to clients that ask for another. */
const revisions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** How a server that the gateway itself is introduces itself. */
export interface LocalServer {
  readonly name: string;
  readonly title: string;
  readonly instructions: string | null;
}

/**
 * Returns the reply to a message that a server without sessions, prompts and resources answers alone; null for messages about tools.
 * Throws RpcError -32601 for all other requests.
 */
export function handshakeReply({ name, title, instructions }: LocalServer, message: ClientMessage): AttemptReply | null {
  const { method, kind, id, params } = message;
  if (kind !== 'request') return { kind: 'replaced', reply: { status: 202, headers: [], body: '' } };
  const facts = {
    capabilities: { tools: {} },
    serverInfo: { name, title, version: '1' },
    ...(instructions === null ? {} : { instructions }),
  };
  switch (method) {
    case 'initialize': {
      const asked = String(params.protocolVersion);
      return resultReply(message, { protocolVersion: revisions.includes(asked) ? asked : revisions[0], ...facts });
    }
    case 'server/discover':
      return resultReply(message, { supportedVersions: [statelessRevision], ...facts, ...notCached });
    case 'ping':
      return resultReply(message, {});
    case 'tools/list':
    case 'tools/call':
      return null;
    default:
      throw new RpcError(rpcCodes.methodNotFound, `Method not found: ${String(method).slice(0, 100)}`, { id, status: 200 });
  }
}

/** Lists depend on the caller, so they must not be cached for others. */
const notCached = { ttlMs: 0, cacheScope: 'private' } as const;

/** The reply to `tools/list`. `meta` becomes `_meta`; null: none. */
export function listReply(message: ClientMessage, tools: readonly JsonObject[], meta: JsonObject | null): AttemptReply {
  return resultReply(message, { tools, ...(meta === null ? {} : { _meta: meta }), ...notCached });
}

/** The reply to `tools/call` with one text. */
export function textReply(message: ClientMessage, text: string): AttemptReply {
  return resultReply(message, { content: [{ type: 'text', text }] });
}

/** The reply with a result. */
export function resultReply({ id, params }: ClientMessage, result: JsonObject): Extract<AttemptReply, { kind: 'replaced' }> {
  // Clients of earlier revisions refuse members that they do not know in some results.
  const isStateless = isObject(params._meta) && params._meta['io.modelcontextprotocol/protocolVersion'] !== undefined;
  const sent = isStateless ? { ...result, resultType: 'complete' } : result;
  const body = JSON.stringify({ jsonrpc: '2.0', id, result: sent });
  return { kind: 'replaced', reply: { status: 200, headers: ['content-type', 'application/json'], body } };
}
