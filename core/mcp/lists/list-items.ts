import { capabilitiesMax } from '../../contract/protocol/mcp/mcp-sync.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { messageText } from '../server/message-text.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import { isRefused, type OwnClientParts, type OwnSession, request, UnknownMethod } from '../sessions/own-client.ts';
import type { OwnSessions } from '../sessions/own-sessions.ts';
import { lists } from './capabilities.ts';

/** Pages of one list, and their length as JSON. A server could name further pages without end. */
const pagesMax = 200;
const listLengthMax = 16 * 1024 * 1024;

/**
 * Returns all items of a list of a server, page by page, up to `capabilitiesMax`, `pagesMax` and `listLengthMax`. A cursor that comes twice
 * ends the list. Throws GatewayError `upstream_…`.
 */
export async function listItems(parts: OwnClientParts, session: OwnSession, method: keyof typeof lists): Promise<JsonObject[]> {
  const member = lists[method]?.member ?? '';
  const all: JsonObject[] = [];
  const cursors = new Set<unknown>();
  let cursor: unknown;
  let length = 0;
  do {
    const result = await request(parts, session, method, cursor === undefined ? {} : { cursor }).catch(emptyIfUnknown);
    const items = result[member];
    if (Array.isArray(items)) for (const item of items) if (isObject(item)) all.push(item);
    cursor = result.nextCursor;
    if (typeof cursor !== 'string' || cursor === '' || cursors.has(cursor)) break;
    cursors.add(cursor);
    length += messageText(result).length;
  } while (all.length < capabilitiesMax && cursors.size < pagesMax && length < listLengthMax);
  return all.slice(0, capabilitiesMax);
}

/** Many servers announce resources and have no method for their templates. */
function emptyIfUnknown(thrown: unknown): JsonObject {
  if (thrown instanceof UnknownMethod) return {};
  throw thrown;
}

/**
 * Returns all items of a list in the session of a caller; none if the server does not offer them. The session may have ended meanwhile, so a
 * failure is retried once in a new one.
 */
export async function readItems(
  sessions: OwnSessions,
  server: ServerSettings,
  caller: string,
  method: keyof typeof lists,
): Promise<JsonObject[]> {
  const own = await sessions.get(server, caller);
  const offered = own.opened.capabilities;
  // Some servers list tools that they do not announce.
  if (method !== 'tools/list' && !(isObject(offered) && offered[method.split('/', 1)[0] as string] !== undefined)) return [];
  try {
    return await sessions.call(server, (parts) => listItems(parts, own, method));
  } catch (thrown) {
    if (own.sessionId === null && !isRefused(thrown)) throw thrown;
    sessions.drop(server, caller, own);
    const again = await sessions.get(server, caller);
    return sessions.call(server, (parts) => listItems(parts, again, method));
  }
}
