import { LRUCache } from 'lru-cache';
import { isUuid } from '../../core/contract/values/text/uuid.ts';
import type { Database } from '../db/open-database.ts';

/** Milliseconds until a renamed key is counted under its new name. */
const knownMs = 60_000;

/** Returns a reader of the names of API keys by their id. At most `namesMax` names are in memory. Keys that were deleted have none. */
export function keyNames(
  database: Pick<Database, 'em'>,
  namesMax: number,
): (ids: readonly string[]) => Promise<ReadonlyMap<string, string>> {
  const known = new LRUCache<string, string>({ max: namesMax, ttl: knownMs });
  return async (ids) => {
    const unique = [...new Set(ids)];
    const found = new Map(unique.map((id) => [id, known.get(id)] as const).filter(hasName));
    const unknown = unique.filter((id) => !found.has(id) && isUuid(id));
    if (unknown.length === 0) return found;
    const marks = unknown.map(() => '?').join(', ');
    const rows = await database
      .em()
      .execute<{ id: string; name: string }[]>(`select id, name from api_keys where id in (${marks})`, unknown);
    for (const { id, name } of rows) {
      known.set(id, name);
      found.set(id, name);
    }
    return found;
  };
}

function hasName(entry: readonly [string, string | undefined]): entry is readonly [string, string] {
  return entry[1] !== undefined;
}
