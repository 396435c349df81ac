import { capabilitiesMax } from '../contract/protocol/mcp-sync.ts';
import { isObject, type JsonObject } from '../contract/values/json.ts';
import { lists } from './capabilities.ts';
import { type OwnClientParts, type OwnSession, request } from './own-client.ts';

/** Returns all items of a list of a server, page by page, up to `capabilitiesMax`. Throws GatewayError `upstream_…`. */
export async function listItems(parts: OwnClientParts, session: OwnSession, method: keyof typeof lists): Promise<JsonObject[]> {
  const member = lists[method]?.member ?? '';
  const all: JsonObject[] = [];
  let cursor: unknown;
  do {
    const result = await request(parts, session, method, cursor === undefined ? {} : { cursor });
    const items = result[member];
    if (Array.isArray(items)) for (const item of items) if (isObject(item)) all.push(item);
    cursor = typeof result.nextCursor === 'string' && result.nextCursor !== cursor ? result.nextCursor : undefined;
  } while (cursor !== undefined && all.length < capabilitiesMax);
  return all.slice(0, capabilitiesMax);
}
