import type { EntityManager } from '../../db/open-database.ts';
import type { RawReply } from '../../http/reply/raw-reply.ts';
import { parseFilter } from '../../scim/filter.ts';
import { filterToSql, sortColumn } from '../../scim/filter-to-sql.ts';
import type { ListQuery } from '../../scim/list-query.ts';
import { listReply } from '../../scim/reply.ts';
import { selectAttributes, wants } from '../../scim/select-attributes.ts';
import { groupSchema } from '../../scim/urns.ts';
import { groupColumns } from './columns.ts';
import { scimGroups } from './entity.ts';
import { toGroupResources } from './to-resource.ts';

/** Maximum number of members of one page. A page ends earlier than `count` if its groups have more. */
const membersOfPageMax = 10_000;

/** A page of the groups of the organisation. */
export async function listGroups(em: EntityManager, organisationId: string, query: ListQuery, base: string): Promise<RawReply> {
  const where =
    query.filter === undefined ? { sql: 'true', values: [] } : filterToSql(parseFilter(query.filter), groupColumns, groupSchema);
  const direction = query.sortOrder === 'descending' ? 'desc' : 'asc';
  const order =
    query.sortBy === undefined ? '' : `${sortColumn(query.sortBy, groupColumns, groupSchema)} ${direction} nulls last, `;
  const from = `from scim_groups g where g.organisation_id = ? and ${where.sql}`;
  const values = [organisationId, ...where.values];
  const [{ total }] = await em.execute<[{ total: number }]>(`select count(*)::int as total ${from}`, values);
  const withMembers = wants('members', query, groupSchema);
  const size = withMembers ? '(select count(*)::int from scim_group_members m where m.group_id = g.id)' : '0';
  const found =
    query.count === 0
      ? []
      : await em.execute<{ id: string; size: number }[]>(
          `select g.id, ${size} as size ${from} order by ${order}g.created_at, g.id limit ? offset ?`,
          [...values, query.count, query.startIndex - 1],
        );
  const ids: string[] = [];
  let members = 0;
  for (const { id, size } of found) {
    members += size;
    if (members > membersOfPageMax && ids.length > 0) break;
    ids.push(id);
  }
  const rows = await em.find(scimGroups, { organisationId, id: { $in: ids } });
  const ordered = ids.flatMap((id) => rows.find((row) => row.id === id) ?? []);
  const resources = await toGroupResources(em, ordered, base, query);
  return listReply(
    resources.map((one) => selectAttributes(one, query, groupSchema)),
    total,
    query.startIndex,
  );
}
