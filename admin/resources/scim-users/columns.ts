import type { Columns } from '../../scim/filter-to-sql.ts';

const emails = `coalesce(u.directory->'emails', jsonb_build_array(jsonb_build_object('value', u.email, 'type', 'work', 'primary', true)))`;

/** Attributes of users that filters can name, on `users u`. */
export const userColumns: Columns = {
  id: { type: 'uuid', sql: 'u.id' },
  externalid: { type: 'exact-text', sql: 'u.external_id' },
  username: { type: 'address', sql: 'coalesce(u.user_name, u.email)' },
  'name.givenname': { type: 'text', sql: 'u.first_name' },
  'name.familyname': { type: 'text', sql: 'u.last_name' },
  'name.formatted': { type: 'text', sql: "(u.directory->>'formatted')" },
  displayname: { type: 'text', sql: "(u.directory->>'displayName')" },
  title: { type: 'text', sql: "(u.directory->>'title')" },
  // Entra ID asks for the manager by default. It is not stored, so no user has one.
  manager: { type: 'text', sql: 'null::text' },
  active: { type: 'boolean', sql: '(u.deactivated_at is null)' },
  emails: {
    type: 'list',
    any: (condition) => `exists (select 1 from jsonb_array_elements(${emails}) e where ${condition})`,
    members: {
      value: { type: 'address', sql: "(e->>'value')" },
      type: { type: 'text', sql: "(e->>'type')" },
      primary: { type: 'boolean', sql: "coalesce((e->>'primary')::boolean, false)" },
    },
  },
  roles: {
    type: 'list',
    any: (condition) => `exists (select 1 from (values (u.role)) r (role) where ${condition})`,
    members: { value: { type: 'text', sql: 'r.role' } },
  },
  groups: {
    type: 'list',
    any: (condition) =>
      `exists (select 1 from scim_group_members gm join scim_groups g on g.id = gm.group_id where gm.user_id = u.id and ${condition})`,
    members: { value: { type: 'uuid', sql: 'g.id' }, display: { type: 'text', sql: 'g.display_name' } },
  },
  'meta.created': { type: 'time', sql: 'u.created_at' },
  'meta.lastmodified': { type: 'time', sql: 'u.last_updated_at' },
};
