import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '../../db/open-database.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type ApiKey, apiKeys } from './entity.ts';
import { whereState } from './key-state.ts';
import type { whereReachable } from './reach.ts';
import type { ListQuery } from './schema.ts';

/**
 * Returns one page of keys, newest first, and their total number. The page is found in an index before any row is read, so that
 * late pages of a million keys stay fast. `after` needs no counting.
 */
export async function listKeys(em: EntityManager, reach: Reach, query: ListQuery): Promise<{ total: number; rows: ApiKey[] }> {
  const filters: FilterQuery<ApiKey>[] = [
    reach,
    query.ids === undefined ? {} : { id: { $in: query.ids.split(',') } },
    query.user_id === undefined ? {} : { userId: query.user_id },
    query.type === undefined ? {} : { type: query.type },
    searchIn(query.search, 'name'),
    query.status === undefined ? {} : whereState(query.status.split(','), new Date()),
  ];
  const total = await em.count(apiKeys, { $and: filters });
  const orderBy = { createdAt: 'desc', id: 'asc' } as const;
  const page =
    query.after === undefined ? { where: [], ...pageOf(query) } : await pageAfter(em, reach, query.after, query.page_size);
  if (page === null) return { total, rows: [] };
  const { where, limit, offset } = page;
  const found = await em.find(
    apiKeys,
    { $and: [...filters, ...where] },
    { fields: ['id', 'createdAt'], limit, offset, orderBy, disableIdentityMap: true },
  );
  const rows = await em.find(
    apiKeys,
    { organisationId: reach.organisationId, id: { $in: found.map((row) => row.id) } },
    { orderBy },
  );
  return { total, rows };
}

type Reach = ReturnType<typeof whereReachable>;

/** Returns the filter for the rows after a key. Null if the key does not exist. */
async function pageAfter(em: EntityManager, reach: Reach, id: string, limit: number) {
  const last = await em.findOne(apiKeys, { $and: [reach, { id }] });
  if (!last) return null;
  const { createdAt } = last;
  // The first condition is a coarser form of the second; the index scan can start at it.
  const where: FilterQuery<ApiKey>[] = [
    { createdAt: { $lte: createdAt } },
    { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, id: { $gt: last.id } }] },
  ];
  return { where, limit, offset: 0 };
}
