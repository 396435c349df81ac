import type { EntityManager } from '../../db/open-database.ts';
import { versionOf } from '../../scim/reply.ts';
import { userSchema } from '../../scim/urns.ts';
import type { User } from '../users/entity.ts';
import type { DirectoryUser } from './attributes.ts';

/** A user as SCIM shows it. */
export type UserResource = DirectoryUser & { readonly id: string; readonly [attribute: string]: unknown };

/**
 * Returns the attributes of a user that the directory has set. Users that it has not provisioned have their e-mail as `userName` and as the
 * address of type work. Entra ID changes `emails[type eq "work"].value`: without the type it would add a second address, and the first one
 * would stay that of the account.
 */
export function toDirectoryUser(row: User): DirectoryUser {
  const { directory, firstName, lastName, externalId, email } = row;
  const { formatted, displayName, title, emails = [{ value: email, type: 'work', primary: true }] } = directory ?? {};
  const name = {
    ...(formatted ? { formatted } : {}),
    ...(lastName ? { familyName: lastName } : {}),
    ...(firstName ? { givenName: firstName } : {}),
  };
  return {
    userName: row.userName ?? email,
    ...(externalId ? { externalId } : {}),
    ...(Object.keys(name).length > 0 ? { name } : {}),
    ...(displayName ? { displayName } : {}),
    ...(title ? { title } : {}),
    emails,
    active: !row.deactivatedAt,
  };
}

/** Returns users in their SCIM form, with their groups. `base` is the URL of `/scim/{organisationId}`. */
export async function toUserResources(em: EntityManager, rows: readonly User[], base: string): Promise<UserResource[]> {
  const [first] = rows;
  const groups = first
    ? await em.execute<{ user_id: string; id: string; display_name: string }[]>(
        `select m.user_id, g.id, g.display_name from scim_group_members m join scim_groups g on g.id = m.group_id
         where m.organisation_id = ? and m.user_id in (select jsonb_array_elements_text(?::jsonb)::uuid) order by g.display_name`,
        [first.organisationId, JSON.stringify(rows.map((row) => row.id))],
      )
    : [];
  return rows.map((row) => {
    const { emails, ...attributes } = toDirectoryUser(row);
    const own = groups.filter((group) => group.user_id === row.id);
    return {
      schemas: [userSchema],
      id: row.id,
      ...attributes,
      emails,
      roles: [{ value: row.role, primary: true }],
      groups: own.map(({ id, display_name: display }) => ({ value: id, display, type: 'direct', $ref: `${base}/Groups/${id}` })),
      meta: {
        resourceType: 'User',
        created: row.createdAt.toISOString(),
        lastModified: row.lastUpdatedAt.toISOString(),
        location: `${base}/Users/${row.id}`,
        version: versionOf(row.revision),
      },
    };
  });
}
