import type { EntityManager } from '../../db/open-database.ts';
import { versionOf } from '../../scim/reply.ts';
import { groupSchema } from '../../scim/urns.ts';
import type { ScimGroup } from './entity.ts';

/** Returns groups in their SCIM form, with members if they are wanted. `base` is the URL of `/scim/{organisationId}`. */
export async function toGroupResources(
  em: EntityManager,
  rows: readonly ScimGroup[],
  base: string,
  withMembers: boolean,
): Promise<Record<string, unknown>[]> {
  const [first] = rows;
  const members =
    withMembers && first
      ? await em.execute<{ group_id: string; user_id: string; display: string }[]>(
          `select m.group_id, m.user_id, coalesce(u.user_name, u.email) as display
           from scim_group_members m join users u on u.id = m.user_id
           where m.organisation_id = ? and m.group_id in (select jsonb_array_elements_text(?::jsonb)::uuid) order by m.user_id`,
          [first.organisationId, JSON.stringify(rows.map((row) => row.id))],
        )
      : [];
  const byGroup = new Map<string, { user_id: string; display: string }[]>(rows.map((row) => [row.id, []]));
  for (const one of members) byGroup.get(one.group_id)?.push(one);
  return rows.map((row) => ({
    schemas: [groupSchema],
    id: row.id,
    ...(row.externalId ? { externalId: row.externalId } : {}),
    displayName: row.displayName,
    ...(withMembers
      ? {
          members: (byGroup.get(row.id) ?? []).map(({ user_id: value, display }) => ({
            value,
            display,
            type: 'User',
            $ref: `${base}/Users/${value}`,
          })),
        }
      : {}),
    meta: {
      resourceType: 'Group',
      created: row.createdAt.toISOString(),
      lastModified: row.lastUpdatedAt.toISOString(),
      location: `${base}/Groups/${row.id}`,
      version: versionOf(row.revision),
    },
  }));
}
