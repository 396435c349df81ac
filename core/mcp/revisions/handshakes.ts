import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import { offeredRevision } from '../local-replies/local-replies.ts';
import { statelessRevision } from '../sessions/own-client.ts';
import type { StatelessClient } from '../sessions/session-id.ts';
import { statelessResult } from './translated-reader.ts';

const serverInfoKey = 'io.modelcontextprotocol/serverInfo';
/** Maximum size of what a client states about itself in bytes of JSON: it is part of each session id. */
const clientBytesMax = 4_096;
/** Capabilities of a client for which servers with sessions ask it questions. */
const asked: readonly string[] = ['sampling', 'elicitation', 'roots', 'tasks'];

/** Returns what `initialize` states about a client, for the requests in its session. Throws RpcError -32602 if it is too long. */
export function clientOf({ params, id }: ClientMessage): StatelessClient {
  const { clientInfo, capabilities } = params;
  const client = {
    info: isObject(clientInfo) ? clientInfo : { name: 'unknown', version: '0' },
    capabilities: without(isObject(capabilities) ? capabilities : {}, ['tasks']),
  };
  if (JSON.stringify(client).length <= clientBytesMax) return client;
  const text = `params: clientInfo and capabilities may have ${clientBytesMax} bytes together`;
  throw new RpcError(rpcCodes.invalidParams, text, { id });
}

/** Members of `_meta` of each request that is sent for such a client. */
export function metaOf({ info, capabilities }: StatelessClient): JsonObject {
  return {
    'io.modelcontextprotocol/protocolVersion': statelessRevision,
    'io.modelcontextprotocol/clientInfo': info,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
}

/**
 * True for `server/discover` of a client that a server can ask in a session only. At a server with sessions it gets the refusal of the server, so
 * that clients of both revisions begin a session.
 */
export function prefersSession({ method, params }: ClientMessage): boolean {
  if (method !== 'server/discover' || !isObject(params._meta)) return false;
  const capabilities = params._meta['io.modelcontextprotocol/clientCapabilities'];
  return isObject(capabilities) && asked.some((name) => capabilities[name] !== undefined);
}

/** Returns the result of `initialize` from that of `server/discover`. Sessions cannot keep log levels and subscriptions of resources. */
export function initializeResult({ params }: ClientMessage, discovered: JsonObject, slug: string): JsonObject {
  const { instructions, _meta: meta } = discovered;
  const { resources, ...others } = without(objectOf(discovered.capabilities), ['logging', 'extensions']);
  const stated = isObject(meta) ? meta[serverInfoKey] : discovered.serverInfo;
  return {
    protocolVersion: offeredRevision(params.protocolVersion),
    capabilities: { ...others, ...(isObject(resources) ? { resources: without(resources, ['subscribe']) } : {}) },
    serverInfo: isObject(stated) ? stated : { name: slug, version: '0' },
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

/** Returns the result of `server/discover` from that of `initialize`. */
export function discoverResult(opened: JsonObject): JsonObject {
  const { capabilities, serverInfo, instructions } = opened;
  return statelessResult('server/discover', {
    supportedVersions: [statelessRevision],
    capabilities: without(objectOf(capabilities), ['logging', 'tasks']),
    ...(typeof instructions === 'string' ? { instructions } : {}),
    ...(isObject(serverInfo) ? { serverInfo, _meta: { [serverInfoKey]: serverInfo } } : {}),
  });
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function without(given: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)));
}
