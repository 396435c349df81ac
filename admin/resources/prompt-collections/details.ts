import type { EntityManager } from '../../db/open-database.ts';

/** Content of a collection, without that of the collections in it. Times are ISO 8601; null when there is nothing. */
export interface CollectionDetails {
  readonly child_collections_count: number;
  readonly prompts_count: number;
  readonly child_collections_last_updated_at: string | null;
  readonly prompts_last_updated_at: string | null;
}

/** Returns the details of each of these collections, by id. */
export async function detailsOf(
  em: EntityManager,
  organisationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CollectionDetails>> {
  const found = new Map<string, CollectionDetails>(ids.map((id) => [id, none]));
  if (ids.length === 0) return found;
  const count = (table: string, column: string) =>
    `select ${column} as id, count(*)::int as number, max(last_updated_at) as newest from ${table}
     where organisation_id = ? and status = 'active' and ${column} in (${ids.map(() => '?').join(', ')}) group by ${column}`;
  const query = (table: string, column: string) =>
    em.execute<{ id: string; number: number; newest: Date | string }[]>(count(table, column), [organisationId, ...ids]);
  for (const { id, number, newest } of await query('prompt_collections', 'parent_collection_id')) {
    found.set(id, { ...none, child_collections_count: number, child_collections_last_updated_at: iso(newest) });
  }
  for (const { id, number, newest } of await query('prompts', 'collection_id')) {
    found.set(id, { ...(found.get(id) ?? none), prompts_count: number, prompts_last_updated_at: iso(newest) });
  }
  return found;
}

const none: CollectionDetails = {
  child_collections_count: 0,
  prompts_count: 0,
  child_collections_last_updated_at: null,
  prompts_last_updated_at: null,
};

function iso(time: Date | string): string {
  return new Date(time).toISOString();
}
