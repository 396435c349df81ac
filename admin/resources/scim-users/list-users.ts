import type { EntityManager } from '../../db/open-database.ts';
import type { RawReply } from '../../http/reply/raw-reply.ts';
import { parseFilter } from '../../scim/filter.ts';
import { filterToSql, sortColumn } from '../../scim/filter-to-sql.ts';
import type { ListQuery } from '../../scim/list-query.ts';
import { listReply } from '../../scim/reply.ts';
import { selectAttributes } from '../../scim/select-attributes.ts';
import { userSchema } from '../../scim/urns.ts';
import { users, withDeactivated } from '../users/entity.ts';
import { userColumns } from './columns.ts';
import { toUserResources } from './to-resource.ts';

/** A page of the users of the organisation, active or not. */
export async function listDirectoryUsers(
  em: EntityManager,
  organisationId: string,
  query: ListQuery,
  base: string,
): Promise<RawReply> {
  const where =
    query.filter === undefined ? { sql: 'true', values: [] } : filterToSql(parseFilter(query.filter), userColumns, userSchema);
  const direction = query.sortOrder === 'descending' ? 'desc' : 'asc';
  const order =
    query.sortBy === undefined ? '' : `${sortColumn(query.sortBy, userColumns, userSchema)} ${direction} nulls last, `;
  const from = `from users u where u.organisation_id = ? and ${where.sql}`;
  const values = [organisationId, ...where.values];
  const [{ total }] = await em.execute<[{ total: number }]>(`select count(*)::int as total ${from}`, values);
  const found =
    query.count === 0
      ? []
      : await em.execute<{ id: string }[]>(`select u.id ${from} order by ${order}u.created_at, u.id limit ? offset ?`, [
          ...values,
          query.count,
          query.startIndex - 1,
        ]);
  const ids = found.map((row) => row.id);
  const rows = await em.find(users, { organisationId, id: { $in: ids } }, { ...withDeactivated, populate: ['directory'] });
  const ordered = ids.flatMap((id) => rows.find((row) => row.id === id) ?? []);
  const resources = await toUserResources(em, ordered, base);
  return listReply(
    resources.map((one) => selectAttributes(one, query, userSchema)),
    total,
    query.startIndex,
  );
}
