import type { EntityManager } from '../../db/open-database.ts';
import { versionOf } from '../../scim/reply.ts';
import { wants } from '../../scim/select-attributes.ts';
import { groupSchema } from '../../scim/urns.ts';
import type { ScimGroup } from './entity.ts';

interface Member {
  readonly group_id: string;
  readonly user_id: string;
  readonly display?: string;
}

/** Attributes that a request selects. */
type Selection = Parameters<typeof wants>[1];

/**
 * Returns groups in their SCIM form, with the attributes that are wanted. `base` is the URL of `/scim/{organisationId}`. Members have
 * their names only if `attributes` contains `members.display`: a group may have thousands.
 */
export async function toGroupResources(
  em: EntityManager,
  rows: readonly ScimGroup[],
  base: string,
  selection: Selection,
): Promise<Record<string, unknown>[]> {
  const [first] = rows;
  const withMembers = wants('members', selection, groupSchema);
  const withNames = withMembers && wants('members.display', { attributes: selection.attributes ?? '' }, groupSchema);
  const members =
    withMembers && first
      ? await em.execute<Member[]>(
          `select m.group_id, m.user_id ${withNames ? ', coalesce(u.user_name, u.email) as display' : ''}
           from scim_group_members m ${withNames ? 'join users u on u.id = m.user_id' : ''}
           where m.organisation_id = ? and m.group_id in (select jsonb_array_elements_text(?::jsonb)::uuid) order by m.user_id`,
          [first.organisationId, JSON.stringify(rows.map((row) => row.id))],
        )
      : [];
  const byGroup = new Map<string, Member[]>(rows.map((row) => [row.id, []]));
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
            ...(display === undefined ? {} : { display }),
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
