import type { HeaderList } from '../../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { type ClientMessage, nameOf } from '../../json-rpc/messages.ts';
import { encoded, repeatsName } from '../headers/routing-headers.ts';
import { ownMeta, statelessRevision } from './own-client.ts';

/** Members of `_meta` that a revision without sessions requires. They belong to one of the two connections. */
const protocolMember = /^io\.modelcontextprotocol\//;

/**
 * Returns the bytes of a message that the gateway sends in a session of its own, in the revision of that session. `client` states who
 * sends it, in the revision without sessions.
 */
export function routedBody({ id, method, params }: ClientMessage, revision: string, client: JsonObject = ownMeta): Uint8Array {
  const meta = withoutProtocolMembers(params._meta);
  const { _meta: _, ...rest } = params;
  const all = revision >= statelessRevision ? { ...meta, ...client } : meta;
  const sent = Object.keys(all).length === 0 ? rest : { ...rest, _meta: all };
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...(id === null ? {} : { id }), method, params: sent }));
}

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
/** Capabilities for which a server of the revision without sessions asks its client for input. */
const asked: readonly string[] = ['elicitation', 'sampling', 'roots'];

/**
 * Returns the members of `_meta` that state the gateway as the client, with the questions that the client of this message can be asked: a
 * server asks with a result, and the client sends its request again with the replies.
 */
export function metaOfClient({ params: { _meta: meta } }: ClientMessage): JsonObject {
  const stated = isObject(meta) ? meta[capabilitiesKey] : null;
  if (!isObject(stated)) return ownMeta;
  return { ...ownMeta, [capabilitiesKey]: Object.fromEntries(Object.entries(stated).filter(([name]) => asked.includes(name))) };
}

/** The headers that repeat parts of the body, in revisions that have them. */
export function routingHeaders(message: ClientMessage, revision: string): HeaderList {
  if (revision < statelessRevision) return [];
  const { method } = message;
  const name = repeatsName(method) ? nameOf(message) : null;
  if (name === null) return ['mcp-method', String(method)];
  return ['mcp-method', String(method), 'mcp-name', encoded(name)];
}

/** Returns a message that calls another tool with other arguments. Everything else of it stays. */
export function toolCall(message: ClientMessage, name: string, sent: JsonObject): ClientMessage {
  return { ...message, params: { ...message.params, name, arguments: sent } };
}

function withoutProtocolMembers(meta: unknown): JsonObject {
  if (!isObject(meta)) return {};
  return Object.fromEntries(Object.entries(meta).filter(([name]) => !protocolMember.test(name)));
}
