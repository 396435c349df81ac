import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../contract/values/json/json.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import { messageText } from '../server/message-text.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import type { OwnSessions } from '../sessions/own-sessions.ts';
import { readItems } from './list-items.ts';

/** A list is read again after this time. A changed tool can be called for at most this long after its approval is void. */
const lifeMs = 30_000;
/** Maximum size of all lists together in bytes of JSON. */
const bytesMax = 64 * 1024 * 1024;

/** The tools that a server lists to the gateway on behalf of a caller. Flags and pins are not applied. */
export interface ToolList {
  readonly tools: readonly JsonObject[];
  readonly byName: ReadonlyMap<string, JsonObject>;
}

/** Lists of tools that the gateway reads itself: one per server and caller, because servers may list other tools to other callers. */
export interface ToolLists {
  /** Throws GatewayError `upstream_…` if the server cannot be asked. */
  get(server: ServerSettings, caller: string): Promise<ToolList>;
}

interface Question {
  readonly server: ServerSettings;
  readonly caller: string;
}

/** `seen` receives each list that was read. */
export function createToolLists(
  sessions: OwnSessions,
  clock: Clock,
  seen: (server: ServerSettings, list: ToolList) => void,
): ToolLists {
  const known = new LRUCache<string, { readonly list: ToolList; readonly bytes: number }, Question>({
    maxSize: bytesMax,
    sizeCalculation: ({ bytes }) => bytes,
    ttl: lifeMs,
    perf: { now: clock.elapsed },
    ttlResolution: 0,
    async fetchMethod(_, __, { context: { server, caller } }) {
      const tools = server.rest?.tools ?? (await readItems(sessions, server, caller, 'tools/list'));
      const list = { tools, byName: new Map(tools.map((tool) => [String(tool.name), tool])) };
      seen(server, list);
      return { list, bytes: messageText(tools).length };
    },
  });
  const keyOf = (server: ServerSettings, caller: string) =>
    `${server.document.id} ${server.fingerprint} ${server.changesSeen()} ${caller}`;

  return {
    async get(server, caller) {
      const found = await known.forceFetch(keyOf(server, caller), { context: { server, caller } });
      return found.list;
    },
  };
}
