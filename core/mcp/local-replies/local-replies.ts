import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import { notCached } from '../revisions/translated-reader.ts';
import { statelessRevision } from '../sessions/own-client.ts';

/** The first revision is offered to clients that request an unsupported one. */
const revisions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** Description of a server that is implemented by the gateway, for the reply to `initialize`. */
export interface LocalServer {
  readonly name: string;
  readonly title: string;
  readonly instructions: string | null;
  readonly hasPrompts?: boolean;
  readonly hasResources?: boolean;
  /** True: it sends notices of changed lists. */
  readonly hasNotices?: boolean;
}

const promptMethods: readonly unknown[] = ['prompts/list', 'prompts/get', 'completion/complete'];
const resourceMethods: readonly unknown[] = [
  ...['resources/list', 'resources/templates/list', 'resources/read', 'completion/complete'],
];

/**
 * Returns the reply to a message that the gateway sends for a server without sessions; null for messages about what it offers.
 * Throws RpcError -32601 for all other requests.
 */
export function handshakeReply(
  { name, title, instructions, hasPrompts = false, hasResources = false, hasNotices = false }: LocalServer,
  message: ClientMessage,
): AttemptReply | null {
  const { method, kind, id, params } = message;
  if (kind !== 'request') return emptyReply(202);
  const list = hasNotices ? { listChanged: true } : {};
  const facts = {
    capabilities: {
      tools: list,
      ...(hasPrompts ? { prompts: list } : {}),
      ...(hasResources ? { resources: list } : {}),
      ...(hasPrompts || hasResources ? { completions: {} } : {}),
    },
    serverInfo: { name, title, version: '1' },
    ...(instructions === null ? {} : { instructions }),
  };
  switch (method) {
    case 'initialize': {
      return resultReply(message, { protocolVersion: offeredRevision(params.protocolVersion), ...facts });
    }
    case 'server/discover':
      return resultReply(message, { supportedVersions: [statelessRevision], ...facts, ...notCached });
    case 'ping':
      return resultReply(message, {});
    case 'tools/list':
    case 'tools/call':
      return null;
    default:
      if (hasPrompts && promptMethods.includes(method)) return null;
      if (hasResources && resourceMethods.includes(method)) return null;
      if (hasNotices && method === 'subscriptions/listen') return null;
      throw new RpcError(rpcCodes.methodNotFound, `Method not found: ${String(method).slice(0, 100)}`, { id, status: 200 });
  }
}

/** Returns the revision of a session with a client that asks for this one. */
export function offeredRevision(asked: unknown): string {
  return revisions.includes(String(asked)) ? String(asked) : (revisions[0] as string);
}

/** The reply to `tools/list`. `meta` becomes `_meta`; null: none. */
export function listReply(message: ClientMessage, tools: readonly JsonObject[], meta: JsonObject | null): AttemptReply {
  return itemsReply(message, 'tools', tools, meta);
}

/** The reply to a list with these items in `member`. */
export function itemsReply(
  message: ClientMessage,
  member: string,
  items: readonly JsonObject[],
  meta: JsonObject | null,
): AttemptReply {
  return resultReply(message, { [member]: items, ...(meta === null ? {} : { _meta: meta }), ...notCached });
}

/** The reply to `tools/call` with one text. */
export function textReply(message: ClientMessage, text: string): AttemptReply {
  return resultReply(message, { content: [{ type: 'text', text }] });
}

/** The reply with a result. */
export function resultReply({ id, params }: ClientMessage, result: JsonObject): Extract<AttemptReply, { kind: 'replaced' }> {
  // In some results, clients of earlier revisions refuse unknown members.
  const isStateless = isObject(params._meta) && params._meta['io.modelcontextprotocol/protocolVersion'] !== undefined;
  const sent = isStateless ? { ...result, resultType: 'complete' } : result;
  const body = JSON.stringify({ jsonrpc: '2.0', id, result: sent });
  return { kind: 'replaced', reply: { status: 200, headers: ['content-type', 'application/json'], body } };
}

/** Returns a reply without a body, such as 202 to a notice. */
export function emptyReply(status: number): AttemptReply {
  return { kind: 'replaced', reply: { status, headers: [], body: '' } };
}
