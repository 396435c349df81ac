import { LRUCache } from 'lru-cache';
import type { McpServerDocument, McpTransport } from '../../contract/protocol/mcp/mcp.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import { discover, type OwnClientParts } from '../sessions/own-client.ts';
import { openSse } from '../sse/sse-connection.ts';
import { rejectionIn } from './server-errors.ts';
import type { ServerSettings } from './server-settings.ts';

/** A server is asked again after this time. */
const lifeMs = 600_000;
const serversMax = 10_000;
/** Milliseconds for one question. */
const questionMs = 5_000;
/** Statuses with which servers of HTTP+SSE reply to a POST. */
const refusals: readonly number[] = [400, 404, 405];

type Found = 'http' | 'sse';

/** The transports of servers whose integration names two of them in an order. */
export interface Transports {
  /** Returns the settings with the one transport that the server has. */
  settle(server: ServerSettings): Promise<ServerSettings>;
}

/** `partsOf` returns the client of the gateway for a server. */
export function createTransports(partsOf: (server: ServerSettings) => OwnClientParts, clock: Clock): Transports {
  const known = new LRUCache<string, Found, ServerSettings>({
    max: serversMax,
    ttl: lifeMs,
    perf: { now: clock.elapsed },
    ttlResolution: 0,
    fetchMethod: async (_, __, { context }) => (await findTransport(partsOf(context))) ?? undefined,
  });
  return {
    async settle(server) {
      const { transport, id } = server.document;
      if (!isOrder(transport)) return server;
      const found = await known.fetch(`${id} ${server.fingerprint}`, { context: server });
      return { ...server, document: settled(server.document, found ?? firstOf(transport)) };
    },
  };
}

/** True for a transport that leaves the choice to the server. */
export function isOrder(transport: McpTransport): boolean {
  return transport === 'http-sse' || transport === 'sse-http';
}

/** Asks a server which transport it has, in the order of its integration. Null if it does not show. */
export async function findTransport(given: OwnClientParts): Promise<Found | null> {
  const timeouts = { ...given.timeouts, firstByteMs: questionMs, idleMs: questionMs, totalMs: questionMs };
  const parts = { ...given, timeouts };
  try {
    if (parts.server.document.transport === 'sse-http') return (await hasSse(parts)) ? 'sse' : 'http';
    let status = 0;
    const onStatus = (one: number): void => {
      status = one;
    };
    await discover({ ...parts, onStatus });
    if (status === 401 || status === 403) return null;
    return refusals.includes(status) && (await hasSse(parts)) ? 'sse' : 'http';
  } catch (thrown) {
    if (thrown instanceof GatewayError) return null;
    throw thrown;
  }
}

/** The transport to use if the server does not show which one it has: its error then reaches the client. */
export function firstOf(transport: McpTransport): Found {
  return transport.startsWith('sse') ? 'sse' : 'http';
}

/** Returns true for a server that opens a stream and names its endpoint. Throws GatewayError if it rejects the credential. */
async function hasSse(parts: OwnClientParts): Promise<boolean> {
  try {
    (await openSse(parts)).end();
    return true;
  } catch (thrown) {
    if (thrown instanceof GatewayError && rejectionIn(thrown) === null) return false;
    throw thrown;
  }
}

const documents = new WeakMap<McpServerDocument, Partial<Record<Found, McpServerDocument>>>();

/** The document with this transport. It is the same object each time, because caches use documents as keys. */
function settled(document: McpServerDocument, transport: Found): McpServerDocument {
  const known = documents.get(document) ?? {};
  documents.set(document, known);
  known[transport] ??= { ...document, transport };
  return known[transport];
}
